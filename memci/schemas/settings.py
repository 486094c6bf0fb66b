"""Settings of one agent: the parameters of its memory network and of its pages."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from memci.domain.agent import MOST_WHOLE, OPEN, RANGES, range_of
from memci.schemas.base import Answer, Request

_INCLUSIVE = ("minimum", "maximum")


class _Within:
    """Holds a number to the range that the domain gives this parameter; errors tell both ends."""

    def __init__(self, name: str) -> None:
        self._open = name in OPEN
        self._low, high = RANGES[name]
        self._high = high if self._open else min(high, MOST_WHOLE)
        self._said = range_of(name, self._high)

    def __get_pydantic_core_schema__(self, of: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(of))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        least, most = ("exclusiveMinimum", "exclusiveMaximum") if self._open else _INCLUSIVE
        bounds = {least: self._low, most: self._high}
        return {**handler(core), **{name: each for name, each in bounds.items() if each < inf}}

    def _check(self, value: float) -> float:
        low, high = self._low, self._high
        if not (low < value < high if self._open else low <= value <= high):
            raise ValueError(self._said)
        return value


class SettingsRequest(Request):
    """What differs from the defaults, all of it: what is left out goes back to its default."""

    focus_limit: Annotated[StrictInt, _Within("focus_limit")] | None = None
    decay_rate: Annotated[StrictFloat, _Within("decay_rate")] | None = None
    link_initial_strength: Annotated[StrictFloat, _Within("link_initial_strength")] | None = None
    link_break_threshold: Annotated[StrictFloat, _Within("link_break_threshold")] | None = None
    delete_threshold: Annotated[StrictInt, _Within("delete_threshold")] | None = None
    time_slice: Annotated[StrictInt, _Within("time_slice")] | None = Field(None, description="ms")
    max_retries: Annotated[StrictInt, _Within("max_retries")] | None = None
    default_search_depth: Annotated[StrictInt, _Within("default_search_depth")] | None = None
    node_capacity: Annotated[StrictInt, _Within("node_capacity")] | None = Field(
        None, description="0 = unbounded"
    )
    compression_base: Literal["original", "current"] | None = None
    min_shrink: Annotated[StrictFloat, _Within("min_shrink")] | None = None
    related_links: Annotated[StrictInt, _Within("related_links")] | None = None
    related_threshold: Annotated[StrictFloat, _Within("related_threshold")] | None = None
    dangling_links: Literal["keep", "drop_on_visit"] | None = None
    llm_tokens_per_day: Annotated[StrictInt, _Within("llm_tokens_per_day")] | None = Field(
        None, description="0 = no bound"
    )
    llm_cost_per_day: Annotated[StrictFloat, _Within("llm_cost_per_day")] | None = Field(
        None, description="US dollars; 0 = no bound"
    )
    simplemem_enabled: StrictBool | None = None
    window_size: Annotated[StrictInt, _Within("window_size")] | None = None
    window_stride: Annotated[StrictInt, _Within("window_stride")] | None = None
    novelty_threshold: Annotated[StrictFloat, _Within("novelty_threshold")] | None = None
    skip_trivial: StrictBool | None = None
    min_content_length: Annotated[StrictInt, _Within("min_content_length")] | None = None
    consolidation_interval: Annotated[StrictInt, _Within("consolidation_interval")] | None = None
    tiered_memory_enabled: StrictBool | None = None
    short_term_ttl_hours: Annotated[StrictFloat, _Within("short_term_ttl_hours")] | None = None
    session_silence_hours: Annotated[StrictFloat, _Within("session_silence_hours")] | None = None
    summarization_enabled: StrictBool | None = None
    summary_threshold: Annotated[StrictInt, _Within("summary_threshold")] | None = Field(
        None, description="Tokens"
    )
    preserve_recent: Annotated[StrictInt, _Within("preserve_recent")] | None = Field(
        None, description="Interactions"
    )
    summary_max_tokens: Annotated[StrictInt, _Within("summary_max_tokens")] | None = None
    long_term_importance_threshold: (
        Annotated[StrictFloat, _Within("long_term_importance_threshold")] | None
    ) = None
    query_analysis_enabled: StrictBool | None = None
    k_min: Annotated[StrictInt, _Within("k_min")] | None = None
    k_max: Annotated[StrictInt, _Within("k_max")] | None = None
    complexity_threshold: Annotated[StrictFloat, _Within("complexity_threshold")] | None = None
    prompt_cache_enabled: StrictBool | None = Field(
        None, description="Contexts begin with what changes least; false: with the best found"
    )
    active_pages: Annotated[StrictInt, _Within("active_pages")] | None = None
    archive_unused: Annotated[StrictInt, _Within("archive_unused")] | None = Field(
        None, description="Interactions"
    )
    archive_unrecalled: Annotated[StrictInt, _Within("archive_unrecalled")] | None = Field(
        None, description="Interactions"
    )
    contents_max_tokens: Annotated[StrictInt, _Within("contents_max_tokens")] | None = None
    window_max_tokens: Annotated[StrictInt, _Within("window_max_tokens")] | None = None
    collapse_above: Annotated[StrictFloat, _Within("collapse_above")] | None = None
    collapse_to: Annotated[StrictFloat, _Within("collapse_to")] | None = None
    max_pins: Annotated[StrictInt, _Within("max_pins")] | None = None
    pins_max_tokens: Annotated[StrictInt, _Within("pins_max_tokens")] | None = None
    key_messages_enabled: StrictBool | None = Field(
        None, description="Pin what users say that must stay in sight"
    )
    key_messages_max: Annotated[StrictInt, _Within("key_messages_max")] | None = None
    key_messages_max_tokens: Annotated[StrictInt, _Within("key_messages_max_tokens")] | None = None
    plan_tracking_enabled: StrictBool | None = Field(
        None, description="Follow the plans that are made in conversations"
    )
    attp: StrictBool | None = Field(None, description="A page of sys explains ATTP to the model")


class SettingsAnswer(Answer):
    """What holds for one agent, and which of it was set for this agent alone."""

    agent_id: str
    parameters: dict[str, bool | int | float | str]
    changed: list[str] = Field(description="Parameters that this agent has of its own")
    warnings: list[str] = Field(description="What there is no room for, with what to do")
