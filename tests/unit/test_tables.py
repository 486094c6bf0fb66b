"""Tables of memci.toml set the settings that they stand for."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from memci.config.settings import load_settings
from memci.config.toml_tables import known_places
from memci.config.unknown_names import misspelt_settings
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConfigurationError

DOCUMENT = Path(__file__).parents[2] / "examples" / "memci.toml"
# All tables; each value differs from its default.
FILE = """
[simplemem]
enabled = false
extraction_model = "dashscope/qwen-turbo"

[simplemem.window]
size = 12
stride = 6

[simplemem.filter]
novelty_threshold = 0.4
skip_trivial = false
min_content_length = 30

[simplemem.retrieval]
query_analysis_enabled = false
k_min = 4
k_max = 20
complexity_threshold = 0.6

[simplemem.consolidation]
interval = 60

[token_optimization]
prompt_cache_enabled = false
[token_optimization.summarization]
enabled = false
threshold = 6000
preserve_recent = 2

[token_optimization.tiered_memory]
enabled = false
short_term_ttl_hours = 12
long_term_importance_threshold = 7
"""


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [each for each in os.environ if each.startswith("MEMCI_")]:
        monkeypatch.delenv(name)


def write(text: str) -> None:
    Path("memci.toml").write_text(text)


def changed() -> dict[str, object]:
    """Return the memory parameters that differ from their defaults."""
    defaults = asdict(MemoryParameters())
    return {k: v for k, v in asdict(load_settings().memory).items() if v != defaults[k]}


def test_every_table_sets_its_parameters():
    write(FILE)
    assert changed() == {
        "simplemem_enabled": False,
        "window_size": 12,
        "window_stride": 6,
        "novelty_threshold": 0.4,
        "skip_trivial": False,
        "min_content_length": 30,
        "query_analysis_enabled": False,
        "k_min": 4,
        "k_max": 20,
        "complexity_threshold": 0.6,
        "consolidation_interval": 60,
        "summarization_enabled": False,
        "summary_threshold": 6000,
        "preserve_recent": 2,
        "tiered_memory_enabled": False,
        "prompt_cache_enabled": False,
        "short_term_ttl_hours": 12,
        "long_term_importance_threshold": 7,
    }
    assert load_settings().model_of("annotator").model == "llm:dashscope/qwen-turbo"
    assert misspelt_settings() == []


@pytest.mark.parametrize(
    ("text", "parameter", "value"),
    [
        ("[simplemem]\nenabled = false", "simplemem_enabled", False),
        ("[simplemem.filter]\nskip_trivial = false", "skip_trivial", False),
        ("[token_optimization.tiered_memory]\nenabled = false", "tiered_memory_enabled", False),
        ("[simplemem.window]\nsize = 3", "window_size", 3),
    ],
)
def test_a_table_sets_nothing_else(text: str, parameter: str, value: object):
    write(text)
    assert changed() == {parameter: value}


def test_a_parameter_overrides_its_table_and_the_environment_overrides_both(
    monkeypatch: pytest.MonkeyPatch,
):
    tables = "[simplemem.window]\nsize = 3\nstride = 2\n"
    write(tables + "[memory]\nwindow_size = 4\n")
    assert changed() == {"window_size": 4, "window_stride": 2}
    monkeypatch.setenv("MEMCI_MEMORY__WINDOW_SIZE", "7")
    monkeypatch.setenv("MEMCI_MEMORY__SKIP_TRIVIAL", "false")
    assert changed() == {"window_size": 7, "window_stride": 2, "skip_trivial": False}


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ('[simplemem.window]\nsize = "ten"', "simplemem.window.size", "a number"),
        ("[simplemem.filter]\nskip_trivial = 1", "simplemem.filter.skip_trivial", "true or false"),
        ("[simplemem.filter]\nnovelty_threshold = 2", "simplemem.filter.novelty_threshold",
         "between 0 and 1"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_reported_with_its_place(text: str, place: str, expected: str):
    write(text)
    with pytest.raises(ConfigurationError, match=f"{expected}.*{place} in memci.toml"):
        load_settings()


def test_the_documented_tables_are_the_defaults():
    documented = DOCUMENT.read_text()
    write(documented)
    assert changed() == {}
    named = [".".join(place) for place in leaves(tomllib.loads(documented))]
    assert sorted(named) == sorted(known_places())
    assert misspelt_settings() == []


def leaves(table: dict[str, object], *place: str) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, *place, name)
        else:
            yield *place, name


def test_unknown_names_are_reported():
    write("[simplemem.windw]\nsize = 3\n[simplemen]\nenabled = true\n")
    reported = {str(each) for each in misspelt_settings()}
    assert reported == {
        (
            "'simplemem.windw.size' in memci.toml is no setting and does nothing; "
            "did you mean 'simplemem.window.size'?"
        ),
        "'simplemen' in memci.toml is no setting and does nothing; did you mean 'simplemem'?",
    }
    assert changed() == {}
