"""Models of published tables, in numbers."""

from __future__ import annotations

from typing import Any

from simulator.llm.model import Experts, LatentAttention, Model, transformer

GPT: dict[str, Any] = {
    "vocab": 51200,
    "sequence": 2048,
    "tied": True,
    "positions": 2048,
    "biases": "all",
    "norm": "layer",
    "dropout": True,
}
"""What Megatron's GPT models have in common."""


def gpt(layers: int, hidden: int, heads: int) -> Model:
    return transformer(name="GPT", layers=layers, hidden=hidden, heads=heads, **GPT)


LLAMA_405B = transformer(
    name="Llama-3 405B",
    layers=126,
    hidden=16384,
    heads=128,
    kv_heads=8,
    ffn=53248,
    gated=True,
    vocab=128256,
    sequence=8192,
)
LLAMA_2_70B = transformer(
    name="Llama-2 70B",
    layers=80,
    hidden=8192,
    heads=64,
    kv_heads=8,
    ffn=28672,
    gated=True,
    vocab=32000,
    sequence=4096,
)
DEEPSEEK_V3 = transformer(
    name="DeepSeek-V3",
    layers=61,
    hidden=7168,
    heads=128,
    ffn=18432,
    gated=True,
    vocab=129280,
    sequence=4096,
    experts=Experts(count=256, active=8, ffn=2048, shared=1, dense_layers=3),
    latent=LatentAttention(kv_rank=512, rope=64, nope=128, value=128, query_rank=1536),
)
