"""NCCL's topology file, of NVIDIA and of AMD's RCCL: `NCCL_TOPO_FILE`, `NCCL_TOPO_DUMP_FILE`.

A tree of CPUs (NUMA domains), PCI switches, GPUs and network cards, with NVLink or xGMI across it. Bandwidths
follow from it by the tables of NCCL's src/graph/topo.h and topo.cc, and of RCCL's topo.h. A partial file, as
clouds ship them, has PCI leaves by class where NCCL finds out the rest when it starts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from topologies.errors import TopologyError
from topologies.formats.reading import Beside
from topologies.formats.tags import Tag, parse_tags
from topologies.text import printable
from topologies.wiring import Wire, Wiring

if TYPE_CHECKING:
    from topologies.topology import Topology

GB: Final = 1e9

LANES: Final = {2.5: 15, 5.0: 30, 8.0: 60, 16.0: 120, 32.0: 240, 64.0: 480}
"""NCCL's speed of a PCI lane by GT/s, of which 80 are 1 GB/s; unknown ones are 60."""

NVLINK: Final = ((100, 40.1), (90, 20.6), (87, 20.0), (86, 12.0), (70, 20.0), (60, 18.0), (0, 20.0))
"""GB/s of an NVLink each way, from a compute capability on."""

XGMI: Final = (("95", 48.0), ("94", 48.0), ("90a", 36.0), ("910", 36.0))
VEGA_XGMI: Final = 24.0
"""GB/s of an xGMI link each way, by how the architecture's name begins, and of older ones."""

INTEL: Final = ((0xCF, 40.0), (0x8F, 22.0), (0x55, 10.0), (0, 6.0))
"""GB/s between Intel's CPUs, from a model of family 6 on."""

LOCAL: Final = 5000.0
"""GB/s of what is no bottleneck to NCCL."""

COSTS: Final = {"nvlink": 4, "xgmi": 4, "c2c": 5, "pci": 5, "cpu": 6, "net": 1000}
"""Levels, and what routing minimises: NVLink by way of one more GPU before PCI, the network last."""

MOST_COUNT: Final = 256
MOST_SPEED: Final = 10**9
"""CPUs of a host and links of a pair; Mbit/s of a port."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a GPU is: its CPU, and its host's NVSwitches."""

    cpu: str
    switch: str


@dataclass(frozen=True, slots=True)
class _Machine:
    """What a file tells, as it is read.

    Attributes
    ----------
    gpus : dict of str to (Tag, _Place)
        By bus id.
    links : dict of (str, str, str) to float
        GB/s by from, to and level; NCCL adds up what joins the same two.
    cards : dict of str to float
        Network cards, and the GB/s of all their ports.
    buses : set of str
        Bus ids.
    notes : dict of str to None
        Each once.
    """

    gpus: dict[str, tuple[Tag, _Place]] = field(default_factory=dict)
    links: dict[tuple[str, str, str], float] = field(default_factory=dict)
    cards: dict[str, float] = field(default_factory=dict)
    buses: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)

    def add(self, src: str, dst: str, level: str, rate: float) -> None:
        """A link one way, or more of the one that is there."""
        self.links[src, dst, level] = self.links.get((src, dst, level), 0.0) + rate

    def join(self, a: str, b: str, level: str, rate: float) -> None:
        """A link each way."""
        self.add(a, b, level, rate)
        self.add(b, a, level, rate)


def read_nccl_system(data: bytes, file: str, beside: Beside) -> Topology:
    """Read a machine, or several alike that one network joins.

    Parameters
    ----------
    data : bytes
    file : str
    beside : Beside
        Links have its latency and overhead, of which NCCL's files say nothing; by default none.

    Raises
    ------
    FormatError
    """
    root = parse_tags(data, file)
    if root.name != "system":
        raise root.error(f"found <{printable(root.name)}>, expected <system>")
    if beside.bandwidth is not None:
        raise root.error("bandwidths follow from the file; none is left open")
    machine = _Machine()
    hosts: dict[str, list[tuple[str, Tag]]] = {}
    for number, cpu in enumerate(root.all("cpu")):
        hosts.setdefault(cpu.attributes.get("host_hash", ""), []).append((f"cpu{number}", cpu))
    for host, cpus in enumerate(hosts.values()):
        for name, cpu in cpus:
            _below(machine, cpu, name, _Place(name, f"nvswitch{host}"))
        _join_cpus(machine, cpus)
    if not machine.gpus:
        raise root.error("there is no GPU: no <gpu>, and no <pci> of class 0x03")
    for bus, (gpu, place) in machine.gpus.items():
        _add_fast_links(machine, bus, gpu, place)
    return _wired(root, machine, beside)


