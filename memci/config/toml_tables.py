"""Tables of memci.toml that group settings by what they do (seed 001, section 5).

``[simplemem.filter] novelty_threshold`` is ``novelty_threshold`` of ``[memory]`` under another
name, and so on. A setting that stands in the file under its own name wins over its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

# Where a value stands in the file, and where it belongs among the settings.
Place: TypeAlias = tuple[str, ...]


class _Target(NamedTuple):
    settings: tuple[Place, ...]
    prefix: str = ""  # put before the value, when that is text


def _memory(name: str) -> _Target:
    return _Target((("memory", name),))


_TARGETS: dict[Place, _Target] = {
    ("simplemem", "enabled"): _memory("simplemem_enabled"),
    # Named as LiteLLM names models: provider/model.
    ("simplemem", "extraction_model"): _Target((("models", "annotator", "model"),), prefix="llm:"),
    ("simplemem", "window", "size"): _memory("window_size"),
    ("simplemem", "window", "stride"): _memory("window_stride"),
    ("simplemem", "filter", "novelty_threshold"): _memory("novelty_threshold"),
    ("simplemem", "filter", "skip_trivial"): _memory("skip_trivial"),
    ("simplemem", "filter", "min_content_length"): _memory("min_content_length"),
    ("simplemem", "retrieval", "query_analysis_enabled"): _memory("query_analysis_enabled"),
    ("simplemem", "retrieval", "k_min"): _memory("k_min"),
    ("simplemem", "retrieval", "k_max"): _memory("k_max"),
    ("simplemem", "retrieval", "complexity_threshold"): _memory("complexity_threshold"),
    ("simplemem", "consolidation", "interval"): _memory("consolidation_interval"),
    ("token_optimization", "prompt_cache_enabled"): _memory("prompt_cache_enabled"),
    ("token_optimization", "summarization", "enabled"): _memory("summarization_enabled"),
    ("token_optimization", "summarization", "threshold"): _memory("summary_threshold"),
    ("token_optimization", "summarization", "preserve_recent"): _memory("preserve_recent"),
    ("token_optimization", "tiered_memory", "enabled"): _memory("tiered_memory_enabled"),
    ("token_optimization", "tiered_memory", "short_term_ttl_hours"): _memory(
        "short_term_ttl_hours"
    ),
    ("token_optimization", "tiered_memory", "long_term_importance_threshold"): _memory(
        "long_term_importance_threshold"
    ),
}
TABLES = frozenset(place[0] for place in _TARGETS)


def as_settings(file: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a memci.toml sets, with the values of tables where the settings have them."""
    found: dict[str, Any] = {}
    for place, value in _values(file):
        target = _TARGETS.get(place)
        for setting in target.settings if target else ():
            _put(found, setting, f"{target.prefix}{value}" if target and target.prefix else value)
    for name, value in file.items():
        if name not in TABLES:
            both = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
            found[name] = {**found[name], **value} if both else value
    return found


def unknown_places(file: Mapping[str, Any]) -> list[str]:
    """Return what stands in the tables and belongs to no setting, such as ``simplemem.windw``."""
    return [".".join(place) for place, _ in _values(file) if place not in _TARGETS]


def known_places() -> list[str]:
    """Return all that the tables may hold."""
    return [".".join(place) for place in _TARGETS]


def place_of(setting: Place, file: Mapping[str, Any]) -> str | None:
    """Return where in the file's tables the value of a setting stands; None: in no table."""
    for place, _ in _values(file):
        target = _TARGETS.get(place)
        if target is not None and setting in target.settings:
            return ".".join(place)
    return None


def _values(file: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    for name in sorted(TABLES & file.keys()):
        yield from _leaves((name,), file[name])


def _leaves(place: Place, value: object) -> Iterator[tuple[Place, Any]]:
    if not isinstance(value, Mapping):
        yield place, value
        return
    for name, inner in value.items():
        yield from _leaves((*place, name), inner)


def _put(settings: dict[str, Any], place: Place, value: object) -> None:
    *tables, name = place
    for table in tables:
        settings = settings.setdefault(table, {})
    settings[name] = value
