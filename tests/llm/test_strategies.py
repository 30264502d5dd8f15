"""Strategies: states and traffic derived by rules, held against the second seed's tables and the papers."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.experts import Mixture, by_experts, by_layers
from simulator.llm.mesh import (
    at_rest,
    hsdp,
    layouts,
    mesh_flows,
    mesh_of,
    mesh_stored,
    mesh_traffic,
)
from simulator.llm.notation import parse
from simulator.llm.overlap import application_rows, overlaps
from simulator.llm.products import FORWARD, SCORES, VALUES, is_related, made, needed
from simulator.llm.seed_rules import (
    agreement,
    coefficients,
    exact_forward,
    exact_training,
    seed_forward,
    seed_states,
    seed_stored,
    seed_training,
    stored,
)
from simulator.llm.states import PARTIAL, REPLICATED, Partitioned
from simulator.llm.strategies import SEED_ROWS, STRATEGIES, Habits, Strategy, flows, states
from simulator.llm.symbols import Expression, expression, symbol, symbols

DUALS = {
    "All-Gather": "Reduce-Scatter",
    "Reduce-Scatter": "All-Gather",
    "Broadcast": "Reduce",
    "Reduce": "Broadcast",
    "Scatter": "Gather",
    "Gather": "Scatter",
    "All-to-All": "All-to-All",
    "Send/Recv": "Send/Recv",
}
"""What the backward pass does where the forward pass does something."""

# a worked example, by hand: L = 80 layers, B = 4096 tokens, D = 8192, N = 8, 2 bytes an element
WORKED = {"L": 80, "B": 4096, "I": 8192, "O": 8192, "D": 8192, "N": 8, "k": 1}


def gib(elements: Expression) -> float:
    return float(2 * elements.at(**WORKED) / 2**30)


# products


def test_dimensions_of_a_layer() -> None:
    has = {variable: "".join(dim for dim in "LBOI" if is_related(variable, dim)) for variable in "XWY"}
    assert has == {"X": "LBI", "W": "LOI", "Y": "LBO"}


def test_what_products_sum_over() -> None:
    assert FORWARD.summed == "I"
    assert [(product.output, product.summed) for product in FORWARD.adjoints()] == [("dX", "O"), ("dW", "B")]
    # scores sum over no dimension but the head's width, which is none of ours; values over the tokens
    assert VALUES.summed == "T"
    assert [product.summed for product in SCORES.adjoints()] == ["T", "B"]


@pytest.mark.parametrize("split", "LBIO")
def test_operands_are_whole_or_parts_and_results_are_parts_or_sums(split: str) -> None:
    for variable in ("X", "W"):
        expected = Partitioned(split) if is_related(variable, split) else REPLICATED
        assert needed(variable, split) == expected
    assert made("Y", split) == (Partitioned(split) if is_related("Y", split) else PARTIAL)


# the second seed's tables, cell by cell

SEED = {
    "pp": ("P P P", "LBI LOI LBO", "1/N 1/N 1/N", "LBD", None),
    "dp": ("P R P", "BI NLOI BO", "1/LN 1 1/LN", "0", None),
    "tp-column": ("R P P", "NBI LOI BO", "1/L 1/N 1/LN", "NLBD", None),
    "tp-row": ("P P R", "BI LOI NBO", "1/LN 1/N 1/L", "NLBD", None),
    "fsdp": ("P PRP P", "BI LOI+NOI BO", "1/LN 1/N+1/L 1/LN", "NLOI", "3NLOI"),
}


def test_the_seeds_rows() -> None:
    assert tuple(SEED) == SEED_ROWS


@pytest.mark.parametrize("name", SEED)
def test_the_seeds_cells_follow_from_its_rules(name: str) -> None:
    letters, sizes, parts, forward, training = SEED[name]
    strategy = STRATEGIES[name]
    found = ["".join(str(state)[0] for state in row) for row in seed_states(strategy).values()]
    assert found == letters.split()
    assert list(seed_stored(strategy).values()) == [parse(size.replace("+", " + ")) for size in sizes.split()]
    expected = [parse(part.replace("+", " + ")) for part in parts.split()]
    assert list(coefficients(seed_stored(strategy)).values()) == expected
    assert seed_forward(strategy) == parse(forward)
    assert seed_training(strategy) == (None if training is None else parse(training))


@pytest.mark.parametrize("name", SEED)
def test_coefficients_give_the_storage_back(name: str) -> None:
    ranks = symbol("N")
    sizes = {"X": parse("LBI"), "W": parse("LOI"), "Y": parse("LBO")}
    held = seed_stored(STRATEGIES[name])
    for variable, part in coefficients(held).items():
        assert ranks * part * sizes[variable] == held[variable]


# what must be, and when the seed agrees

EXACT = {
    "pp": ("(N-1)BD", "2(N-1)BD", "N = L >> 1"),
    "dp": ("0", "2(N-1)LOI", "always"),
    "tp-column": ("(N-1)LBD", "2(N-1)LBD", "N >> 1"),
    "tp-row": ("(N-1)LBD", "2(N-1)LBD", "N >> 1"),
    "fsdp": ("(N-1)LOI", "3(N-1)LOI", "N >> 1"),
    "tp": ("(N-1)LBD", "2(N-1)LBD", None),
    "sp": ("(N-1)LBD", "2(N-1)LBD", None),
    "zero-1": ("0", "2(N-1)LOI", None),
    "zero-2": ("0", "2(N-1)LOI", None),
    "cp-ring": ("2(N-1)LBD", "6(N-1)LBD + 2(N-1)LOI", None),
    "cp-ulysses": ("4(N-1)LBD/N", "8(N-1)LBD/N + 2(N-1)LOI", None),
    "ep": ("2(N-1)kLBD/N", "4(N-1)kLBD/N", None),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_exact_traffic(name: str) -> None:
    forward, training, when = EXACT[name]
    strategy = STRATEGIES[name]
    assert exact_forward(strategy) == parse(forward)
    assert exact_training(strategy) == parse(training)
    if when is not None:
        assert agreement(seed_forward(strategy), exact_forward(strategy)) == when


def test_exact_states() -> None:
    found = {name: states(strategy) for name, strategy in STRATEGIES.items()}
    assert found["tp-row"]["Y"] == (PARTIAL,)
    assert found["tp-column"]["dX"] == (PARTIAL,)
    assert found["fsdp"]["W"] == (Partitioned("O"), REPLICATED, Partitioned("O"))
    assert found["dp"]["dW"] == (PARTIAL, REPLICATED)
    assert found["ep"]["X"] == (Partitioned("E"),)


@pytest.mark.parametrize(
    ("name", "forward", "training"),
    [
        ("pp", (5.000, 0.4375), (5, 0.875)),
        ("dp", (0, 0), (0, 140)),
        ("tp-column", (40, 35), (40, 70)),
        ("tp-row", (40, 35), (40, 70)),
        ("fsdp", (80, 70), (240, 210)),
    ],
)
def test_worked_example(name: str, forward: Any, training: Any) -> None:
    strategy = STRATEGIES[name]
    assert (gib(seed_forward(strategy)), gib(exact_forward(strategy))) == forward
    said = seed_training(strategy) or seed_forward(strategy)
    assert (gib(said), gib(exact_training(strategy))) == training


def test_worked_example_without_resharding() -> None:
    assert gib(exact_training(STRATEGIES["fsdp"], Habits(reshard=False))) == 140


def test_the_seeds_pipeline_is_11_times_too_much() -> None:
    strategy = STRATEGIES["pp"]
    assert gib(seed_forward(strategy)) / gib(exact_forward(strategy)) == pytest.approx(11.4, abs=0.05)


def test_like_for_like_fsdp_is_half_more_than_dp() -> None:
    """ZeRO's 1.5 times (Rajbhandari et al. 2020, section 7)."""
    assert 2 * exact_training(STRATEGIES["fsdp"]) == 3 * exact_training(STRATEGIES["dp"])