def _below(machine: _Machine, tag: Tag, parent: str, place: _Place) -> None:
    """Take up everything below a CPU or a PCI switch."""
    for child in tag.all("pci", "nic"):
        if child.name == "nic":
            _add_card(machine, child, parent)
            continue
        bus, kind, rate = child.get("busid").lower(), _kind(child), _pci_rate(child)
        if bus in machine.buses:
            raise child.error(f'the bus id "{printable(bus)}" is given twice')
        machine.buses.add(bus)
        machine.join(bus, parent, "pci", rate)
        if kind == "gpu":
            machine.gpus[bus] = next(child.all("gpu"), child), place
        elif kind == "card":
            machine.cards[bus] = sum(_ports(machine, nic) for nic in child.all("nic")) or rate
        else:
            _below(machine, child, bus, place)


def _kind(pci: Tag) -> str:
    """A GPU or a network card by what is in it, or by its PCI class; a switch else."""
    for name, kind in (("gpu", "gpu"), ("nic", "card"), ("pci", "switch")):
        if any(pci.all(name)):
            return kind
    return {"0x03": "gpu", "0x02": "card"}.get(pci.attributes.get("class", "")[:4], "switch")


def _pci_rate(pci: Tag) -> float:
    """GB/s of a PCI link: width 0 counts as 16, an unknown speed as Gen3's."""
    width = pci.whole("link_width", 16) or 16
    if not 1 <= width <= 64:
        raise pci.error(f"link_width is {width}, expected 1 to 64")
    speed = re.match(r"[0-9]{1,3}(\.[0-9]{1,3})?", pci.attributes.get("link_speed", ""))
    return width * LANES.get(float(speed[0]) if speed else 0.0, 60) / 80


def _add_card(machine: _Machine, nic: Tag, parent: str) -> None:
    """A network card without a place on PCI."""
    name = f"{parent}/nic"
    if name not in machine.cards:
        machine.join(name, parent, "pci", LOCAL)
    machine.cards[name] = machine.cards.get(name, 0.0) + _ports(machine, nic)


def _ports(machine: _Machine, nic: Tag) -> float:
    """GB/s of a card's ports together; NCCL takes 10 Gbit/s where it is not known."""
    total = 0.0
    for net in nic.all("net"):
        speed = net.whole("speed", 0)
        if speed > MOST_SPEED:
            raise net.error(f"speed is {speed} Mbit/s, far more than there is")
        if speed <= 0:
            machine.notes["a network port without a speed counts as 10 Gbit/s, as in NCCL"] = None
        total += (speed if speed > 0 else 10_000) / 8000
    return total


def _add_fast_links(machine: _Machine, bus: str, gpu: Tag, place: _Place) -> None:
    """NVLink, xGMI and C2C of a GPU; all NVSwitches of a host are one node."""
    for link in gpu.all("nvlink", "xgmi", "c2c"):
        count = link.whole("count", 1)
        if not 1 <= count <= MOST_COUNT:
            raise link.error(f"count is {count}, expected 1 to {MOST_COUNT}")
        if link.name == "c2c":
            rate = link.whole("bw") / 1000
            if not 0 < rate < MOST_SPEED:
                raise link.error(f"bw is {rate * 1000:g} MB/s")
            machine.join(bus, place.cpu, "c2c", count * rate)
            continue
        rate = count * (_of_generation(gpu.whole("sm", 80), NVLINK) if link.name == "nvlink" else _xgmi(gpu))
        target, kind = link.get("target").lower(), link.attributes.get("tclass", "0x03")
        if kind.startswith("0x03") and target == bus:
            machine.notes["an NVLink of a GPU to itself is left out"] = None
        elif kind.startswith("0x03"):
            if target not in machine.gpus:
                raise link.error(f'there is no GPU with the bus id "{printable(target)}"')
            # the other way is an entry of the other GPU
            machine.add(bus, target, link.name, rate)
        else:
            machine.join(bus, place.cpu if kind == "0x068001" else place.switch, link.name, rate)


