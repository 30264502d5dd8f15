"""How long it takes to read, prove and time an MSCCL XML file, in CPU seconds, each in a new process.

    python benchmarks/schedule_files.py

The files are written by collsim: ring AllGathers of 16 ranks, cut into so many segments.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

SIZE = 1 << 30


def write(path: Path, segments: int) -> None:
    from algorithms import build
    from algorithms.formats.registry import FORMATS
    from algorithms.programs.from_schedule import program_of

    schedule = build("ring", "allgather", 16, SIZE, segments=segments)
    path.write_bytes(FORMATS["msccl"].write(program_of(schedule)).data)


def measure(path: Path) -> None:
    from algorithms.formats.registry import read_schedule
    from algorithms.programs.proof import prove_program
    from algorithms.programs.timing import schedule_of
    from simulator.engine.engines import run_plan
    from simulator.engine.lower import lower
    from topologies import ring

    begin = process_time()
    program = read_schedule(path.read_bytes(), str(path))
    read = process_time()
    prove_program(program)
    proven = process_time()
    schedule = schedule_of(program, SIZE)
    timeline = run_plan(lower(schedule, ring(16, bandwidth=25e9, latency=1e-6)))
    timed = process_time()
    messages = int((schedule.src != schedule.dst).sum())
    parts = f"read {read - begin:.2f}, prove {proven - read:.2f}, time {timed - proven:.2f}"
    size = path.stat().st_size / 1000
    print(f"{size:,.0f} kB, {messages:,} messages, {timeline.seconds:.6f} s: {timed - begin:.2f} s ({parts})")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for segments in (10, 22, 48):
            path = Path(folder) / f"ring-{segments}.xml"
            write(path, segments)
            subprocess.run([sys.executable, __file__, str(path)], check=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        main()