def test_interleaving_and_microbatches() -> None:
    v, m = symbols("v", "m")
    assert str(exact_training(STRATEGIES["pp"], Habits(chunks=v))) == "2(Nv-1)BD"
    accumulated = exact_training(STRATEGIES["fsdp"], Habits(microbatches=m))
    assert accumulated == m * exact_training(STRATEGIES["fsdp"])
    # replicated gradients wait for the last one
    assert exact_training(STRATEGIES["dp"], Habits(microbatches=m)) == exact_training(STRATEGIES["dp"])


def test_gathering_inputs_again_makes_ten_of_eight() -> None:
    """Korthikanti et al. 2022: the input of a column is stored in parts and gathered again."""
    sp = STRATEGIES["sp"]
    assert 8 * exact_training(sp, Habits(regather=True)) == 10 * exact_training(sp)


def test_sequence_parallelism_sends_what_tensor_parallelism_sends() -> None:
    for phase in (exact_forward, exact_training):
        assert phase(STRATEGIES["sp"]) == phase(STRATEGIES["tp"])


def test_storage_as_it_must_be() -> None:
    assert stored(STRATEGIES["pp"])["X"] == parse("NBI")
    assert agreement(seed_stored(STRATEGIES["pp"])["X"], stored(STRATEGIES["pp"])["X"]) == "N = L"
    fsdp = STRATEGIES["fsdp"]
    assert stored(fsdp)["W"] == parse("LOI + NOI")
    assert stored(fsdp, in_place=True)["W"] == parse("LOI + (N-1)OI")
    assert stored(fsdp, prefetch=1)["W"] == parse("LOI + 2NOI")


