"""`collsim calibrate`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.shared import console, say_written, size_option


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(path_type=Path))
@click.option(
    "--algorithm", default="auto", metavar="NAMES", help="auto (default), or those that may be at work."
)
@click.option("--topology", metavar="T", help="A kind, a preset, a scenario or a file; default crossbar.")
@click.option("--ranks", type=click.IntRange(min=1), help="N, where a log does not say it.")
@click.option("--collective", metavar="KIND", help="Where a log does not say it.")
@click.option("--in-place", is_flag=True, help="Fit the times in place, not those out of place.")
@click.option("--protocols", type=click.IntRange(1, 4), default=4, help="Most protocols (default 4).")
@click.option("--holdout", is_flag=True, help="Fit every other size, too, and say the error at the rest.")
@click.option("--size", "at", callback=size_option, metavar="SIZE", help="Of --out; default the largest.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the fitted platform as a scenario.")
@click.option("--picture", type=click.Path(path_type=Path), help="Draw measured, fitted and residual.")
@click.option("--json", "as_json_text", is_flag=True, help="Print everything as JSON.")
@click.option("--force", is_flag=True, help="Overwrite --out and --picture.")
def calibrate(
    logs: tuple[Path, ...],
    algorithm: str,
    topology: str | None,
    ranks: int | None,
    collective: str | None,
    in_place: bool,
    protocols: int,
    holdout: bool,
    at: int | None,
    out: Path | None,
    picture: Path | None,
    as_json_text: bool,
    force: bool,
) -> None:
    """Fit alpha, beta, gamma to measured times.

    Reads logs of nccl-tests, rccl-tests (text, or JSON of -J) and the OSU benchmarks of one machine, finds
    which algorithm by which protocol explains which sizes, and fits the parameters of all logs together.
    """
    from simulator.scenario.calibration.output import calibration_figure, calibration_json
    from simulator.scenario.calibration.result import calibrate as fit_logs
    from simulator.scenario.calibration.tables import calibration_lines, calibration_tables
    from simulator.scenario.output import check_out, check_picture, write_file, write_picture

    if out is not None:
        check_out(out, (".yaml", ".yml"), force=force)
    if picture is not None:
        check_picture(picture, force=force)
    found = fit_logs(
        logs,
        algorithms=None if algorithm == "auto" else [word.strip() for word in algorithm.split(",")],
        topology=topology,
        ranks=ranks,
        collective=collective,
        in_place=in_place,
        protocols=protocols,
        holdout=holdout,
        beside=Path() if out is None else out.parent,
    )
    for note in found.notes:
        click.echo(note, err=True)
    if out is not None:
        write_file(out, found.platform(at).encode())
    if picture is not None:
        write_picture(calibration_figure(found.fit), picture, force=force)
    if as_json_text:
        click.echo(calibration_json(found), nl=False)
    else:
        terminal = console()
        for table in calibration_tables(found.fit):
            terminal.print(table)
        for line in calibration_lines(found.fit, found.held_out):
            click.echo(line)
    for written in (out, picture):
        if written is not None:
            say_written(written, aside=as_json_text)
