"""`collsim calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.shared import console, known, say_written, size_option, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.scenario.calibration.calibrate import Calibration
    from simulator.scenario.calibration.held import Held
    from simulator.scenario.measurements.series import Series


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
    from simulator.scenario.calibration.calibrate import calibrate as fit_all
    from simulator.scenario.calibration.held import hold_out
    from simulator.scenario.calibration.output import calibration_figure, calibration_json, platform_yaml
    from simulator.scenario.calibration.target import target_of
    from simulator.scenario.output import check_out, check_picture, write_file, write_picture

    if out is not None:
        check_out(out, (".yaml", ".yml"), force=force)
    if picture is not None:
        check_picture(picture, force=force)
    names = _names(algorithm)
    series = _series(logs, collective, ranks, in_place)
    target = target_of(topology, max(one.ranks for one in series), Path() if out is None else out.parent)
    how = {"algorithms": names, "dims": target.dims, "limits": target.limits, "protocols": protocols}
    found = fit_all(series, **how)  # type: ignore[arg-type]
    held = hold_out(series, **how) if holdout else ()
    if out is not None:
        write_file(out, platform_yaml(found, target, at).encode())
    if picture is not None:
        write_picture(calibration_figure(found), picture, force=force)
    if as_json_text:
        click.echo(calibration_json(found, held), nl=False)
    else:
        _print(found, held)
    for written in (out, picture):
        if written is not None:
            say_written(written, aside=as_json_text)


def _names(text: str) -> list[str] | None:
    from algorithms.registry import ALGORITHMS

    if text == "auto":
        return None
    words = {name: name for name in ALGORITHMS}
    return list(dict.fromkeys(known(word.strip(), words, "algorithm") for word in text.split(",")))


def _series(logs: Sequence[Path], collective: str | None, ranks: int | None, in_place: bool) -> list[Series]:
    """What the logs tell, in place or out of place; a log that has only the other is refused."""
    from algorithms.collective import COLLECTIVES
    from simulator.scenario.measurements.read import read_log
    from simulator.scenario.measurements.series import Told

    if collective is not None:
        known(collective, {kind: kind for kind in COLLECTIVES}, "collective")
    series: list[Series] = []
    for path in logs:
        log = read_log(path, Told(collective, ranks))
        warn(str(path), log.notes)
        fitting = [one for one in log.series if one.in_place == in_place]
        if not fitting:
            way = "in place" if in_place else "out of place; see --in-place"
            raise click.UsageError(f"{path} has no times {way}")
        series += fitting
    return series


def _print(found: Calibration, held: Sequence[Held]) -> None:
    from simulator.scenario.calibration.tables import (
        calibration_lines,
        errors_table,
        parts_table,
        prices_table,
    )

    terminal = console()
    for index in range(len(found.series)):
        terminal.print(errors_table(found, index))
    terminal.print(parts_table(found))
    terminal.print(prices_table(found))
    for line in calibration_lines(found, held):
        click.echo(line)