def test_agreement_by_number() -> None:
    """A condition is tried at numbers: equal there, or within 1/N."""
    for name in SEED_ROWS:
        seed, exact = seed_forward(STRATEGIES[name]), exact_forward(STRATEGIES[name])
        when = agreement(seed, exact)
        large = {**WORKED, "N": 10**6} | ({"L": 10**6} if "L" in str(when) else {})
        assert float(seed.at(**large)) == pytest.approx(float(exact.at(**large)), rel=2e-6)


# duality


@pytest.mark.parametrize("name", ["tp-column", "tp-row", "sp", "ep", "pp"])
def test_backward_is_the_dual_of_forward(name: str) -> None:
    """The backward pass follows from its own products, and is what reversing the forward pass gives."""
    moved = flows(STRATEGIES[name])
    forward = [flow.change.name for flow in moved if flow.phase == "forward"]
    backward = [flow.change.name for flow in moved if flow.phase == "backward"]
    assert backward == [DUALS[word] for word in forward[::-1]]


def test_a_sum_for_all_has_its_dual_in_a_copy_that_is_there_already() -> None:
    """All-Reduce after rows forward, after columns backward; before columns nothing, since X is there."""
    moved = flows(STRATEGIES["tp"])
    assert [(flow.phase, flow.variable, flow.change.name) for flow in moved] == [
        ("forward", "Y", "All-Reduce"),
        ("backward", "dX", "All-Reduce"),
    ]


def test_ulysses_is_four_all_to_alls_each_way() -> None:
    moved = flows(STRATEGIES["cp-ulysses"])
    for phase in ("forward", "backward"):
        variables = [flow.variable for flow in moved if flow.phase == phase and flow.variable != "dW"]
        assert sorted(variable.removeprefix("d") for variable in variables) == ["K", "Q", "V", "Z"]


def test_a_rank_of_a_pipeline_sends_once_each_way() -> None:
    assert [str(flow.rank) for flow in flows(STRATEGIES["pp"])] == ["BD", "BD"]


def test_every_rank_sends_its_part() -> None:
    for name, strategy in STRATEGIES.items():
        if name != "pp":
            for flow in flows(strategy):
                assert flow.rank * symbol("N") == flow.total


# on a mesh


def test_hsdp() -> None:
    """AllGather and ReduceScatter in a group, AllReduce of a shard across groups."""
    plan = hsdp()
    mesh = mesh_of(plan)
    shard, groups, weights = mesh["shard"], mesh["replicate"], parse("LOI")
    assert mesh_traffic(plan, mesh) == 3 * groups * (shard - 1) * weights + 2 * (groups - 1) * weights
    ranks = {found.move.axis: found.rank for found in mesh_flows(plan, mesh)}
    assert ranks["replicate"] == 2 * (groups - 1) / groups * weights / shard


def test_tensor_and_data_parallelism() -> None:
    plan = {"tp": STRATEGIES["tp-column"], "dp": STRATEGIES["dp"]}
    assert {name: str(size) for name, size in mesh_stored(plan, {"tp": 8, "dp": 4}).items()} == {
        "X": "8BI",
        "W": "4LOI",
        "Y": "BO",
    }
    n, m = (mesh_of(plan)[axis] for axis in ("tp", "dp"))
    assert mesh_traffic(plan, mesh_of(plan), training=False) == (n - 1) * parse("LBD")
    by_axis = {found.move.axis: found for found in mesh_flows(plan, mesh_of(plan))}
    # each of n groups of replicas adds up its part of the weights
    assert by_axis["dp"].total == 2 * (m - 1) * parse("LOI")
    assert by_axis["dp"].rank == 2 * (m - 1) / m * parse("LOI") / n


def test_a_boundary_is_cut_by_sequence_parallelism_only() -> None:
    """Without it all tensor parallel ranks send the same; with it each its part (Korthikanti et al. 2022)."""
    for name, times in (("tp", 8), ("sp", 1)):
        plan = {"tp": STRATEGIES[name], "pp": STRATEGIES["pp"]}
        boundary = [f for f in mesh_flows(plan, {"tp": 8, "pp": 4}) if f.move.axis == "pp"]
        assert boundary[0].total == times * 3 * parse("BD")


