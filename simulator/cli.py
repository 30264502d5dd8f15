"""What a person types: `collsim run`, `check`, `explain`, `compare`, `diff`, `report`, `sweep`, and more.

Exit codes: 0 fine, 1 an expectation or a proof failed, 2 the input is wrong, 130 interrupted.
What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from simulator.commands.loaded import Loaded
from simulator.commands.sections import SECTIONS, VARIABLE, Sections
from simulator.commands.shared import FAILED, INTERRUPTED, WRONG

# collsim does no dense linear algebra: starting BLAS's threads would cost more than a small run
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# older versions of click print the help by themselves
_NO_ARGUMENTS: tuple[type[click.ClickException], ...] = tuple(
    filter(None, [getattr(click.exceptions, "NoArgsIsHelpError", None)])
)


@click.group(
    cls=Sections,
    commands=Loaded({name: f"simulator.commands.{name}" for names in SECTIONS.values() for name in names}),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="collsim", prog_name="collsim")
def cli() -> None:
    """Simulate collective communication: exact, proven on data, compared with the bounds.

    A first run: collsim run library:first-walk/ring-reduce-scatter-8. A scenario of your own: collsim new.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="replace")
    if VARIABLE in os.environ:
        # how bash asks for words is collsim's own
        import_module("simulator.commands.completion")
    try:
        cli.main(
            args=None if arguments is None else list(arguments), prog_name="collsim", standalone_mode=False
        )
        sys.stdout.flush()
    except _NO_ARGUMENTS as error:
        # the help is many lines
        _end(error.format_message(), error.exit_code)
    except click.ClickException as error:
        # click lists the words of an argument in lines
        _end(f"collsim: {' '.join(error.format_message().split())}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted", INTERRUPTED)
    except MemoryError:
        _end("collsim: this does not fit memory", WRONG)
    except BrokenPipeError:
        # the reader has gone; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        _end(f"collsim: cannot write: {error.strerror}", WRONG)
    except Exception as error:
        from algorithms.errors import ProofError
        from topologies.errors import CollsimError

        # imported here only: `--help` should not load the whole house
        if not isinstance(error, CollsimError):
            raise
        _end(str(error), FAILED if isinstance(error, ProofError) else WRONG)


def _end(message: str, code: int) -> None:
    click.echo(message, err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
