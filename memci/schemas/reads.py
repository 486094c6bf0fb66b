"""Reads: recall, search and context, asked and answered."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from memci.domain.agent import ANOTHER_SCRIPT
from memci.domain.context.message_list import Section
from memci.domain.context.token_budget import Utterance
from memci.domain.documents import COLLECTION_PATTERN
from memci.domain.memory.recall import Miss
from memci.domain.pages.pins import Maker
from memci.domain.search.candidate import Channel, Source
from memci.domain.session.plan import StepState
from memci.language.key_messages.rules import PinKind
from memci.message import Role
from memci.schemas.base import (
    Answer,
    BudgetTokens,
    ForeignId,
    Instant,
    JsonObject,
    Query,
    Request,
    Seq,
    Text,
    Until,
    WaitMs,
    Wanted,
    expect_in_order,
    or_nothing,
)
from memci.schemas.messages import ToolCall


def _collection(name: str) -> str:
    if not re.fullmatch(COLLECTION_PATTERN, name):
        raise ValueError(
            "expected 1 to 64 of the characters A-Z a-z 0-9 . _ : @ -, not dots alone; "
            f"{ANOTHER_SCRIPT}"
        )
    return name


CollectionName = Annotated[
    Text,
    AfterValidator(_collection),
    WithJsonSchema({"type": "string", "pattern": f"^{COLLECTION_PATTERN}$"}),
]

# Closed sets that rules of the domain use too belong to the surface as well.
__all__ = ["Channel", "Miss", "Section", "Source"]

# What is longer than a keyword can be names nothing; a million characters are cut, not refused.
Keyword = Annotated[Text, StringConstraints(min_length=1)]


class Fresh(Request):  # R18
    """How fresh a read has to be."""

    min_seq: Seq | None = Field(None, description="Wait until memory has caught up with this seq")
    wait_ms: WaitMs = Field(0, description="… at most this long; then answer with what there is")


class Freshness(Answer):  # R18
    """How fresh an answer is."""

    seq: int = Field(description="Memory has caught up with the messages up to here")
    pending: int = Field(description="Messages after it that are still on their way to memory")
    new_agent: bool = Field(
        False, description="Nobody has written to this agent yet: it is new, or its id is misspelt"
    )


class Sighted(Fresh):  # R5, R6
    """Whose memories are in sight, and as of when."""

    session_id: ForeignId | None = Field(
        None, description="See the short-term memories of this session, and the long-term ones"
    )
    user_id: ForeignId | None = Field(None, description="See the long-term memories of this user")
    as_of: Instant | None = Field(
        None, description="See what was believed then: nothing that was said later"
    )


class RecallRequest(Sighted):  # M20
    """Breadth-first search from the focus points."""

    keywords: Annotated[tuple[Keyword, ...], Field(max_length=64)]
    relations: Annotated[tuple[Keyword, ...], Field(max_length=64)] = ()
    depth: Annotated[StrictInt, Field(ge=0, le=10)] | None = Field(
        None, description="Layers out from the focus; default: the agent's default_search_depth"
    )
    limit: Annotated[StrictInt, Field(ge=1, le=1000)] = 20
    budget_tokens: BudgetTokens | None = None
    format: Literal["text", "structured"] = "text"


class RecalledMemory(Answer):
    """A memory in reach that matches."""

    node_id: int
    content: str
    phrase: str
    type: str
    layer: int = Field(description="Links between it and the nearest focus point")
    strength: float = Field(description="Product of the strengths on the best way to it")
    match: float = Field(description="1 for a token that matches, else the best cosine")
    importance: float
    message_ids: list[str]
    said_at: datetime | None
    superseded_by: int | None = Field(None, description="The memory that says otherwise now")
    superseded_at: datetime | None = None


class ForgottenMemory(Answer):  # M15
    """A memory that is gone, but that a link still speaks of."""

    node_id: int = Field(description="What `restore` takes")
    relation: str
    hint: str
    restorable: bool = Field(description="Whether its raw messages are still stored")
    forgotten_at: datetime | None = Field(None, description="Null where its trail does not tell")


KNEW: Any = Field(
    default_factory=list,
    description="Forgotten memories that told of it, and of which no link does; for `restore`",
)


class RecallText(Freshness):
    """Recall for a model: memories between lines of ``---``."""

    text: str
    miss: Miss | None = Field(None, description="Why nothing was found; null when something was")
    knew: list[int] = KNEW


class RecallAnswer(Freshness):
    """Recall for a program."""

    memories: list[RecalledMemory]
    forgotten: list[ForgottenMemory]
    miss: Miss | None = Field(description="Why nothing was found; null when something was")
    knew: list[int] = KNEW


class Filters(Request):
    """What a hit must be like; all given ones must hold."""

    since: Instant | None = Field(None, description="Said at this time or later")
    until: Until | None = Field(
        None, description="Said before this time; a day without a time is meant to its end"
    )
    roles: Annotated[tuple[Role, ...], Field(min_length=1)] | None = None
    names: Annotated[tuple[Text, ...], Field(min_length=1, max_length=64)] | None = Field(
        None, description="Said by one of these, written as in the message"
    )
    sessions: Annotated[tuple[ForeignId, ...], Field(min_length=1, max_length=64)] | None = Field(
        None, description="Said in one of these sessions"
    )
    types: (
        Annotated[tuple[Literal["episodic", "semantic", "procedural"], ...], Field(min_length=1)]
        | None
    ) = Field(None, description="Types of memories; messages have none and are left out")
    tags: Annotated[tuple[Text, ...], Field(min_length=1, max_length=64)] | None = Field(
        None, description="Said with one of these in the `tags` of its metadata"
    )
    metadata: Annotated[JsonObject, Field(min_length=1, max_length=64)] | None = Field(
        None, description="Said with metadata that holds all of this"
    )

    @model_validator(mode="after")
    def _is_a_span(self) -> Self:
        expect_in_order(self.since, self.until)
        return self


class Fusion(StrEnum):  # R11
    """How the channels' findings become one ranking."""

    SCALED = "scaled"
    RRF = "rrf"