def _of_generation(number: int, table: tuple[tuple[int, float], ...]) -> float:
    return next((rate for since, rate in table if number >= since), table[-1][1])


def _xgmi(gpu: Tag) -> float:
    """GB/s of an xGMI link: `gcn` is a number (908) or a name (gfx90a)."""
    name = gpu.attributes.get("gcn", "").removeprefix("gfx")
    return next((rate for start, rate in XGMI if name.startswith(start)), VEGA_XGMI)


def _join_cpus(machine: _Machine, cpus: list[tuple[str, Tag]]) -> None:
    """Every CPU of a host to every other, at what the sender's kind allows."""
    if len(cpus) > MOST_COUNT:
        raise cpus[0][1].error(f"more than {MOST_COUNT} CPUs")
    for name, cpu in cpus:
        machine.links.update({(name, other, "cpu"): _cpu_rate(cpu) for other, _ in cpus if other != name})


def _cpu_rate(cpu: Tag) -> float:
    """GB/s between the CPUs of a host."""
    about = cpu.attributes
    arch, vendor = about.get("arch", "x86_64"), about.get("vendor", "")
    if arch != "x86_64":
        return {"arm64": 6.0, "aarch64": 6.0, "ppc64": 32.0, "ppc64le": 32.0}.get(arch, LOCAL)
    if vendor == "GenuineIntel":
        model = cpu.whole("modelid", 0) if cpu.whole("familyid", 6) == 6 else 0
        return _of_generation(model, INTEL)
    return {"AuthenticAMD": 16.0, "CentaurHauls": 6.0, "  Shanghai  ": 6.0}.get(vendor, LOCAL)


def _wired(root: Tag, machine: _Machine, beside: Beside) -> Topology:
    """The topology of all machines; network cards of a single one lead nowhere, and are left out."""
    count = 1 if beside.machines is None else beside.machines
    notes = list(machine.notes)
    if count > 1 and not machine.cards:
        raise root.error("there is no network card to join machines by")
    if count == 1 and machine.cards:
        notes.append('network cards lead nowhere from a single machine and are left out; see "machines"')
    order = _in_order(machine)
    try:
        wiring = Wiring(len(order) * count)
        for number in range(count):
            names = {bus: number * len(order) + rank for rank, bus in enumerate(order)}
            _wire_machine(
                wiring, machine, names, f"m{number}/" if count > 1 else "", beside, network=count > 1
            )
        dims = (len(order), count) if count > 1 else (len(order),)
        used = {level for _, _, level in machine.links} | ({"net"} if count > 1 else set())
        built = wiring.topology("nccl", dims, [level for level in COSTS if level in used])
    except TopologyError as error:
        raise root.error(error.message) from None
    return replace(built, notes=tuple(notes))


def _in_order(machine: _Machine) -> list[str]:
    """Bus ids by rank, where every GPU says one; else as they stand."""
    ranks: dict[int, str] = {}
    for bus, (gpu, _) in machine.gpus.items():
        if "rank" not in gpu.attributes:
            return list(machine.gpus)
        rank = gpu.whole("rank")
        if rank in ranks:
            raise gpu.error(f"rank {rank} is given twice")
        ranks[rank] = bus
    return [ranks[rank] for rank in sorted(ranks)]


def _wire_machine(
    wiring: Wiring, machine: _Machine, ranks: dict[str, int], prefix: str, beside: Beside, *, network: bool
) -> None:
    def node(name: str) -> int:
        return ranks[name] if name in ranks else wiring.switch(prefix + name)

    def wire(level: str, rate: float) -> Wire:
        return Wire(rate * GB, beside.latency or 0.0, beside.overhead or 0.0, level, COSTS[level])

    # routing prefers what stands first
    for (src, dst, level), rate in sorted(machine.links.items(), key=lambda link: COSTS[link[0][2]]):
        if network or not {src, dst} & machine.cards.keys():
            wiring.add(node(src), node(dst), wire(level, rate))
    if network:
        for card, rate in machine.cards.items():
            wiring.join([node(card)], [wiring.switch("network")], wire("net", rate))
