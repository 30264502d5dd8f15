"""Small logs, written for the tests: clean ones of given times, and one with all the dirt of real ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

DIRTY = """\
[1764082225.83] [node0:404149:0]         parser.c:1686 UCX  WARN  unused env variable: UCX_HOME
# nccl-tests version 2.17.8 nccl-headers=22403 nccl-library=22403
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8192 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
# nccl-tests version 2.17.8 nccl-headers=22403 nccl-library=22403
# Collective test starting: all_gather_perf
rccl-tests: Version develop:db6ea5a
# Using devices
#  Rank  0 Group  0 Pid 404147 on node0 device  0 [0002:00:00] AMD Instinct MI300X VF
#  Rank  1 Group  0 Pid 404148 on node0 device  1 [0003:00:00] AMD Instinct MI300X VF
#  Rank  2 Group  0 Pid 404149 on node1 device  0 [0002:00:00] AMD Instinct MI300X VF
node0:404147:404147 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>
#                                                    out-of-place                    in-place
#       size    count   type   redop  root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B) (elements)                        (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0        0   float    none   -1     0.20    0.00    0.00      0     0.19    0.00    0.00      0
         768       64   float    none   -1    10.00    0.08    0.05    N/A    20.00    0.04    0.03    N/A
        1536      128   float    none   -1    12.00    0.13    0.09    N/A    22.00    0.07    0.05      0
node0:404147:404200 [0] NCCL INFO comm 0x55 rank 0 nranks 3 - Init COMPLETE
[1,0]<stdout>:      3072      256   float    none   -1    16.00    0.19    0.13      2    26.00  0.1 0.07 0
        6144      512   float    none   -1     N/A     N/A     N/A    N/A     N/A     N/A     N/A    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.09
"""


def nccl_log(
    test: str, ranks: int, sizes: Sequence[int], time: Callable[[int], float], factor: float = 1.0
) -> str:
    """A log of nccl-tests of given times, s, to a nanosecond."""
    lines = [f"# Collective test starting: {test}_perf"]
    lines += [f"#  Rank {rank:2d} Group  0 Pid 1 on host device {rank} [00] GPU" for rank in range(ranks)]
    lines.append("#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
    for size in sizes:
        us = time(size) * 1e6
        rate = size / us / 1e3
        cells = f"{us:.6f} {rate:.6f} {rate * factor:.6f} 0"
        lines.append(f"{size:12d} {size // 4:12d} float sum -1 {cells} {cells}")
    return "\n".join(lines) + "\n"


def flat(_size: int) -> float:
    """10 us, whatever the size."""
    return 1e-5


def osu_log(name: str, sizes: Sequence[int], time: Callable[[int], float]) -> str:
    """A log of the OSU benchmarks."""
    rows = [f"{size:<20d} {time(size) * 1e6:.4f}   1.0   2.0   100" for size in sizes]
    return "\n".join(
        [f"# OSU MPI {name} Latency Test v7.0", "# Datatype: MPI_CHAR.", "# Size  Avg Latency(us)", *rows]
    )


def nccl_json(sizes: Sequence[int], ranks: int) -> str:
    """What `-J` writes."""
    rows = [
        {
            **{"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "-1"},
            "out_of_place": {"nwrong": 0, "time": 10.0 + i, "alg_bw": 1.0, "bus_bw": 1.75},
            "in_place": None if i else {"nwrong": 0, "time": 5.0, "alg_bw": 1.0, "bus_bw": 1.75},
            "experiment_name": "all_reduce_perf",
        }
        for i, size in enumerate(sizes)
    ]
    return json.dumps(
        {"version": 1, "devices": [{"rank": rank} for rank in range(ranks)], "results": rows}, indent=1
    )