class Scope(Sighted):
    """Whose and which part of the memory is read."""

    sources: Annotated[tuple[Source, ...], Field(min_length=1)] = tuple(Source)
    channels: Annotated[tuple[Channel, ...], Field(min_length=1)] = (
        Channel.DENSE,
        Channel.LEXICAL,
    )
    collections: Annotated[tuple[CollectionName, ...], Field(max_length=16)] = Field(
        (), description="Shared collections whose documents are looked into beside the agent's own"
    )
    filters: Filters = Filters()
    fusion: Fusion = Field(
        Fusion.SCALED,
        description="How channels become one ranking: the weighted sum of scaled scores, with what "
        "the question says of its answer; or their reciprocal ranks",
    )
    now: Instant | None = Field(
        None,
        description='What "yesterday" in the question counts from, with the offset of the asker\'s '
        "clock (else UTC); default: as_of, or now",
    )
    explain: StrictBool = False


class SearchRequest(Scope):  # R11
    """Hybrid search over all sources."""

    query: Wanted
    k: Annotated[StrictInt, Field(ge=1, le=200)] | None = None
    budget_tokens: BudgetTokens | None = None


class HitDocument(Answer):  # R9
    """The document that a hit is a piece of, and where in it that stands."""

    name: str
    document_id: int | None = None
    collection: str | None = Field(None, description="Null where it is the agent's own")
    path: str = Field("", description="Headings above it, or symbols around it")
    symbol: str | None = Field(None, description="The qualified name of the code that it is")
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None


class HitPin(Answer):  # R7
    """The pin that a hit is."""

    pin: int = Field(description="Its number, which `unpin` takes")
    kind: PinKind
    by: Maker = Field(description="Who pinned it")


class HitStep(Answer):  # R7
    """The step of a plan that a hit is: that of the session."""

    step: int = Field(description="Its place in the plan, from 1")
    state: StepState


