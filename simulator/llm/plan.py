"""How a model is laid over ranks, what a step works on, and how memory is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from topologies.quantities import Bytes, Count, Ratio, Whole

Axis = Literal["tp", "cp", "ep", "dp", "pp"]
Schedule = Literal["1f1b", "gpipe", "zb-h1", "zb-h2", "zbv", "dualpipe"]
AXES: Final[tuple[Axis, ...]] = ("tp", "cp", "ep", "dp", "pp")
"""Innermost first, the order in which ranks are counted where a plan does not say; Megatron's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """Into how many a model is cut, and along what.

    Expert parallelism takes no ranks of its own: `ep` of the `dp` ranks share the experts of a
    layer among them, and dp / ep ranks hold the same ones.

    Parameters
    ----------
    tp : int
        Ranks that share each matrix.
    sp : bool
        Sequence parallelism of Korthikanti et al. 2022: the tensor parallel ranks also share the
        tokens where matrices are not.
    cp : int
        Ranks that share the tokens of a sequence.
    cp_kind : {'ring', 'ulysses'}
        How attention still sees all of it: keys and values go round, or heads for tokens.
    pp : int
        Pipeline stages.
    interleave : int
        Chunks of layers that a stage holds (virtual stages).
    split : sequence of int, optional
        Layers of each chunk, in the model's order; equal where it does not say.
    schedule : {'1f1b', 'gpipe', 'zb-h1', 'zb-h2', 'zbv', 'dualpipe'}
        In which order a stage works through its micro-batches (`simulator.llm.step.orders`).
    dp : int
        Replicas that share the batch.
    ep : int
        Of those, how many share the experts of a layer.
    zero : int
        What replicas hold a part of only: 0 nothing, 1 optimizer, 2 and gradients, 3 and weights.
    shard : int, optional
        Over how many of the dp x cp replicas that is (HSDP); all where it does not say.
    reshard_after_forward : bool
        Whether ZeRO-3 drops a layer's gathered weights after its forward pass.
    prefetch : int
        Layers whose weights ZeRO-3 gathers ahead of the one that computes.
    order : sequence of {'tp', 'cp', 'ep', 'dp', 'pp'}
        Which axis ranks are counted along first; `dp` is what `ep` leaves of it.
    """

    tp: Count = 1
    sp: bool = False
    cp: Count = 1
    cp_kind: Literal["ring", "ulysses"] = "ring"
    pp: Count = 1
    interleave: Count = 1
    split: Sequence[Whole] | None = None
    schedule: Schedule = "1f1b"
    dp: Count = 1
    ep: Count = 1
    zero: Literal[0, 1, 2, 3] = 0
    shard: Count | None = None
    reshard_after_forward: bool = True
    prefetch: Whole = 1
    order: Sequence[Axis] = AXES

    def __post_init__(self) -> None:
        check_fields(self)
        if self.dp % self.ep:
            raise ModelError(f"ep of {self.ep} does not divide dp of {self.dp}", ("ep",))
        if self.shard is not None and self.replicas % self.shard:
            message = f"{self.shard} does not divide the {self.replicas} replicas, dp x cp"
            raise ModelError(message, ("shard",))
        if self.shard is not None and not self.zero:
            raise ModelError("nothing is sharded: zero is 0", ("shard",))
        if sorted(self.order) != sorted(AXES):
            raise ModelError(f"expected each of {', '.join(AXES)} once", ("order",))
        if self.interleave > 1 and (self.pp == 1 or self.schedule != "1f1b"):
            why = "one stage" if self.pp == 1 else f"the schedule {self.schedule}"
            raise ModelError(f"found {self.interleave} chunks a stage with {why}", ("interleave",))
        if self.schedule == "dualpipe" and self.pp % 2:
            raise ModelError(f"dualpipe needs an even number of stages, found {self.pp}", ("schedule",))

    @property
    def ranks(self) -> int:
        """Ranks of the whole plan."""
        return self.tp * self.cp * self.dp * self.pp

    @property
    def replicas(self) -> int:
        """Ranks that hold the same weights where nothing is sharded: dp x cp."""
        return self.dp * self.cp

    @property
    def sharded(self) -> int:
        """Ranks over which ZeRO shards."""
        return self.shard or self.replicas

    @property
    def mesh(self) -> dict[Axis, int]:
        """Sizes of the axes, innermost first; `dp` is what `ep` leaves of it.

        Examples
        --------
        >>> Parallel(tp=8, dp=16, ep=4, pp=2).mesh
        {'tp': 8, 'cp': 1, 'ep': 4, 'dp': 4, 'pp': 2}
        """
        sizes: Mapping[Axis, int] = {
            "tp": self.tp,
            "cp": self.cp,
            "ep": self.ep,
            "dp": self.dp // self.ep,
            "pp": self.pp,
        }
        return {axis: sizes[axis] for axis in self.order}

    def coordinates(self, rank: int) -> dict[Axis, int]:
        """Where a rank stands on every axis.

        Examples
        --------
        >>> Parallel(tp=2, dp=2, pp=2).coordinates(6)
        {'tp': 0, 'cp': 0, 'ep': 0, 'dp': 1, 'pp': 1}
        """
        place: dict[Axis, int] = {}
        for axis, size in self.mesh.items():
            rank, place[axis] = divmod(rank, size)
        return place

    def group(self, rank: int, axes: Sequence[Axis]) -> tuple[int, ...]:
        """Ranks that differ from a rank along some axes only, in order, itself among them.

        The data parallel group is that of ``("ep", "dp")``, ZeRO's that of ``("cp", "ep", "dp")``.

        Examples
        --------
        >>> plan = Parallel(tp=2, dp=4, pp=2)
        >>> plan.group(9, ("tp",)), plan.group(9, ("ep", "dp")), plan.group(9, ("pp",))
        ((8, 9), (9, 11, 13, 15), (1, 9))
        """
        stride, ranks = 1, [rank]
        for axis, size in self.mesh.items():
            if axis in axes:
                place = rank // stride % size
                ranks = [other + (i - place) * stride for i in range(size) for other in ranks]
            stride *= size
        return tuple(ranks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a step works on.

    Parameters
    ----------
    total : int
        Sequences of a step, over all replicas; `global` in a file. In inference the sequences that
        are served at once.
    micro : int
        b, sequences that go through a stage together.
    sequence : int, optional
        Tokens of a sequence; the model's where it does not say.
    chunk : int, optional
        In inference, tokens of a sequence that go through at once: 1 decodes; all where it does not say.
    """

    total: Count
    micro: Count = 1
    sequence: Count | None = None
    chunk: Count | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def microbatches(self, parallel: Parallel) -> int:
        """Micro-batches that each replica works through in a step.

        Raises
        ------
        ModelError
            If the replicas do not share the sequences equally.
        """
        share = parallel.dp * self.micro
        if self.total % share:
            parts = f"dp {parallel.dp} x micro {self.micro}"
            message = f"{self.total} sequences are not a multiple of {share}, {parts}"
            raise ModelError(message, ("global",))
        return self.total // share


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """Bytes that training keeps for a parameter.

    Parameters
    ----------
    weight, gradient, optimizer : float
        Bytes of each.
    name : str
        What it is called.
    keeps_gradients : bool
        Whether ZeRO-2 still holds whole gradients, as DeepSpeed's estimator counts.
    layer_gradients : bool
        Whether ZeRO-3 holds only the gradients of one gathered layer, as DeepSpeed's estimator counts.
    """

    weight: float
    gradient: float
    optimizer: float
    name: str = ""
    keeps_gradients: bool = False
    layer_gradients: bool = False

    def __post_init__(self) -> None:
        for part in ("weight", "gradient", "optimizer"):
            if getattr(self, part) < 0:
                raise ModelError(f"must be zero or more, found {getattr(self, part):g}", (part,))
        if not self.weight:
            raise ModelError("must be more than 0", ("weight",))

    @property
    def total(self) -> Fraction:
        """Bytes of a parameter in all."""
        return Fraction(self.weight) + Fraction(self.gradient) + Fraction(self.optimizer)


