"""What a person types: `collsim run`, `check`, `explain`, `compare`, `diff`, `report`, `sweep`, and more.

Exit codes: 0 fine, 1 an expectation or a proof failed, 2 the input is wrong, 130 interrupted.
What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from simulator.commands.algorithms import algorithms
from simulator.commands.check import check
from simulator.commands.compare import compare
from simulator.commands.completion import completion
from simulator.commands.convert import convert
from simulator.commands.diff import diff
from simulator.commands.doctor import doctor
from simulator.commands.explain import explain
from simulator.commands.library import library
from simulator.commands.llm import llm
from simulator.commands.llm_experts import experts
from simulator.commands.llm_search import search
from simulator.commands.llm_serve import serve
from simulator.commands.llm_step import step
from simulator.commands.new import new
from simulator.commands.plot import plot
from simulator.commands.report import report
from simulator.commands.run import run
from simulator.commands.schema import schema
from simulator.commands.sections import Sections
from simulator.commands.shared import FAILED, INTERRUPTED, WRONG
from simulator.commands.sweep import sweep
from simulator.commands.topology import topology

# collsim does no dense linear algebra: starting BLAS's threads would cost more than a small run
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="collsim", prog_name="collsim")
def cli() -> None:
    """Simulate collective communication: exact, proven on data, compared with the bounds."""


for command in (run, check, explain, compare, diff, report, sweep, plot, topology, algorithms, llm):
    cli.add_command(command)
for command in (library, new, convert, schema, completion, doctor):
    cli.add_command(command)
llm.add_command(step)
llm.add_command(serve)
llm.add_command(search)
llm.add_command(experts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="replace")
    try:
        cli.main(
            args=None if arguments is None else list(arguments), prog_name="collsim", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        _end(f"collsim: {error.format_message()}", error.exit_code)
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
