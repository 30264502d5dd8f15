"""What the document leads to: the cost of its mnemonic, unequal machines, experts, other strategies."""

from __future__ import annotations

from fractions import Fraction

from simulator.llm.confirm import detour
from simulator.llm.experts import Mixture, by_experts, by_layers
from simulator.llm.mesh import HSDP_MESH, hsdp, mesh_flows, mesh_traffic
from simulator.llm.notation import quotient
from simulator.llm.seed_rules import exact_forward, exact_training
from simulator.llm.states import Partitioned, primitive
from simulator.llm.strategies import STRATEGIES, Habits, states
from simulator.llm.symbols import Expression
from simulator.seeds.page import Grid, Remark, Section
from simulator.seeds.seed2.basics import COUNTED_ON, SECOND_ORDER
from simulator.seeds.seed2.claims import ROWS
from simulator.seeds.seed2.strategy_pages import VARIABLES
from topologies.text import format_time


def mnemonic_section() -> Section:
    """What the two steps of second order cost when they are taken."""
    from simulator.engine.network import Network
    from topologies.builders import crossbar, ring

    size = 2**30
    machines = (
        ("crossbar", crossbar(COUNTED_ON, bandwidth=64e9, latency=1e-6), Network(model="cut_through")),
        ("ring", ring(COUNTED_ON, bandwidth=64e9, latency=1e-6), Network()),
    )
    rows = []
    for source, target in (*SECOND_ORDER, (Partitioned("a"), Partitioned("b"))):
        change = primitive(source, target)
        found = [detour(change, size, topology, network) for _, topology, network in machines]
        bytes_ratio = Fraction(found[0].detour_bytes, found[0].direct_bytes)
        rows.append(
            (
                change.name,
                " + ".join(change.legs),
                f"{float(bytes_ratio):.4g}",
                *(f"{format_time(one.direct_time, 4)}, {format_time(one.detour_time, 4)}" for one in found),
            )
        )
    headers = ("primitive", "two steps", "bytes, two steps / direct", *(name for name, _, _ in machines))
    return Section(
        'What "only a mnemonic" costs',
        (
            f"Simulated on {COUNTED_ON} ranks, M = 1 GiB, 64 GB/s and 1 us a link: directly, then in two "
            "steps, "
            "with whole vectors sent in 64 pieces along a chain of ranks.",
            Grid(headers, tuple(rows)),
        ),
    )


def machines_section() -> Section:
    """The remark on machines whose ranks are not equal."""
    from algorithms.registry import build
    from simulator.engine.engines import simulate
    from simulator.engine.network import Network
    from topologies.builders import full_mesh
    from topologies.multilevel import Level, Shared, multilevel

    even = full_mesh(8, bandwidth=64e9, latency=1e-6)
    between = Level("between", 2, "full_mesh", 16e9, 1e-6, uplink=Shared(1))
    sockets = multilevel([Level("socket", 4, "full_mesh", 64e9, 1e-6), between])
    network, rows, times = Network(model="cut_through"), [], {}
    for name in ("direct", "ring", "hierarchical"):
        options = {"dims": (4, 2)} if name == "hierarchical" else {}
        schedule = build(name, "allgather", 8, 2**30, **options)
        pair = [simulate(schedule, topology, network).seconds for topology in (even, sockets)]
        times[name] = pair
        rows.append((f"`{name}`", *(format_time(time, 4) for time in pair), f"{pair[1] / pair[0]:.3g}"))
    slower = all(pair[1] > pair[0] for pair in times.values())
    remark = Remark(
        "Where ranks are not equal, as with NUMA, these primitives will probably lose performance.",
        "holds" if slower else "corrected",
        "Simulated above. What treats all ranks alike loses most; along the levels of the machine it loses "
        "least.",
    )
    headers = ("All-Gather of 1 GiB on 8 ranks by", "all alike", "two sockets of 4", "times as long")
    return Section(
        "Machines that are not equal",
        (
            "Links of 64 GB/s and 1 us between all ranks, or within two sockets that one link of 16 GB/s "
            "each way "
            "joins:",
            Grid(headers, tuple(rows)),
            (remark,),
        ),
    )


