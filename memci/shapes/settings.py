"""Settings of one agent: the parameters of its memory network."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from memci.domain.memory.parameters import OPEN, RANGES
from memci.shapes.base import Answer, Request

# Whole numbers stay within PostgreSQL's integer.
_MOST = 2**31 - 1


def _within(name: str) -> Any:
    """Return a field with the range that the domain gives this parameter."""
    low, high = RANGES[name]
    if name in OPEN:
        return Field(gt=low, lt=high)
    return Field(ge=low, le=min(high, _MOST))


class SettingsRequest(Request):
    """What differs from the defaults, all of it: what is left out goes back to its default."""

    focus_limit: Annotated[StrictInt, _within("focus_limit")] | None = None
    decay_rate: Annotated[StrictFloat, _within("decay_rate")] | None = None
    link_initial_strength: Annotated[StrictFloat, _within("link_initial_strength")] | None = None
    link_break_threshold: Annotated[StrictFloat, _within("link_break_threshold")] | None = None
    delete_threshold: Annotated[StrictInt, _within("delete_threshold")] | None = None
    time_slice: Annotated[StrictInt, _within("time_slice")] | None = Field(None, description="ms")
    max_retries: Annotated[StrictInt, _within("max_retries")] | None = None
    default_search_depth: Annotated[StrictInt, _within("default_search_depth")] | None = None
    node_capacity: Annotated[StrictInt, _within("node_capacity")] | None = Field(
        None, description="0 = unbounded"
    )
    compression_base: Literal["original", "current"] | None = None
    min_shrink: Annotated[StrictFloat, _within("min_shrink")] | None = None
    related_links: Annotated[StrictInt, _within("related_links")] | None = None
    related_threshold: Annotated[StrictFloat, _within("related_threshold")] | None = None
    dangling_links: Literal["keep", "drop_on_visit"] | None = None
    llm_tokens_per_day: Annotated[StrictInt, _within("llm_tokens_per_day")] | None = Field(
        None, description="0 = no bound"
    )
    llm_cost_per_day: Annotated[StrictFloat, _within("llm_cost_per_day")] | None = Field(
        None, description="US dollars; 0 = no bound"
    )
    simplemem_enabled: StrictBool | None = None
    window_size: Annotated[StrictInt, _within("window_size")] | None = None
    window_stride: Annotated[StrictInt, _within("window_stride")] | None = None
    novelty_threshold: Annotated[StrictFloat, _within("novelty_threshold")] | None = None
    skip_trivial: StrictBool | None = None
    min_content_length: Annotated[StrictInt, _within("min_content_length")] | None = None
    consolidation_interval: Annotated[StrictInt, _within("consolidation_interval")] | None = None
    tiered_memory_enabled: StrictBool | None = None
    short_term_ttl_hours: Annotated[StrictFloat, _within("short_term_ttl_hours")] | None = None
    long_term_importance_threshold: (
        Annotated[StrictFloat, _within("long_term_importance_threshold")] | None
    ) = None


class SettingsAnswer(Answer):
    """What holds for one agent, and which of it was set for this agent alone."""

    agent_id: str
    parameters: dict[str, bool | int | float | str]
    changed: list[str] = Field(description="Parameters that this agent has of its own")