class Hit(Answer):
    """One thing found."""

    text: str
    source: Source
    message_ids: list[str] = Field(
        description="Of a page or a summary the first and the last message that it tells of"
    )
    role: Role | None = Field(None, description="Who said it; null of what is no message")
    name: str | None = Field(None, description="The `name` of the message that it is")
    session_id: str | None = Field(None, description="The session that it is of; null: of none")
    node_id: int | None = Field(
        None, description="The memory that it is, or one made of it that was found as well"
    )
    superseded_by: int | None = Field(None, description="The memory that says otherwise now")
    superseded_at: datetime | None = Field(None, description="Since when; the text says so as well")
    page: str | None = Field(
        None,
        description="The page that it is, or that its first message is on, in the window or "
        "removed from it",
    )
    pin: HitPin | None = Field(None, description="Of pins")
    step: HitStep | None = Field(None, description="Of plans")
    document: HitDocument | None = Field(None, description="Of documents and code")
    created_at: datetime | None = Field(
        description="When it was said, or written; null where nobody knows, as of folders"
    )
    score: float
    channels: dict[str, float] = Field(description="Rank in each channel, from 1, that found it")


class SearchAnswer(Freshness):
    """Hits, best first."""

    hits: list[Hit]
    explain: dict[str, JsonValue] | None = None


class ShownMessage(Request):
    """A message that the caller shows the model by itself."""

    role: Role
    content: Text


class ContextRequest(Scope):  # R13, R14
    """A message list that fits a token budget."""

    query: Annotated[Query | None, AfterValidator(or_nothing)] = Field(
        None, description="The user's message; it ends the list. Blank: none"
    )
    budget_tokens: BudgetTokens
    model: Annotated[Text, Field(max_length=128)] | None = Field(
        None, description="Model or tokenizer whose tokens count"
    )
    system: Annotated[Query | None, AfterValidator(or_nothing)] = Field(
        None,
        description="System text; it begins the list. What is retrieved is headed in its language, "
        "without one in that of the user's recent messages",
    )
    k: Annotated[StrictInt, Field(ge=1, le=200)] | None = None
    recent: Annotated[StrictInt, Field(ge=0, le=200)] | None = Field(
        None, description="Recent interactions to take at most"
    )
    shown: Annotated[tuple[ShownMessage, ...], Field(max_length=1000)] = Field(
        (), description="What the model is shown beside this list: none of it comes again"
    )
    format: Literal["messages"] = "messages"


class ContextMessage(Answer):
    """A message that any chat API takes as it is; what it does not have is left out."""

    role: Role
    content: str | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    @classmethod
    def of(cls, said: Utterance) -> Self:
        """Return a message of an assembled list."""
        return cls(
            role=said.role,
            content=said.content,
            name=said.name,
            tool_calls=[ToolCall.model_validate(call) for call in said.tool_calls] or None,
            tool_call_id=said.tool_call_id,
        )

    # Chat APIs refuse nulls.
    @model_serializer(mode="wrap")
    def _without_nulls(self, write: SerializerFunctionWrapHandler) -> Any:
        return {name: value for name, value in write(self).items() if value is not None}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the fields, of which the serializer only leaves some out."""
        fields: Any = {name: part for name, part in core.items() if name != "serialization"}
        return handler(fields)


class ContextItem(Answer):
    """One piece of the assembled list, and where it came from."""

    section: Section
    text: str
    tokens: int
    message_ids: list[str]


class ContextAnswer(Freshness):
    """The message list, never over its budget, with its account."""

    messages: list[ContextMessage]
    tokens: int
    tokenizer: str = Field(description="The tokenizer whose tokens were counted")
    budget_tokens: int
    items: list[ContextItem]
    stable_prefix: int = Field(
        description="Bytes at the start that are as in the session's last assembly"
    )
    receipt_id: UUID
    explain: dict[str, JsonValue] | None = None

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the messages as plain dicts, as chat APIs and their clients take them."""
        return [each.model_dump(mode="json") for each in self.messages]
