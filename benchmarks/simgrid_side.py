"""SimGrid's side of `simgrid_flows.py`, run by the Python that has SimGrid: flow sets in, ends out.

Reads {"links": [[bandwidth, latency], ...], "flows": [[start, bytes, [link, ...]], ...]} from one file
and writes the seconds at which the flows end into another. SimGrid simulates one platform in a
process, so it is one set a call.
"""

import json
import sys
from pathlib import Path

from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor

OPTIONS = (
    # CM02 is max-min sharing; without a window of TCP, acknowledgements, and factors for real networks
    "network/model:CM02",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "network/weight-S:0",
    # 3.32 forgets a flow now and then when it updates lazily
    "network/optim:Full",
    # SimGrid takes what differs by less for equal
    "maxmin/precision:1e-12",
    "surf/precision:1e-12",
    # all else it says is of no use here
    "--log=root.thres:critical",
)


def main() -> None:
    asked, answered = Path(sys.argv[1]), Path(sys.argv[2])
    problem = json.loads(asked.read_text())
    engine = Engine(["flows", *(o if o.startswith("--") else f"--cfg={o}" for o in OPTIONS)])
    zone = NetZone.create_full_zone("zone")
    links = [
        zone.create_link(f"link {i}", bandwidth).set_latency(latency).seal()
        for i, (bandwidth, latency) in enumerate(problem["links"])
    ]
    ends = [0.0] * len(problem["flows"])
    for i, (start, size, route) in enumerate(problem["flows"]):
        # a pair of hosts a flow: routes are as free as they can be
        src, dst = (zone.create_host(f"{side} {i}", 1e9) for side in ("from", "to"))
        way = [LinkInRoute(links[link]) for link in route]
        zone.add_route(src.netpoint, dst.netpoint, None, None, way, False)
        Actor.create(f"flow {i}", src, _flow, i, start, size, src, dst, ends)
    zone.seal()
    engine.run()
    answered.write_text(json.dumps(ends))


def _flow(i, start, size, src, dst, ends):
    this_actor.sleep_until(start)
    Comm.sendto(src, dst, size)
    ends[i] = Engine.clock


if __name__ == "__main__":
    main()
