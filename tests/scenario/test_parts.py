"""Presets of models and accelerators: all of them load, say their sources, and are what they are."""

from __future__ import annotations

import pytest

from simulator.llm.model import Model
from simulator.scenario.library import PRESETS, library_folder
from simulator.scenario.parts import FOLDERS, part_names
from simulator.scenario.plan_load import loads_plan
from tests.llm.published import DEEPSEEK_V3, LLAMA_2_70B, LLAMA_405B, gpt

# parameters: as the checkpoints on their makers' pages have them; of GPTs, Narayanan et al. 2021,
# equation 2, and the final norm
CHECKPOINTS = {
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
    "mixtral-8x7b": 46_702_792_704,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-72b": 72_706_203_648,
}
GPTS = {
    "gpt3-175b": (96, 12288, 96),
    "korthikanti-22b": (48, 6144, 64),
    "korthikanti-175b": (96, 12288, 96),
    "korthikanti-530b": (105, 20480, 128),
    "korthikanti-1t": (128, 25600, 160),
    "narayanan-1.7b": (24, 2304, 24),
    "narayanan-3.6b": (30, 3072, 32),
    "narayanan-7.5b": (36, 4096, 32),
    "narayanan-18.4b": (40, 6144, 48),
    "narayanan-39.1b": (48, 8192, 64),
    "narayanan-76.1b": (60, 10240, 80),
    "narayanan-145.6b": (80, 12288, 96),
    "narayanan-310.1b": (96, 16384, 128),
    "narayanan-529.6b": (105, 20480, 128),
    "narayanan-1008b": (128, 25600, 160),
}


def model(name: str) -> Model:
    return loads_plan(f"model: {name}\nbatch: {{global: 1}}\n").model


def test_presets_of_the_issue() -> None:
    assert set(part_names("model")) == {*CHECKPOINTS, *GPTS, "deepseek-v3"}
    assert part_names("hardware") == ("a100-80g", "h100-80g", "h800", "mi300x", "sg2260")


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_parameters_of_checkpoints(name: str) -> None:
    assert model(name).parameters() == CHECKPOINTS[name]


@pytest.mark.parametrize("name", GPTS)
def test_parameters_of_gpts(name: str) -> None:
    layers, hidden, heads = GPTS[name]
    found = model(name)
    assert found.parameters() == gpt(layers, hidden, heads).parameters()
    assert (found.heads, found.sequence, found.dropout) == (heads, 2048, True)
    size = name.partition("-")[2].removesuffix("b")
    if name.startswith("narayanan"):
        assert found.parameters() / 1e9 == pytest.approx(float(size), abs=0.05)


def test_presets_are_the_published_models() -> None:
    for name, published in (
        ("deepseek-v3", DEEPSEEK_V3),
        ("llama3-405b", LLAMA_405B),
        ("llama2-70b", LLAMA_2_70B),
    ):
        found = model(name)
        assert tuple(found.weights()) == tuple(published.weights())


@pytest.mark.parametrize(
    ("name", "size"), [("llama3-405b", 516_096), ("llama2-70b", 327_680), ("deepseek-v3", 70_272)]
)
def test_bytes_of_a_tokens_cache(name: str, size: int) -> None:
    from simulator.llm.cache import cache_per_token
    from simulator.llm.plan import MemoryPlan

    assert cache_per_token(model(name), MemoryPlan()) == size


@pytest.mark.parametrize("part", FOLDERS)
def test_every_preset_says_its_source_and_grades(part: str) -> None:
    for name in part_names(part):  # type: ignore[arg-type]
        text = (library_folder() / PRESETS / FOLDERS[part] / f"{name}.yaml").read_text("utf-8")  # type: ignore[index]
        assert text.startswith("# ")
        assert "# Grades: V " in text
        assert "[1] " in text
        assert "\n  source: " in text


@pytest.mark.parametrize("name", part_names("hardware"))
def test_hardware(name: str) -> None:
    found = loads_plan(f"model: llama3-8b\nhardware: {name}\nbatch: {{global: 1}}\n").hardware
    assert found is not None
    assert found.source
    assert 2**36 <= found.capacity <= 2**38
    assert 1e14 <= found.compute <= 2e15
    assert 1e11 <= found.memory_bandwidth <= 1e13
