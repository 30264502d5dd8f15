"""How long it takes to read, prove and time an MSCCL XML file, in CPU seconds, each in a new process.

    python benchmarks/schedule_files.py

The files are written by collsim: ring AllGathers of 16 ranks, cut into so many segments. Beside the work
stands how many times as long it takes as expat, doing nothing with the file, which depends less on the
machine. The whole process is Python with all imports; a process loads numba where loops are long, which is
part of its work then.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

SIZE = 1 << 30
SEGMENTS = (11, 25, 48)
"""Which make 640 kB, 1.4 MB, and 11 520 messages."""


def write(path: Path, segments: int) -> None:
    from algorithms import build
    from algorithms.formats.registry import FORMATS
    from algorithms.programs.from_schedule import program_of

    writer = FORMATS["msccl"].write
    if writer is not None:
        path.write_bytes(
            writer(program_of(build("ring", "allgather", 16, SIZE, segments=segments)), None).data
        )


def measure(path: Path) -> None:
    from algorithms.formats.registry import read_schedule
    from algorithms.programs.proof import prove_program
    from algorithms.programs.timing import schedule_of
    from simulator.engine.engines import run_plan
    from simulator.engine.lower import lower
    from topologies import ring

    data = path.read_bytes()
    begin = process_time()
    program = read_schedule(data, str(path))
    read = process_time()
    prove_program(program)
    proven = process_time()
    schedule = schedule_of(program, SIZE)
    run_plan(lower(schedule, ring(16, bandwidth=25e9, latency=1e-6)))
    timed = process_time()
    messages = int((schedule.src != schedule.dst).sum())
    parts = f"read {read - begin:.2f}, prove {proven - read:.2f}, time {timed - proven:.2f}"
    if "numba" in sys.modules:
        parts += " with loading numba"
    work, bare = timed - begin, expat(data)
    print(
        f"{len(data) / 1000:,.0f} kB, {messages:,} messages: {work:.2f} s ({parts}), "
        f"{work / bare:.0f} times expat's {bare:.3f} s; the whole process {process_time():.2f} s"
    )


def expat(data: bytes) -> float:
    """CPU seconds in which expat reads a file."""
    from xml.parsers.expat import ParserCreate

    begin = process_time()
    ParserCreate().Parse(data, True)
    return process_time() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for segments in SEGMENTS:
            path = Path(folder) / f"ring-{segments}.xml"
            write(path, segments)
            subprocess.run([sys.executable, __file__, str(path)], check=True)
    begin = process_time()
    import numba  # noqa: F401

    print(f"loading numba alone: {process_time() - begin:.2f} s")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        main()
