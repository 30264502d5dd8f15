"""Operations of a step: those that the model needs, and those that the hardware does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.layer_calls import Pass
from simulator.llm.plan import Parallel
from simulator.llm.step.kernels import Part, WorkPlan
from simulator.llm.step.work import DEFAULT, embedding_parts, head_parts, layer_parts
from topologies.clock import FEMTOSECONDS


@dataclass(frozen=True, slots=True)
class StepFlops:
    """Floating point operations of a step, or of a pass of inference, over all ranks.

    Attributes
    ----------
    ranks : int
    tokens : int
        That go through.
    model : Fraction
        What the model needs, however it is computed: forward, and twice that backward.
    hardware : Fraction
        What all ranks do: recomputation too, and what several do alike.
    """

    ranks: int
    tokens: int
    model: Fraction
    hardware: Fraction

    def mfu(self, time: int, hardware: Hardware) -> float:
        """Model FLOPs utilisation: operations that the model needs, over what the peak allows in a time.

        Parameters
        ----------
        time : int
            Femtoseconds; more than 0.
        hardware : Hardware

        Raises
        ------
        ModelError
            If the hardware does not say how fast it computes.
        """
        return self._share(self.model, time, hardware)

    def hfu(self, time: int, hardware: Hardware) -> float:
        """Hardware FLOPs utilisation: operations that are done, over what the peak allows in a time."""
        return self._share(self.hardware, time, hardware)

    def _share(self, flops: Fraction, time: int, hardware: Hardware) -> float:
        if hardware.compute is None:
            raise ModelError("utilisation needs the FLOP/s of the hardware: compute", ("hardware", "compute"))
        return float(flops * FEMTOSECONDS / (Fraction(hardware.compute) * self.ranks * time))


def step_flops(asked: Pass, plan: WorkPlan = DEFAULT, past: int = 0) -> StepFlops:
    """Count the operations of a step; loads of experts are taken as even.

    Parameters
    ----------
    asked : Pass
    plan : WorkPlan
        Of which `mask` counts.
    past : int
        In inference, tokens of each sequence in the KV cache already.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> from simulator.llm.plan import Batch, MemoryPlan
    >>> from simulator.llm.traffic_plan import TrafficPlan
    >>> gpt = transformer(layers=80, hidden=12288, heads=96, vocab=51200, sequence=2048)
    >>> memory = MemoryPlan(recompute="full", attention="scores")
    >>> asked = Pass(gpt, Parallel(tp=8, pp=8, dp=24), Batch(total=2304), memory, TrafficPlan())
    >>> done = step_flops(asked, WorkPlan(mask="full"))
    >>> B, s, l, h, V = 2304, 2048, 80, 12288, 51200  # Narayanan et al. 2021, equation 3
    >>> done.hardware == 96 * B * s * l * h**2 * (1 + Fraction(s, 6 * h) + Fraction(V, 16 * l * h))
    True
    """
    even, parallel = replace(plan, skew=1), asked.parallel
    share = parallel.tp * parallel.cp * parallel.dp
    # one rank that does everything, sequence by sequence
    alone = replace(asked, parallel=Parallel(), batch=replace(asked.batch, total=1, micro=1))
    needed = sum((part.forward.flops for part in _parts(alone, even, past)), Fraction(0))
    done = sum((part.flops for part in _parts(asked, even, past)), Fraction(0))
    return StepFlops(
        parallel.ranks,
        asked.batch.total * asked.length,
        needed * asked.batch.total * (3 if asked.training else 1),
        done * asked.microbatches * share,
    )


def _parts(asked: Pass, plan: WorkPlan, past: int) -> list[Part]:
    """Parts of all layers, for one micro-batch at one rank of each stage."""
    model = asked.model
    kinds = {model.is_sparse(layer): layer_parts(asked, layer, plan, past) for layer in (0, model.layers - 1)}
    inside = [part for layer in range(model.layers) for part in kinds[model.is_sparse(layer)]]
    return [*embedding_parts(asked), *inside, *head_parts(asked)]
