"""GraphML and node-link JSON, TACCL's and ASTRA-sim's files, and what is written for others."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from tests.topologies.formats.topology_files import GRAPHML, NODE_LINK, TACCL_CUSTOM, TACCL_NDV2
from tests.topologies.topology_examples import EXAMPLES
from topologies import TOPOLOGIES, Level, Topology, TopologyError, hypercube, multilevel, ring
from topologies.errors import FormatError
from topologies.formats.astra import astra_topology, write_astra
from topologies.formats.dot import write_dot
from topologies.formats.graphml import read_graphml, write_graphml
from topologies.formats.node_link import read_node_link
from topologies.formats.reading import Beside
from topologies.formats.taccl import read_taccl

COLUMNS = ("src", "dst", "bandwidth", "latency", "overhead", "level", "cost")


def test_graphml_is_read_edge_by_edge() -> None:
    topology = read_graphml(GRAPHML, "a.graphml", Beside(bandwidth=1e9, latency=2e-6))
    links = {
        topology.link_name(link): (topology.links.bandwidth[link], topology.links.latency[link])
        for link in range(len(topology.links))
    }
    assert links == {
        **{"0->hub": (64e9, 1e-6), "hub->0": (64e9, 1e-6)},
        **{"hub->1": (32e9, 2e-6), "1->hub": (1e9, 2e-6)},
    }
    assert topology.notes == ("attributes of edges that are not read: colour",)


def test_node_link_numbers_ranks_by_their_names_and_keeps_parallel_links() -> None:
    topology = read_node_link(NODE_LINK, "a.json", Beside())
    assert (topology.ranks, topology.nodes[2], topology.reduces) == (2, "s", (2,))
    assert [topology.link_name(link) for link in range(3)] == ["0->s", "0->s#1", "s->1"]
    assert topology.levels == ("up", "down")


def test_networkx_s_own_output_is_read(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(3))
    graph.add_edge(0, 1, bandwidth=1e9)
    graph.add_edge(1, 2, bandwidth=2e9)
    nx.write_graphml(graph, tmp_path / "a.graphml")
    for topology in (
        read_graphml((tmp_path / "a.graphml").read_bytes(), "a.graphml", Beside()),
        read_node_link(json.dumps(nx.node_link_data(graph, edges="links")).encode(), "a.json", Beside()),
        read_node_link(json.dumps(nx.node_link_data(graph, edges="edges")).encode(), "a.json", Beside()),
    ):
        assert (topology.links.src.tolist(), topology.links.dst.tolist()) == ([0, 1], [1, 2])
        assert topology.links.bandwidth.tolist() == [1e9, 2e9]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_graphml_that_was_written_gives_the_same_topology_back(kind: str, tmp_path: Path) -> None:
    topology = TOPOLOGIES[kind](**EXAMPLES[kind][-1])
    text = write_graphml(topology)
    again = read_graphml(text.encode(), "a.graphml", Beside())
    assert (again.kind, again.dims, again.levels) == (topology.kind, topology.dims, topology.levels)
    assert (again.spread, again.reduces, again.ranks) == (topology.spread, topology.reduces, topology.ranks)
    assert list(map(str, again.nodes)) == list(map(str, topology.nodes))
    for column in COLUMNS:
        assert np.array_equal(getattr(again.links, column), getattr(topology.links, column)), column
    # and networkx reads the same graph from it
    (tmp_path / "a.graphml").write_text(text)
    read = nx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)
    assert (len(read), read.size()) == (len(topology.nodes), len(topology.links))


def test_taccl_s_betas_are_of_a_chunk() -> None:
    topology = read_taccl(TACCL_NDV2, "a.json", Beside())
    rates = dict(zip(map(topology.link_name, range(32)), topology.links.bandwidth.tolist(), strict=True))
    # of the DGX-1's mesh every GPU has two double NVLinks and two single ones: 1 MB in 20 and in 40 us
    assert rates["0->1"] == pytest.approx(50e9)
    assert rates["0->2"] == pytest.approx(25e9)
    assert sorted(rates.values()) == pytest.approx([25e9] * 16 + [50e9] * 16)
    assert topology.links.latency.tolist() == pytest.approx([0.5e-6] * 32)


def test_taccl_s_matrices_are_by_destination() -> None:
    topology = read_taccl(TACCL_CUSTOM, "a.json", Beside())
    # 1 kB in 2 us, from 1 to 0
    assert [topology.link_name(link) for link in range(len(topology.links))] == ["1->0"]
    assert topology.links.bandwidth[0] == pytest.approx(500e6)


@pytest.mark.parametrize(
    ("read", "data", "before", "after", "message"),
    [
        (read_graphml, GRAPHML, b"64e9", b"fast", 'a:10:5: bandwidth is "fast", expected a number'),
        (read_graphml, GRAPHML, b"64e9", b"-1", "a:10:5: bandwidth must be positive and finite, found -1.0"),
        (read_graphml, GRAPHML, b'target="b"', b'target="c"', 'a:11:5: there is no node "c"'),
        (read_graphml, GRAPHML, b'target="b"', b'target="hub"', 'a:11:5: an edge from "hub" to itself'),
        (read_graphml, GRAPHML, b"undirected", b"both", 'a:7:3: edgedefault is "both"'),
        (read_graphml, GRAPHML, b'id="b"', b'id="a"', 'a:8:19: the node "a" is given twice'),
        (read_graphml, GRAPHML, b"<?xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><?xml", "a:1:1: a document type"),
        (read_node_link, NODE_LINK, b'"id": 1', b'"id": []', "a:2:19: found [], expected a node's name"),
        (read_node_link, NODE_LINK, b"64e9", b'"x"', 'a:4:3: links[0]: bandwidth is "x", expected a number'),
        (read_node_link, NODE_LINK, b"64e9", b"NaN", "a:4:55: found NaN, expected a number"),
        (read_node_link, NODE_LINK, b'"graph"', b'"directed"', 'a:1:2: the key "directed" is given twice'),
        (read_node_link, NODE_LINK, b'"nodes"', b'"knots"', 'a:1:1: missing "nodes"; expected a list'),
        (read_node_link, NODE_LINK, b"64e9", b"9" * 301, "a:4:55: a number of more than 300 digits"),
        (read_graphml, GRAPHML, b"1e-6", b"1e300", "a:10:5: a link's time must be less than 1e+09 s"),
        (read_taccl, TACCL_NDV2, b"[20, 40]", b"[20, 1e-320]", "a:1:1: bandwidth must be positive"),
        (read_taccl, TACCL_NDV2, b"[20, 40]", b"[20, 0]", "a:2:26: found 0, expected us of a chunk"),
        (read_taccl, TACCL_NDV2, b"_1MB", b"", 'a:1:10: the name "NDv2" has no chunk size'),
        (read_taccl, TACCL_NDV2, b"[20, 40]", b"[1, 2, 3]", "a:2:21: found 3 betas for 8 GPUs"),
        (read_taccl, TACCL_CUSTOM, b"[[0, 1], [0, 0]]", b"[[0, 1]]", "a:2:11: found 1 rows, expected 2"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_place(read, data: bytes, before: bytes, after: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(data.replace(before, after, 1), "a", Beside(bandwidth=1e9) if read is read_graphml else Beside())
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "topology",
    [
        ring(4, bandwidth=50e9, latency=5e-7),
        multilevel(
            [Level("a", 3, "ring", 50e9, 1e-6), Level("b", 2, "switch", 1e9), Level("c", 4, "full_mesh", 2e9)]
        ),
    ],
    ids=["ring", "three dimensions"],
)
def test_astra_sim_s_file_says_every_dimension(topology: Topology) -> None:
    text = write_astra(topology)
    shapes = {"ring": "[ Ring ]", "multilevel": "[ Ring, Switch, FullyConnected ]"}
    assert text.startswith(
        f"topology: {shapes[topology.kind]}\nnpus_count: [ {', '.join(map(str, topology.dims))} ]"
    )
    # 50e9 / 2^30
    assert "bandwidth: [ 46.5661287308" in text


@pytest.mark.parametrize("topology", [hypercube(3, bandwidth=1e9), ring(4, bandwidth=1e9, overhead=1e-6)])
def test_what_astra_sim_cannot_say_is_refused(topology: Topology) -> None:
    with pytest.raises(TopologyError, match="only products of rings"):
        write_astra(topology)


def test_names_of_switches_are_no_rank_s_and_can_be_written() -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from([("a", {"rank": 0}), ("b", {"rank": 1})])
    graph.add_nodes_from(["1", "\ud800\x01"], kind="switch")
    for src, dst in (("a", "1"), ("1", "b"), ("b", "\ud800\x01"), ("\ud800\x01", "a")):
        graph.add_edge(src, dst, bandwidth=1e9)
    made = json.dumps(nx.node_link_data(graph, edges="links")).encode()
    topology = read_node_link(made, "a.json", Beside())
    assert topology.nodes == (0, 1, "switch 1", "\\ud800\\x01")
    again = read_graphml(write_graphml(topology).encode(), "a.graphml", Beside())
    assert (again.nodes, again.links.dst.tolist()) == (topology.nodes, topology.links.dst.tolist())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("topology", [["Ring"]], r"""found "\['Ring'\]", expected Ring, FullyConnected, Switch"""),
        ("topology", [{}], 'found "{}", expected Ring, FullyConnected, Switch'),
        ("bandwidth", [0], "found 0, expected more than 0"),
        ("latency", [float("nan")], "found nan, expected a number"),
    ],
)
def test_what_is_wrong_for_astra_sim_has_its_path(key: str, value: object, message: str) -> None:
    tree = {"topology": ["Ring"], "npus_count": [4], "bandwidth": [50.0], "latency": [500], key: value}
    with pytest.raises(TopologyError, match=message) as caught:
        astra_topology(tree, Beside())
    assert caught.value.at == (key, 0)


def test_dot_quotes_names() -> None:
    text = write_dot(read_graphml(GRAPHML.replace(b'"hub"', b'"h&quot;b"'), "a", Beside(bandwidth=1e9)))
    assert '"0" -> "h\\"b" [label="64 GB/s, 1 us", class="link"];' in text