CONVENTIONS: Final[Mapping[int | str, Convention]] = MappingProxyType(
    {
        16: Convention(weight=2, gradient=2, optimizer=12, name="16 B: ZeRO paper, 16-bit gradients"),
        18: Convention(weight=2, gradient=4, optimizer=12, name="18 B: Megatron, 32-bit gradients"),
        20: Convention(weight=2, gradient=2, optimizer=16, name="20 B: Megatron, two kinds of gradients"),
        "fp32": Convention(weight=4, gradient=4, optimizer=8, name="16 B: everything in 32 bits"),
        "deepspeed": Convention(
            weight=2,
            gradient=2,
            optimizer=16,
            name="DeepSpeed's estimator",
            keeps_gradients=True,
            layer_gradients=True,
        ),
    }
)
"""Rajbhandari et al. 2020 (16); Megatron-LM's docs/source/api-guide/dist_optimizer.md (18, 20, fp32);
DeepSpeed's runtime/zero memory estimators, 4 + 16/N for ZeRO-2 and 18/N + 4 a parameter of the largest
layer for ZeRO-3 (deepspeed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """How memory is counted, and how much there is.

    Parameters
    ----------
    phase : {'training', 'inference'}
        What memory is counted for.
    convention : Convention
        Bytes of a parameter.
    recompute : {'none', 'selective', 'full'}
        What the backward pass computes again: nothing, attention's scores, or all but a layer's input.
    attention : {'flash', 'scores'}
        Whether attention stores its scores, s x s a head, or only their normalisation.
    count : {'all', 'matrices'}
        `matrices` leaves out what closed forms leave out: embeddings, norms, biases and the loss.
    capacity : int, optional
        Bytes that a rank has.
    reserved : int
        Of those, what is not for the model: libraries, fragments.
    offload : sequence of {'optimizer', 'gradients', 'weights', 'activations'}
        What lies in the host's memory instead.
    cache_bytes : float
        Bytes of one number of the KV cache.
    """

    phase: Literal["training", "inference"] = "training"
    convention: Convention = CONVENTIONS[18]
    recompute: Literal["none", "selective", "full"] = "none"
    attention: Literal["flash", "scores"] = "flash"
    count: Literal["all", "matrices"] = "all"
    capacity: Bytes | None = None
    reserved: Bytes = 0
    offload: Sequence[Literal["optimizer", "gradients", "weights", "activations"]] = field(default=())
    cache_bytes: Ratio = 2

    def __post_init__(self) -> None:
        check_fields(self)
        if self.capacity == 0:
            raise ModelError("must be more than 0 B", ("capacity",))
        if self.phase == "inference" and self.recompute != "none":
            raise ModelError("inference has no backward pass that recomputes", ("recompute",))
        if len(set(self.offload)) < len(self.offload):
            raise ModelError("names a part twice", ("offload",))
