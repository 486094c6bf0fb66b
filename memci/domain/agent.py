"""Agent ids, and the ranges of an agent's parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, fields
from math import inf
from typing import Any, ClassVar, Protocol, TypeVar

from memci.errors import InvalidInputError, NotFoundError

AGENT_ID_PATTERN = r"(?!\.+$)[A-Za-z0-9._:@-]{1,128}"
# Where agents are found: of this an interface tells its own part.
LISTED = "GET /v1/agents and `memci agents` list those there are"
# What to do where a name is written otherwise, as most of the world writes its names.
ANOTHER_SCRIPT = "for a name in another script choose an id of these, such as zhang-san or user-17"
_AGENT_ID = re.compile(AGENT_ID_PATTERN)


def check_agent_id(agent_id: object) -> str:
    """Return the id, or raise ``InvalidInputError``.

    Ids become queue names and URL paths: no slash, no blank, and not dots alone.
    """
    if isinstance(agent_id, str) and _AGENT_ID.fullmatch(agent_id):
        return agent_id
    raise InvalidInputError(
        "agent_id: expected 1 to 128 of the characters A-Z a-z 0-9 . _ : @ -, not dots alone; "
        f"{ANOTHER_SCRIPT}",
        field="agent_id",
    )


def no_agent(agent_id: str) -> NotFoundError:
    """Return the error of whoever asks something of an agent that is not there (M1)."""
    return NotFoundError(
        f"there is no agent {agent_id}: one exists from its first message on; {LISTED}"
    )


class DataclassInstance(Protocol):
    """Parameters are dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


P = TypeVar("P", bound=DataclassInstance)

# Lowest and highest value of each number, both allowed unless OPEN names the parameter.
RANGES: dict[str, tuple[float, float]] = {
    "focus_limit": (0, 100),
    "decay_rate": (0, 1),
    "link_initial_strength": (0, 1),
    "link_break_threshold": (0, 1),
    "delete_threshold": (1, inf),
    "time_slice": (100, inf),
    "max_retries": (1, 100),
    "default_search_depth": (0, 10),
    "node_capacity": (0, inf),
    "min_shrink": (0, 1),
    "related_links": (0, 100),
    "related_threshold": (-1, 1),
    "llm_tokens_per_day": (0, inf),
    "llm_cost_per_day": (0, inf),
    "window_size": (1, 100),
    "window_stride": (1, 100),
    "novelty_threshold": (0, 1),
    "min_content_length": (0, inf),
    "consolidation_interval": (1, inf),
    "short_term_ttl_hours": (0, inf),
    "session_silence_hours": (0, inf),
    "long_term_importance_threshold": (0, 10),
    "k_min": (1, 200),
    "k_max": (1, 200),
    "complexity_threshold": (0, 1),
    "summary_threshold": (1, inf),
    "preserve_recent": (0, 1_000),
    "summary_max_tokens": (16, 100_000),
    "active_pages": (1, 1_000),
    "archive_unused": (1, inf),
    "archive_unrecalled": (1, inf),
    "contents_max_tokens": (0, inf),
    "window_max_tokens": (1, inf),
    "collapse_above": (0, 1),
    "collapse_to": (0, 1),
    "max_pins": (0, 1_000),
    "pins_max_tokens": (0, inf),
    "key_messages_max": (0, 100),
    "key_messages_max_tokens": (0, inf),
}
# Whole numbers are counted with in PostgreSQL's integer.
MOST_WHOLE = 2**31 - 1
OPEN = frozenset({"decay_rate", "short_term_ttl_hours", "session_silence_hours"})
CHOICES: dict[str, tuple[str, ...]] = {
    "compression_base": ("original", "current"),
    "dangling_links": ("keep", "drop_on_visit"),
}
SWITCHES = frozenset(
    {
        "simplemem_enabled",
        "skip_trivial",
        "tiered_memory_enabled",
        "query_analysis_enabled",
        "prompt_cache_enabled",
        "attp",
        "summarization_enabled",
        "key_messages_enabled",
        "plan_tracking_enabled",
    }
)


def check_all(parameters: DataclassInstance) -> None:
    """Check every value against its range; ``InvalidInputError`` names the field."""
    for each in fields(parameters):
        _check(each.name, getattr(parameters, each.name), whole=each.type == "int")


def replaced(parameters: P, values: Mapping[str, object]) -> P:
    """Return a copy with some values replaced; an unknown name is an error."""
    known = {each.name: getattr(parameters, each.name) for each in fields(parameters)}
    for name in values:
        if name not in known:
            raise InvalidInputError(
                f"unknown parameter; known are {', '.join(sorted(known))}", field=name
            )
    return type(parameters)(**{**known, **values})


def _check(name: str, value: object, *, whole: bool) -> None:
    if name in SWITCHES:
        if not isinstance(value, bool):
            raise InvalidInputError("expected true or false", field=name)
        return
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise InvalidInputError(f"expected one of {', '.join(CHOICES[name])}", field=name)
        return
    low, high = RANGES[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInputError("expected a number", field=name)
    if whole and not isinstance(value, int):
        raise InvalidInputError("expected a whole number", field=name)
    most = MOST_WHOLE if whole else inf
    inside = low < value < high if name in OPEN else low <= value <= min(high, most)
    if not inside:
        raise InvalidInputError(range_of(name, most), field=name)


def range_of(name: str, most: float = inf) -> str:
    """Say what a number has to be, both ends of it; none is above ``most``."""
    low, high = RANGES[name][0], min(RANGES[name][1], most)
    if name in OPEN:
        return f"expected a number above {low:g}" + (f" and below {high:g}" if high < inf else "")
    if high == inf:
        return f"expected a number of {low:g} or more"
    return f"expected a number between {low:g} and {high:.12g}"
