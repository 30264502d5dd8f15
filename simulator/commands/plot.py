"""`collsim plot`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.complete import ScenarioPath, names_of
from simulator.commands.shared import allow_code, known, memory_limit, one_file, progress, say_written


class _WithKinds(click.Command):
    """A command whose help ends with the kinds of pictures."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write them."""
        from simulator.scenario.picture_kinds import PICTURES

        super().format_epilog(ctx, formatter)
        with formatter.section("Kinds"):
            formatter.write_dl([(name, row.summary) for name, row in PICTURES.items()])


@click.command(cls=_WithKinds)
@click.argument("path", type=ScenarioPath(path_type=Path))
@click.argument("kind", shell_complete=names_of("picture"))
@click.option("--out", type=click.Path(path_type=Path), help="The file; default KIND.png in the folder PATH.")
@click.option("--format", "form", help="png (default), svg or pdf; an animation is a gif.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.option("--lanes", help="Of a timeline: auto (default), links, ranks or levels.")
@click.option("--colour", help="Of a topology's links: bytes (default) or busy.")
@click.option("--sizes", metavar="SIZES", help="Of sizes: a range as 1KiB..1GiB, or a list as 1KiB,1MiB.")
@memory_limit
@allow_code
def plot(
    path: Path,
    kind: str,
    out: Path | None,
    form: str | None,
    force: bool,
    lanes: str | None,
    colour: str | None,
    sizes: str | None,
    memory_limit: int | None,
    allow_code: bool,
) -> None:
    """Draw a picture of a run, a comparison or a plan.

    PATH is a folder that --out of a command has written, a scenario, or library:NAME.
    """
    from simulator.scenario.output import check_picture, write_picture
    from simulator.scenario.pictures import check_options, find, picture

    asked = {"lanes": lanes, "colour": colour, "sizes": sizes}
    options = {name: word for name, word in asked.items() if word is not None}
    animated = find(kind).animated
    check_options(kind, options)
    target = _target(path, kind, out, form, animated=animated)
    check_picture(target, force=force, animated=animated)
    source = path if path.is_dir() else one_file(path)
    with progress(path.stem) as report:
        drawn = picture(
            source, kind, report=report, allow_code=allow_code, memory_limit=memory_limit, **options
        )
    write_picture(drawn, target, force=force)
    say_written(target)


def _target(path: Path, kind: str, out: Path | None, form: str | None, *, animated: bool) -> Path:
    """The file to write: in the folder, or beside where the command is run, where none is named."""
    from simulator.scenario.library import stem
    from simulator.scenario.output import FORMS

    forms = {word: word for word in (("gif",) if animated else FORMS)}
    suffix = None if form is None else f".{known(form, forms, 'format')}"
    if out is not None:
        if suffix not in (None, out.suffix):
            raise click.UsageError(f"found both --format {form} and --out {out}")
        return out
    name = f"{kind}{suffix or f'.{next(iter(forms))}'}"
    return path / name if path.is_dir() else Path(f"{stem(path)}-{name}")
