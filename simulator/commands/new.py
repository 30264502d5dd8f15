"""`collsim new`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from simulator.commands.complete import names_of
from simulator.commands.library import library
from simulator.commands.shared import known, say_written

if TYPE_CHECKING:
    from simulator.scenario.new import Wish

MOST_RANKS: Final = 1 << 20

KINDS: Final = ("collective", "together", "plan", "sweep")


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--kind", type=click.Choice(KINDS), help="One collective (default), several, a plan, or a sweep."
)
@click.option(
    "--topology", metavar="NAME", shell_complete=names_of("topology"), help="A kind of topology, or a preset."
)
@click.option("--collective", metavar="NAME", shell_complete=names_of("collective"), help="What is computed.")
@click.option(
    "--algorithm",
    metavar="NAME",
    shell_complete=names_of("algorithm"),
    help="How; by default what suits the topology.",
)
@click.option("--ranks", type=click.IntRange(1, MOST_RANKS), metavar="N", help="How many ranks.")
@click.option("--size", metavar="M", help='The full vector, as "1 MiB".')
@click.option(
    "--model", metavar="NAME", shell_complete=names_of("model"), help="Of a plan: the preset of a model."
)
@click.option(
    "--hardware",
    metavar="NAME",
    shell_complete=names_of("hardware"),
    help="Of a plan: that of an accelerator.",
)
@click.option(
    "--from",
    "origin",
    metavar="LIBRARY",
    shell_complete=names_of("library"),
    help="Copy a scenario of the library.",
)
@click.option("--list", "listed", is_flag=True, help="List the library, as `collsim library` does.")
@click.option(
    "--schema",
    "with_schema",
    is_flag=True,
    help="Write the editors' schema beside it, if none is there or above.",
)
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.pass_context
def new(
    context: click.Context, /, file: Path | None, listed: bool, with_schema: bool, force: bool, **asked: Any
) -> None:
    """Write a scenario to begin with.

    It runs, and says what each key means. On a terminal, what no option says is asked; elsewhere, and with
    --yes, it is what is usual. Without FILE the scenario is printed.
    """
    from simulator.scenario.output import check_new

    if listed:
        context.invoke(library)
        return
    if with_schema and file is None:
        raise click.UsageError("--schema needs FILE, beside which the schema is written")
    if file is not None:
        check_new(file, force=force)
    origin, yes = asked.pop("origin"), asked.pop("yes")
    if origin is not None:
        _refuse_beside_origin(asked)
        text = _copied(origin)
    else:
        from simulator.scenario.new import new_scenario

        kind, wish = _answers(asked, yes=yes or not _is_asked())
        text = new_scenario(kind, wish)
    if file is None:
        click.echo(text, nl=False)
    else:
        _write(file, text, with_schema=with_schema)


def _is_asked() -> bool:
    return sys.stdin.isatty()


def _answers(asked: dict[str, Any], *, yes: bool) -> tuple[str, Wish]:
    """The kind of file and the rest: what was said, what is answered, or what is usual."""
    from algorithms.collective import COLLECTIVES
    from algorithms.registry import able
    from simulator.scenario.new import Wish, fitting, usual_ranks
    from simulator.scenario.parts import part_names
    from simulator.scenario.presets import preset_names
    from topologies.registry import TOPOLOGIES

    def answer(name: str, usual: str, words: Sequence[str] = (), what: str = "") -> str:
        said: str | None = asked[name]
        if said is None:
            return usual if yes else _ask(name, usual, words)
        if words:
            known(said, dict.fromkeys(words), what or name)
        return said

    kind = answer("kind", "collective", KINDS)
    is_plan = kind == "plan"
    wish = Wish(
        topology=answer(
            "topology",
            "dgx-h100" if is_plan else "ring",
            (*TOPOLOGIES, *preset_names()),
            "topology or preset",
        )
    )
    if is_plan:
        model = answer("model", wish.model, part_names("model"))
        wish = replace(wish, model=model, hardware=answer("hardware", wish.hardware, part_names("hardware")))
    else:
        wish = replace(wish, collective=answer("collective", wish.collective, COLLECTIVES))
        usual = fitting(wish.collective, wish.topology)
        wish = replace(
            wish,
            algorithm=answer("algorithm", usual, able(wish.collective), f"algorithm of {wish.collective}"),
        )
    wish = replace(wish, ranks=_count(asked["ranks"], usual_ranks(wish), yes=yes))
    if not is_plan and wish.collective != "barrier":
        wish = replace(wish, size=_sized(answer("size", wish.size)))
    return kind, wish


def _ask(name: str, usual: str, words: Sequence[str]) -> str:
    """Ask on standard error, so that what is printed is the scenario alone."""
    choice = click.Choice(list(words)) if words else None
    answer: str = click.prompt(name, default=usual, type=choice, err=True)
    return answer


def _count(said: int | None, usual: int, *, yes: bool) -> int | None:
    if said is not None or yes:
        return said
    answer: int = click.prompt("ranks", default=usual, type=click.IntRange(1, MOST_RANKS), err=True)
    return answer if answer != usual else None


def _sized(text: str) -> str:
    """Refuse what is no size."""
    from simulator.scenario.errors import UnitError
    from simulator.scenario.units import size

    try:
        size(text)
    except UnitError as error:
        raise click.BadParameter(error.message, param_hint="--size") from None
    return text.strip()


def _refuse_beside_origin(asked: Mapping[str, Any]) -> None:
    """A scenario of the library is copied as it is."""
    for name, value in asked.items():
        if value is not None:
            raise click.UsageError(f"found both --from and --{name}; a copy is what the library has")


def _copied(origin: str) -> str:
    """The text of a scenario of the library, which no longer lies beside its schema."""
    from simulator.scenario.library import PREFIX, SCHEMA_MARK, expand

    if not origin.startswith(PREFIX):
        origin = f"{PREFIX}{origin}"
    files = expand([Path(origin)])
    if len(files) > 1:
        raise click.UsageError(f"{origin} is a theme; name one of its scenarios")
    text = files[0].read_text("utf-8")
    return text.partition("\n")[2] if text.startswith(SCHEMA_MARK) else text


def _write(file: Path, text: str, *, with_schema: bool) -> None:
    """Write the file, under the line that names its schema where there is one."""
    from simulator.scenario.output import write_file
    from simulator.scenario.schema import NAME, schema_text
    from simulator.scenario.schema.line import schema_above, with_line

    schema = schema_above(file)
    if schema is None and with_schema:
        schema = file.parent / NAME
        write_file(schema, schema_text().encode("utf-8"))
        say_written(schema)
    write_file(file, (text if schema is None else with_line(text, file, schema)).encode("utf-8"))
    say_written(file)
