"""NCCL's topology files: bandwidths by hand from the tables of NCCL's and RCCL's topo.h."""

from __future__ import annotations

import numpy as np
import pytest

from tests.topologies.formats.topology_files import NVSWITCH, PARTIAL, XGMI
from topologies import Topology, route
from topologies.errors import FormatError
from topologies.formats.nccl_system import read_nccl_system
from topologies.formats.reading import Beside


def rates(topology: Topology) -> dict[str, float]:
    """GB/s of every link by its name."""
    return {
        topology.link_name(link): rate / 1e9 for link, rate in enumerate(topology.links.bandwidth.tolist())
    }


def test_bandwidths_follow_from_counts_generations_and_lanes() -> None:
    found = rates(read_nccl_system(NVSWITCH, "a.xml", Beside()))
    # rank 0 is the H100 of the second CPU: 18 NVLinks of 20.6; rank 1 the A100: 12 of 20
    assert found["0->nvswitch0"] == found["nvswitch0->0"] == pytest.approx(18 * 20.6)
    assert found["1->nvswitch0"] == 12 * 20
    # an unknown width and speed are Gen3 x16, 12 GB/s; Gen4 x16 are 24
    assert (found["0->cpu1"], found["1->0000:10:00.0"], found["0000:10:00.0->cpu0"]) == (12, 24, 24)
    # Ice Lake (model 106) counts as Skylake, 10 GB/s; model 143 is Sapphire Rapids, 22
    assert (found["cpu0->cpu1"], found["cpu1->cpu0"]) == (10, 22)


def test_links_to_all_switches_of_a_host_are_one() -> None:
    # NCCL adds up what joins the same two (ncclTopoConnectNodes): of an A100 6 entries of 2 links of 20
    links = "".join(f'<nvlink target="0000:c{i}:00.0" count="2" tclass="0x068000"/>' for i in range(6))
    gpus = "".join(
        f'<pci busid="{i}" class="0x030200"><gpu sm="80" rank="{i}">{links}</gpu></pci>' for i in range(2)
    )
    text = f'<system version="1"><cpu arch="x86_64" vendor="AuthenticAMD">{gpus}</cpu></system>'
    topology = read_nccl_system(text.encode(), "a.xml", Beside())
    assert rates(topology)["0->nvswitch0"] == 240
    assert [int(number) for number in np.bincount(topology.links.src)] == [2, 2, 2, 2]


def test_xgmi_counts_each_way_by_its_own_entry() -> None:
    found = rates(read_nccl_system(XGMI, "a.xml", Beside()))
    # gfx942: 48; gfx90a, which older files write 910: 2 x 36; bus ids in capitals are the same
    assert (found["0->1"], found["1->0"]) == (48, 72)
    assert (found["0->cpu0"], found["1->cpu0"]) == (24, 48)


def test_a_partial_file_has_gpus_by_class() -> None:
    topology = read_nccl_system(PARTIAL, "a.xml", Beside(latency=1e-6))
    found = rates(topology)
    assert topology.ranks == 2
    # 8 GT/s x8: 8 x 60 / 80 = 6 GB/s; AMD's CPUs: 16
    assert (found["0->ffff:ff:01.0"], found["1->cpu1"], found["cpu0->cpu1"]) == (24, 6, 16)
    assert set(topology.links.latency.tolist()) == {1e-6}


def test_messages_take_nvlink_before_pci() -> None:
    topology = read_nccl_system(NVSWITCH, "a.xml", Beside())
    assert [topology.link_name(link) for link in route(topology, 0, 1)] == ["0->nvswitch0", "nvswitch0->1"]


def test_machines_are_joined_by_their_cards() -> None:
    topology = read_nccl_system(NVSWITCH, "a.xml", Beside(machines=3))
    found = rates(topology)
    assert (topology.ranks, topology.dims) == (6, (2, 3))
    # 200 Gbit/s; a port without a speed counts as 10 Gbit/s
    assert (found["m2/0000:12:00.0->network"], found["network->m0/cpu1/nic"]) == (25, 1.25)
    assert any("10 Gbit/s" in note for note in topology.notes)
    # out by PCI, the card and the network, and in again
    assert [topology.nodes[int(topology.links.dst[link])] for link in route(topology, 1, 3)] == [
        *("m0/0000:10:00.0", "m0/0000:12:00.0", "network"),
        *("m1/0000:12:00.0", "m1/0000:10:00.0", 3),
    ]


def test_cards_of_one_machine_lead_nowhere() -> None:
    topology = read_nccl_system(PARTIAL, "a.xml", Beside())
    assert "0103:00:00.0" not in topology.nodes
    assert any('see "machines"' in note for note in topology.notes)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b'count="12"', b'count="0"', "a.xml:5:39: count is 0, expected 1 to 256"),
        (b'count="12"', b'count="a"', 'a.xml:5:39: <nvlink> has count="a"; expected a whole number'),
        (b"0000:21:00.0", b"0000:11:00.0", 'a.xml:13:5: the bus id "0000:11:00.0" is given twice'),
        (b'link_width="16"', b'link_width="99"', "a.xml:3:5: link_width is 99, expected 1 to 64"),
        (b'rank="1"', b'rank="0"', "a.xml:14:7: rank 0 is given twice"),
        (
            b'tclass="0x068000"',
            b'tclass="0x030200"',
            'a.xml:5:39: there is no GPU with the bus id "0000:c0:00.0"',
        ),
        (b"system", b"graphs", "a.xml:1:1: found <graphs>, expected <system>"),
        (b'speed="200000"', b'speed="20000000000"', "a.xml:8:14: speed is 20000000000 Mbit/s, far more than"),
        (b"</cpu>", b"", "a.xml:18:3: not XML: mismatched tag"),
    ],
)
def test_what_is_wrong_has_its_place(before: bytes, after: bytes, message: str) -> None:
    data = NVSWITCH.replace(before, after) if before == b"system" else NVSWITCH.replace(before, after, 1)
    with pytest.raises(FormatError) as caught:
        read_nccl_system(data, "a.xml", Beside())
    assert str(caught.value).startswith(message)
