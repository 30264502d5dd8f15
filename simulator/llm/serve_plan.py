"""What a machine is asked to serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from topologies.quantities import Count, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class ServePlan:
    """Requests that come together, are read one after the other, and are answered side by side.

    Parameters
    ----------
    prompt : int
        Tokens of a prompt.
    output : int
        Tokens of an answer; the first comes with the end of the prompt.
    chunk : int, optional
        Tokens of a prompt that go through at once; all where it does not say.
    batch : sequence of int, optional
        Requests served at once, over all replicas: those to look at; else every power of two.
    ttft, tpot : float, optional
        Targets in s: until the last request has its first token, and from one token to the next.
    """

    prompt: Count
    output: Count
    chunk: Count | None = None
    batch: Sequence[Count] | None = None
    ttft: Time | None = None
    tpot: Time | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.output == 1:
            raise ModelError("an answer of 1 token has no time from one token to the next", ("output",))
        if self.chunk is not None and self.chunk > self.prompt:
            message = f"{self.chunk} tokens at once are more than the {self.prompt} of a prompt"
            raise ModelError(message, ("chunk",))
        if self.batch is not None and not self.batch:
            raise ModelError("expected at least one number of requests", ("batch",))

    @property
    def sequence(self) -> int:
        """Tokens of a request at its end."""
        return self.prompt + self.output

    @property
    def context(self) -> int:
        """Tokens in the KV cache when an answer's tokens are made, from the second to the last, on average.

        >>> ServePlan(prompt=100, output=2).context, ServePlan(prompt=100, output=12).context
        (100, 105)
        """
        return self.prompt + (self.output - 2) // 2

    def chunks(self) -> tuple[tuple[int, int], ...]:
        """Tokens of each chunk of a prompt, and those before it.

        >>> ServePlan(prompt=10, output=2, chunk=4).chunks()
        ((4, 0), (4, 4), (2, 8))
        """
        step = self.chunk or self.prompt
        return tuple((min(step, self.prompt - start), start) for start in range(0, self.prompt, step))