def test_states_on_a_mesh() -> None:
    found = layouts({"tp": STRATEGIES["sp"], "cp": STRATEGIES["cp-ring"], "pp": STRATEGIES["pp"]})
    assert [str(state) for state in found["Y"].values()] == ["Σ", "P(S)", "P(L)"]
    assert at_rest(STRATEGIES["zero-1"], "W") == REPLICATED
    assert at_rest(STRATEGIES["zero-1"], "dW") == Partitioned("O")
    assert at_rest(STRATEGIES["tp-row"], "Y") == Partitioned("I")


def test_weights_where_a_layer_computes() -> None:
    """FSDP keeps them in parts, but computes on all of them."""
    found = layouts({"tp": STRATEGIES["tp-column"], "dp": STRATEGIES["fsdp"]})
    assert found["W"] == {"tp": Partitioned("O"), "dp": REPLICATED}


def test_every_stage_of_a_pipeline_gathers_weights() -> None:
    plan = {"dp": STRATEGIES["fsdp"], "pp": STRATEGIES["pp"]}
    assert mesh_stored(plan, {"dp": 8, "pp": 4})["W"] == parse("LOI + 32OI")
    assert mesh_stored(plan, {"dp": 8, "pp": 4}, prefetch=1)["W"] == parse("LOI + 64OI")
    assert mesh_stored(plan, {"dp": 8, "pp": 4}, stays=True)["W"] == parse("9LOI")


def test_a_mesh_that_is_not_the_plans() -> None:
    with pytest.raises(ModelError, match="axes"):
        mesh_flows(hsdp(), {"tp": 2})


# the first seed's table of uses


def test_the_first_seeds_rows() -> None:
    rows = list(application_rows(STRATEGIES))
    forward = {row.strategy: [] for row in rows}
    for row in rows:
        if row.phase == "forward":
            forward[row.strategy].append((row.primitive, row.message, str(row.rank)))
    assert forward["tp"] == [("All-Reduce", "bsh", "2(N-1)M/N")]
    assert forward["sp"] == [("Reduce-Scatter", "bsh", "(N-1)M/N"), ("All-Gather", "bsh", "(N-1)M/N")]
    zero = [row for row in rows if row.strategy == "fsdp" and row.primitive == "Reduce-Scatter"]
    assert [(row.phase, row.message, str(row.rank)) for row in zero] == [
        ("backward", "layer_params", "(N-1)M/N")
    ]


def test_one_all_reduce_is_as_much_as_the_two_halves() -> None:
    rows = list(application_rows(STRATEGIES))
    for phase in ("forward", "backward"):
        tp, sp = (
            sum((row.rank for row in rows if (row.strategy, row.phase) == (name, phase)), expression(0))
            for name in ("tp", "sp")
        )
        assert tp == sp


def test_who_can_overlap() -> None:
    """Forward nothing is independent of an activation; backward the gradient of the weights is."""
    by = {(flow.phase, flow.variable): overlaps(flow) for flow in flows(STRATEGIES["tp"])}
    assert by == {("forward", "Y"): (), ("backward", "dX"): ("dW2",)}
    fsdp = {(flow.phase, flow.variable): overlaps(flow) for flow in flows(STRATEGIES["fsdp"])}
    assert fsdp["forward", "W"] == ("Y1",)
    assert "dX1" not in fsdp["backward", "W"]
    assert set(fsdp["backward", "dW"]) == {"dX1", "dX2", "dW1"}
    again = [f for f in flows(STRATEGIES["sp"], Habits(regather=True)) if f.variable == "X"]
    # the input that is gathered again waits for nothing, and only dW waits for it
    assert overlaps(again[0]) == ("dW1", "dX1", "dX2")


def test_overlap_of_what_it_does_not_know() -> None:
    [flow] = [flow for flow in flows(STRATEGIES["cp-ulysses"]) if flow.variable == "dZ"]
    assert overlaps(flow) is None


# experts


def test_the_remark_on_experts() -> None:
    """10^12 parameters in 80 layers: 12.5 x 10^9 a layer, 25 GB in 16 bits; 53 GB left of 80 beside 2."""
    mixture = Mixture()
    layer, spread = by_layers(mixture), by_experts(mixture, 80)
    assert mixture.layer_parameters == 12_500_000_000
    assert layer == spread
    assert (spread.weights, spread.free) == (25 * 10**9, 53 * 10**9)
    assert spread.tokens == 53 * 10**9 // (1152 * 80)
    assert not by_experts(mixture, 20).fits
    assert by_experts(mixture, 320).tokens > spread.tokens


def test_a_strategy_of_ones_own() -> None:
    """Any split, and any way to wait, has its states and traffic."""
    own = Strategy(
        name="own", title="columns that wait in parts of the tokens", splits=("O",), boundary=Partitioned("S")
    )
    names = [flow.change.name for flow in flows(own)]
    assert names == ["All-to-All", "All-Gather", "Reduce-Scatter", "All-to-All"]