def experts_section() -> Section:
    """The closing remark, worked through."""
    mixture = Mixture()
    layer = by_layers(mixture)
    rows = tuple(
        (
            str(card.cards),
            f"{float(card.weights / 10**9):.4g} GB",
            f"{float(card.free / 10**9):.4g} GB" if card.fits else "does not fit",
            f"{card.tokens:,}",
        )
        for card in (by_experts(mixture, cards) for cards in (20, 40, 80, 160, 320))
    )
    pp, ep = STRATEGIES["pp"], STRATEGIES["ep"]
    remarks = (
        Remark(
            "A model of 10^12 parameters has some 80 layers of 10 to 20 times 10^9.",
            "holds",
            f"{float(mixture.layer_parameters / 10**9):.4g} x 10^9 a layer, "
            f"{float(mixture.layer_parameters * mixture.weight / 10**9):.4g} GB in 16 bits.",
        ),
        Remark(
            "A layer fits one card, but KV cache and activations need room, too.",
            "holds",
            f"Of 80 GB {float(layer.free / 10**9):.4g} GB are left beside a layer and 2 GB of activations. "
            "One layer a "
            f"card ends at {layer.cards} cards; experts can be spread further, and leave more.",
        ),
        Remark(
            "So different experts are put into different layers.",
            "corrected",
            "Onto different cards, as the remark itself begins: every card has its part of all layers' "
            "experts. "
            f"Tokens then go to experts and back by All-to-All, `{exact_forward(ep)}` forward for k "
            "experts a token, "
            f"where a pipeline would send `{exact_forward(pp)}`.",
        ),
    )
    return Section(
        "Experts",
        (
            remarks,
            "10^12 parameters in 80 layers, 16 bits, cards of 80 GB, 2 GB of activations, and latent "
            "attention's KV "
            "cache of 1152 B a token and layer. A card with one layer keeps that layer's cache for "
            "everybody's "
            "sequences: as many tokens a card as with 80 cards below.",
            Grid(("cards", "weights a card", "left for the KV cache", "tokens of cache a card"), rows),
        ),
    )


def beyond_section() -> Section:
    """The strategies that the document does not have."""
    rows = []
    for name, strategy in STRATEGIES.items():
        if name not in ROWS:
            found = states(strategy)
            rows.append(
                (
                    strategy.title,
                    *(" → ".join(map(str, found[variable])) for variable in VARIABLES),
                    f"`{exact_forward(strategy)}`",
                    f"`{exact_training(strategy)}`",
                    strategy.source,
                )
            )
    headers = ("strategy", *VARIABLES, "forward", "training", "source")
    return Section(
        "What the same rules give for other strategies",
        (
            "Derived as the rows above, from which dimension is split and how activations wait between "
            "layers. SP "
            "sends what TP sends; it saves memory, not bytes"
            " (where inputs are gathered again, "
            f"{quotient(_regathered(), exact_training(STRATEGIES['tp']))} of it).",
            Grid(headers, tuple(rows)),
            _hybrid(),
        ),
    )


def _hybrid() -> str:
    by_axis: dict[str, Expression] = {}
    for found in mesh_flows(hsdp(), HSDP_MESH):
        by_axis[found.move.axis] = by_axis.get(found.move.axis, Expression()) + found.total
    forward = mesh_traffic(hsdp(), HSDP_MESH, training=False)
    training = " + ".join(map(str, by_axis.values()))
    return (
        "Products of strategies have a state on every axis of a mesh. HSDP is FSDP within groups of F ranks "
        f"and DP between G groups: `{forward}` forward, `{training}` in training."
    )


def _regathered() -> Expression:
    return exact_training(STRATEGIES["sp"], Habits(regather=True))
