"""Whether a model can be cut as a plan says, and which layers each stage gets."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

from simulator.llm.errors import ModelError
from simulator.llm.model import Model
from simulator.llm.placement import chunk_count, chunks_held
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.traffic_plan import TrafficPlan


def sequence_of(model: Model, batch: Batch) -> int:
    """s, tokens of a sequence: the batch's, or the model's own."""
    return batch.sequence or model.sequence


def chunks_of(model: Model, parallel: Parallel) -> tuple[range, ...]:
    """Layers of every chunk, from 0, in the model's order; `placement` says which stage has it.

    Raises
    ------
    ModelError
        If the layers cannot be shared so.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> model = transformer(layers=8, hidden=64, heads=4, vocab=512, sequence=128)
    >>> chunks_of(model, Parallel(pp=2, interleave=2))
    (range(0, 2), range(2, 4), range(4, 6), range(6, 8))
    """
    count = chunk_count(parallel)
    split = parallel.split
    if split is None:
        if model.layers % count:
            each = count // parallel.pp
            what = f"{parallel.pp} stages x {each} chunks" if each > 1 else f"{count} stages"
            message = f"{model.layers} layers do not divide into {what}; split: [...] says how many each has"
            raise ModelError(message, ("parallel", "pp"))
        split = (model.layers // count,) * count
    if len(split) != count:
        message = f"expected {count} numbers of layers, one a chunk, found {len(split)}"
        raise ModelError(message, ("parallel", "split"))
    if sum(split) != model.layers:
        message = f"sums to {sum(split)} layers, but the model has {model.layers}"
        raise ModelError(message, ("parallel", "split"))
    return tuple(range(end - size, end) for end, size in zip(accumulate(split), split, strict=True))


def layers_held(model: Model, parallel: Parallel, stage: int) -> tuple[range, ...]:
    """Layers of every chunk of a stage, in the model's order.

    Raises
    ------
    ModelError
        If the layers cannot be shared so.
    """
    chunks = chunks_of(model, parallel)
    return tuple(chunks[chunk] for chunk in chunks_held(parallel, stage))


def tokens_at_once(model: Model, parallel: Parallel, batch: Batch, memory: MemoryPlan) -> Fraction:
    """Tokens of a micro-batch that go through a tensor parallel group at once.

    Under ring attention all ranks of a context parallel group work on a single token together.
    """
    whole = sequence_of(model, batch)
    length = whole if memory.phase == "training" else batch.chunk or whole
    return Fraction(batch.micro * length, 1 if length == 1 else parallel.cp)


def check_fit(
    model: Model,
    parallel: Parallel,
    batch: Batch,
    memory: MemoryPlan | None = None,
    traffic: TrafficPlan | None = None,
) -> None:
    """Refuse a plan that the model or the batch cannot be cut by.

    Raises
    ------
    ModelError
        With the first reason.
    """
    for error in misfits(model, parallel, batch, memory, traffic):
        raise error


def misfits(
    model: Model,
    parallel: Parallel,
    batch: Batch,
    memory: MemoryPlan | None = None,
    traffic: TrafficPlan | None = None,
) -> Iterator[ModelError]:
    """Find every reason why a plan cannot be laid out, with the path of what is to blame."""
    yield from _tensor_misfits(model, parallel)
    yield from _expert_misfits(model, parallel)
    yield from _sequence_misfits(model, parallel, sequence_of(model, batch))
    try:
        chunks_of(model, parallel)
    except ModelError as error:
        yield error
    yield from _batch_misfits(parallel, batch)
    yield from _chunk_misfits(parallel, batch, sequence_of(model, batch), memory)
    if traffic is not None and traffic.node is not None:
        yield from _machine_misfits(parallel, traffic, traffic.node)


def _tensor_misfits(model: Model, parallel: Parallel) -> Iterator[ModelError]:
    tp, at = parallel.tp, ("parallel", "tp")
    experts = model.experts
    widths = [(model.heads, "heads"), (model.vocab, "tokens of the vocabulary")]
    if experts is None or experts.dense_layers:
        widths.append((model.ffn, "columns of the MLP"))
    if experts is not None:
        widths.append((experts.ffn, "columns of an expert"))
    for width, what in widths:
        if width % tp:
            hint = "; pad vocab" if width == model.vocab else ""
            yield ModelError(f"tp of {tp} does not divide {width} {what}{hint}", at)
    if model.latent is None and model.kv_heads % tp and tp % model.kv_heads:
        message = f"tp of {tp} neither divides nor is a multiple of {model.kv_heads} heads of keys and values"
        yield ModelError(message, at)


def _expert_misfits(model: Model, parallel: Parallel) -> Iterator[ModelError]:
    ep, at = parallel.ep, ("parallel", "ep")
    if ep == 1:
        return
    if model.experts is None:
        yield ModelError(f"{model.name} has no experts to share among {ep} ranks", at)
    elif model.experts.count % ep:
        yield ModelError(f"ep of {ep} does not divide {model.experts.count} experts", at)
    if parallel.zero and parallel.sharded % ep:
        message = f"ep of {ep} does not divide the {parallel.sharded} ranks that ZeRO shards over"
        yield ModelError(message, ("parallel", "shard"))


def _sequence_misfits(model: Model, parallel: Parallel, sequence: int) -> Iterator[ModelError]:
    tp, cp = parallel.tp, parallel.cp
    if model.positions and sequence > model.positions:
        message = f"{sequence} tokens are more than the model's {model.positions} positions"
        yield ModelError(message, ("batch", "sequence"))
    if sequence % cp:
        yield ModelError(f"cp of {cp} does not divide {sequence} tokens", ("parallel", "cp"))
    elif parallel.sp and sequence // cp % tp:
        message = f"tp of {tp} does not divide the {sequence // cp} tokens of a rank"
        yield ModelError(message, ("parallel", "sp"))
    if parallel.cp_kind == "ulysses" and cp > 1:
        yield from _ulysses_misfits(model, tp * cp)


def _ulysses_misfits(model: Model, ranks: int) -> Iterator[ModelError]:
    at = ("parallel", "cp")
    if model.heads % ranks:
        yield ModelError(f"ulysses: tp x cp of {ranks} does not divide {model.heads} heads", at)
    if model.latent is None and model.kv_heads % ranks and ranks % model.kv_heads:
        what = f"{model.kv_heads} heads of keys and values"
        yield ModelError(f"ulysses: tp x cp of {ranks} neither divides nor is a multiple of {what}", at)


def _chunk_misfits(
    parallel: Parallel, batch: Batch, sequence: int, memory: MemoryPlan | None
) -> Iterator[ModelError]:
    """What goes through at once must be cut as the sequence is; one token is worked on by a whole ring."""
    chunk, at = batch.chunk, ("batch", "chunk")
    if chunk is None:
        return
    if memory is not None and memory.phase == "training":
        yield ModelError("training works on whole sequences; chunk is for inference", at)
        return
    if chunk > sequence:
        yield ModelError(f"{chunk} tokens at once are more than the {sequence} of a sequence", at)
    shared = 1 if chunk == 1 and parallel.cp_kind == "ring" else parallel.cp
    if chunk % shared:
        yield ModelError(f"cp of {shared} does not divide {_tokens(chunk)} at once", at)
    elif parallel.sp and chunk // shared % parallel.tp:
        message = f"sp: tp of {parallel.tp} does not divide {_tokens(chunk // shared)} at once"
        yield ModelError(message, at)


def _tokens(count: int) -> str:
    return f"{count} token{'' if count == 1 else 's'}"


def _machine_misfits(parallel: Parallel, traffic: TrafficPlan, node: int) -> Iterator[ModelError]:
    if parallel.ranks > node and parallel.ranks % node:
        message = f"machines of {node} ranks do not divide {parallel.ranks} ranks"
        yield ModelError(message, ("traffic", "node"))
        return
    machines = max(parallel.ranks // node, 1)
    if traffic.nodes_limit is not None and traffic.nodes_limit > machines:
        message = f"{traffic.nodes_limit} are more than the {machines} machines there are"
        yield ModelError(message, ("traffic", "nodes_limit"))
    if parallel.ep > 1:
        from simulator.llm.layer_calls import near_ranks

        try:
            near_ranks(parallel, node)
        except ModelError as error:
            yield error


def _batch_misfits(parallel: Parallel, batch: Batch) -> Iterator[ModelError]:
    try:
        microbatches = batch.microbatches(parallel)
    except ModelError as error:
        yield ModelError(error.message, ("batch", *error.at))
        return
    if parallel.interleave > 1 and microbatches % parallel.pp:
        message = f"{microbatches} micro-batches are not a multiple of {parallel.pp} stages"
        yield ModelError(message, ("parallel", "interleave"))
    if parallel.schedule == "dualpipe" and (microbatches % 2 or microbatches < 2 * parallel.pp):
        needed = f"an even number of micro-batches, at least {2 * parallel.pp}"
        message = f"dualpipe on {parallel.pp} stages needs {needed}, found {microbatches}"
        yield ModelError(message, ("parallel", "schedule"))
