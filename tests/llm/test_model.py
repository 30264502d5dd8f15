"""Parameters of models: published sizes, closed forms, and counts by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.model import Experts, transformer
from tests.llm.published import DEEPSEEK_V3, LLAMA_2_70B, LLAMA_405B, gpt

# Narayanan et al. 2021, table 1: billions of parameters, heads, hidden, layers
NARAYANAN = [
    (1.7, 24, 2304, 24),
    (3.6, 32, 3072, 30),
    (7.5, 32, 4096, 36),
    (18.4, 48, 6144, 40),
    (39.1, 64, 8192, 48),
    (76.1, 80, 10240, 60),
    (145.6, 96, 12288, 80),
    (310.1, 128, 16384, 96),
    (529.6, 128, 20480, 105),
    (1008.0, 160, 25600, 128),
]


@pytest.mark.parametrize(("billions", "heads", "hidden", "layers"), NARAYANAN)
def test_sizes_of_narayanan_2021(billions: float, heads: int, hidden: int, layers: int) -> None:
    model = gpt(layers, hidden, heads)
    assert round(model.parameters() / 1e9, 1) == billions
    # their equation 2, and the final norm's two vectors, which it leaves out
    bracket = 1 + Fraction(13, 12 * hidden) + Fraction(51200 + 2048, 12 * layers * hidden)
    assert model.parameters() - 2 * hidden == 12 * layers * hidden**2 * bracket


def test_llama_3_405b() -> None:
    assert LLAMA_405B.parameters() == 405_853_388_800  # 405.85 B
    layer = 2 * 16384**2 + 2 * 16384 * 1024 + 3 * 16384 * 53248 + 2 * 16384
    assert LLAMA_405B.layer_parameters(0) == layer
    assert LLAMA_405B.parameters() == 126 * layer + 2 * 128256 * 16384 + 16384


def test_llama_2_70b() -> None:
    assert LLAMA_2_70B.parameters() == 68_976_648_192  # as its checkpoint has it


def test_deepseek_v3() -> None:
    """671 B in all, 37 B active (DeepSeek-V3 technical report, section 1)."""
    assert round(DEEPSEEK_V3.parameters() / 1e9) == 671
    assert 37e9 < DEEPSEEK_V3.active_parameters() < 38e9
    expert = 3 * 7168 * 2048
    assert DEEPSEEK_V3.part_parameters("experts") == 58 * 256 * expert
    assert DEEPSEEK_V3.part_parameters("router") == 58 * 256 * 7168
    assert DEEPSEEK_V3.part_parameters("mlp") == 58 * expert + 3 * 3 * 7168 * 18432
    down = 7168 * (1536 + 512 + 64)
    up = 1536 * 128 * 192 + 512 * 128 * 256
    assert DEEPSEEK_V3.part_parameters("attention") == 61 * (down + up + 128 * 128 * 7168)
    assert [DEEPSEEK_V3.is_sparse(layer) for layer in (0, 2, 3, 60)] == [False, False, True, True]


def test_parts_are_the_whole() -> None:
    parts = ("embedding", "attention", "mlp", "experts", "router", "norms", "head")
    for model in (DEEPSEEK_V3, LLAMA_405B, gpt(4, 64, 4)):
        assert sum(map(model.part_parameters, parts)) == model.parameters()


def test_a_tied_output_layer_is_no_second_one() -> None:
    untied = transformer(layers=2, hidden=64, heads=4, vocab=512, sequence=128)
    tied = transformer(layers=2, hidden=64, heads=4, vocab=512, sequence=128, tied=True)
    assert untied.parameters() - tied.parameters() == 512 * 64


def test_numbers_that_do_not_go_together() -> None:
    with pytest.raises(ModelError, match="3 heads do not divide 64"):
        transformer(layers=2, hidden=64, heads=3, vocab=512, sequence=128)
    with pytest.raises(ModelError, match="found 4097 layers, expected at most 4096"):
        transformer(layers=4097, hidden=64, heads=4, vocab=512, sequence=128)
    with pytest.raises(ModelError, match="4 heads cannot share 3 heads"):
        transformer(layers=2, hidden=64, heads=4, kv_heads=3, vocab=512, sequence=128)
    with pytest.raises(ModelError, match="a token cannot go to 9 of 8 experts"):
        Experts(count=8, active=9, ffn=64)
    experts = Experts(count=8, active=2, ffn=64, dense_layers=3)
    with pytest.raises(ModelError, match="3 dense layers are more than 2"):
        transformer(layers=2, hidden=64, heads=4, vocab=512, sequence=128, experts=experts)
