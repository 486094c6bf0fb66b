"""Tables of memci.toml that group settings by what they do (seed 001, section 5).

``[simplemem.filter] novelty_threshold`` is ``novelty_threshold`` of ``[memory]`` under another
name, and so on. A setting under its own name in the file wins over these tables.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

# Names of tables and of a value in them: where it is in the file, or among the settings.
Place: TypeAlias = tuple[str, ...]

# LiteLLM's name of a model, as provider/model.
_EXTRACTION_MODEL: Place = ("simplemem", "extraction_model")
# The parameter of ``[memory]`` for each value of the tables.
_PARAMETERS: dict[Place, str] = {
    ("simplemem", "enabled"): "simplemem_enabled",
    ("simplemem", "window", "size"): "window_size",
    ("simplemem", "window", "stride"): "window_stride",
    ("simplemem", "filter", "novelty_threshold"): "novelty_threshold",
    ("simplemem", "filter", "skip_trivial"): "skip_trivial",
    ("simplemem", "filter", "min_content_length"): "min_content_length",
    ("simplemem", "retrieval", "query_analysis_enabled"): "query_analysis_enabled",
    ("simplemem", "retrieval", "k_min"): "k_min",
    ("simplemem", "retrieval", "k_max"): "k_max",
    ("simplemem", "retrieval", "complexity_threshold"): "complexity_threshold",
    ("simplemem", "consolidation", "interval"): "consolidation_interval",
    ("token_optimization", "prompt_cache_enabled"): "prompt_cache_enabled",
    ("token_optimization", "summarization", "enabled"): "summarization_enabled",
    ("token_optimization", "summarization", "threshold"): "summary_threshold",
    ("token_optimization", "summarization", "preserve_recent"): "preserve_recent",
    ("token_optimization", "tiered_memory", "enabled"): "tiered_memory_enabled",
    ("token_optimization", "tiered_memory", "short_term_ttl_hours"): "short_term_ttl_hours",
    ("token_optimization", "tiered_memory", "long_term_importance_threshold"): (
        "long_term_importance_threshold"
    ),
}
_TARGETS: dict[Place, Place] = {
    _EXTRACTION_MODEL: ("models", "annotator", "model"),
    **{place: ("memory", name) for place, name in _PARAMETERS.items()},
}
TABLES = frozenset(place[0] for place in _TARGETS)


def as_settings(file: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a memci.toml, with the values of these tables in their places."""
    found: dict[str, Any] = {}
    for place, value in _values(file):
        if place in _TARGETS:
            *tables, name = _TARGETS[place]
            inner = found
            for table in tables:
                inner = inner.setdefault(table, {})
            inner[name] = f"llm:{value}" if place == _EXTRACTION_MODEL else value
    return _merged(found, {name: value for name, value in file.items() if name not in TABLES})


def _merged(values: Mapping[str, Any], winning: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**values, **winning}
    for name in values.keys() & winning.keys():
        if isinstance(values[name], Mapping) and isinstance(winning[name], Mapping):
            merged[name] = _merged(values[name], winning[name])
    return merged


def unknown_places(file: Mapping[str, Any]) -> list[str]:
    """Return the unknown names in the tables, such as ``simplemem.windw``."""
    return [".".join(place) for place, _ in _values(file) if place not in _TARGETS]


def known_places() -> list[str]:
    """Return all names that the tables may contain."""
    return [".".join(place) for place in _TARGETS]


def place_of(setting: Place, file: Mapping[str, Any]) -> str | None:
    """Return where in the file's tables the value of a setting is; None if it is in no table."""
    places = (place for place, _ in _values(file) if _TARGETS.get(place) == setting)
    found = next(places, None)
    return ".".join(found) if found else None


def _values(file: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    for name in sorted(TABLES & file.keys()):
        yield from leaves((name,), file[name])


def leaves(place: Place, value: object) -> Iterator[tuple[Place, Any]]:
    """Yield each value in nested tables with its place, which begins with ``place``."""
    if not isinstance(value, Mapping):
        yield place, value
        return
    for name, inner in value.items():
        yield from leaves((*place, name), inner)
