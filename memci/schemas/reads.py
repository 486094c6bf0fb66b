"""Requests and answers of the reads: recall, search and context."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from memci.domain.agent_id import ANOTHER_SCRIPT
from memci.domain.context.message_list import Section
from memci.domain.documents import COLLECTION_PATTERN
from memci.domain.memory.recall import Miss
from memci.domain.pages.pins import Maker, PinKind
from memci.domain.search.candidate import Channel, Source
from memci.domain.session.plan import StepState
from memci.domain.token_counts import Utterance
from memci.message import Role
from memci.schemas import base
from memci.schemas.messages import ToolCall

_EXPECTED = f"1 to 64 of the characters A-Z a-z 0-9 . _ : @ -, not dots alone; {ANOTHER_SCRIPT}"


CollectionName = Annotated[
    base.Text,
    base.matching(COLLECTION_PATTERN, _EXPECTED),
    WithJsonSchema({"type": "string", "pattern": f"^{COLLECTION_PATTERN}$"}),
]


Types = Annotated[tuple[Literal["episodic", "semantic", "procedural"], ...], base.OneOrMany]
Texts = Annotated[tuple[base.Text, ...], Field(min_length=1, max_length=64), base.OneOrMany]
Hits = Annotated[StrictInt, Field(ge=1, le=200)]
# A keyword that is too long is cut, not refused.
Keyword = Annotated[base.Text, StringConstraints(min_length=1)]
Keywords = Annotated[tuple[Keyword, ...], Field(max_length=64), base.OneOrMany]


class Fresh(base.Request):  # R18
    """The freshness that a read needs."""

    min_seq: base.Seq | None = Field(
        None, description="Wait until memory has caught up with this seq"
    )
    wait_ms: base.WaitMs = Field(0, description="Longest wait for min_seq; then answer anyway")


class Freshness(base.Answer):  # R18
    """The freshness of an answer."""

    seq: int = Field(description="Memory has caught up with this message")
    pending: int = Field(description="Later messages that memory has not read yet")
    new_agent: bool = Field(False, description="It has no messages: new, or its id is misspelt")


class Viewpoint(Fresh):  # R5, R6
    """For whom and as of when memory is read."""

    session_id: base.ForeignId | None = Field(None, description="Include its short-term memories")
    user_id: base.ForeignId | None = Field(None, description="Include its long-term memories")
    as_of: base.Instant | None = Field(
        None, description="State of memory at this time, without later messages"
    )


class RecallRequest(Viewpoint):  # M20
    """Breadth-first search from the focus points."""

    keywords: Keywords
    relations: Keywords = ()
    depth: Annotated[StrictInt, Field(ge=0, le=10)] | None = Field(
        None, description="Layers out from the focus; default: the agent's default_search_depth"
    )
    limit: Annotated[StrictInt, Field(ge=1, le=1000)] = 20
    budget_tokens: base.BudgetTokens | None = None
    format: Literal["text", "structured"] = "text"


class RecalledMemory(base.Answer):
    """A matching memory, within the depth if any is."""

    node_id: int
    content: str
    phrase: str
    type: str
    layer: int | None = Field(
        description="Number of links to the nearest focus point; null if none lead there"
    )
    out_of_reach: bool = Field(False, description="Farther than `depth`: nothing nearer matches")
    strength: float = Field(description="Product of the strengths on the best path")
    match: float = Field(description="1 for a token that matches, else the best cosine")
    importance: float
    message_ids: list[str]
    said_at: datetime | None
    superseded_by: int | None = Field(None, description="The memory that replaces it")
    superseded_at: datetime | None = None


class ForgottenMemory(base.Answer):  # M15
    """A forgotten memory that a dangling link still describes."""

    node_id: int = Field(description="Id for `restore`")
    relation: str
    hint: str
    restorable: bool = Field(description="Its raw messages are still stored")
    forgotten_at: datetime | None = None


KNEW: Any = Field(
    default_factory=list,
    description="Forgotten memories about it, without a link; for `restore`",
)


class RecallText(Freshness):
    """Recall for a model: memories, separated by lines of ``---``."""

    text: str
    miss: Miss | None = Field(None, description="Why nothing was found")
    knew: list[int] = KNEW


class RecallAnswer(Freshness):
    """Recall for a program."""

    memories: list[RecalledMemory]
    forgotten: list[ForgottenMemory]
    miss: Miss | None = Field(description="Why nothing was found")
    knew: list[int] = KNEW


class Filters(base.Request):
    """Conditions of hits; all must hold."""

    since: base.Instant | None = Field(None, description="Said at this time or later")
    until: base.Until | None = Field(
        None, description="Said before this time, or by the end of a day"
    )
    roles: Annotated[tuple[Role, ...], Field(min_length=1), base.OneOrMany] | None = None
    names: Texts | None = Field(None, description="Said by one of these speakers")
    sessions: (
        Annotated[tuple[base.ForeignId, ...], Field(min_length=1, max_length=64), base.OneOrMany]
        | None
    ) = None
    types: Types | None = Field(None, min_length=1, description="Types of memories")
    tags: Texts | None = Field(None, description="One of these is in the `tags` of its metadata")
    metadata: base.JsonObject | None = Field(None, min_length=1, max_length=64)

    _is_a_span = model_validator(mode="after")(base.check_span)


class Scope(Viewpoint):
    """For whom, and which part of memory is read."""

    sources: Annotated[tuple[Source, ...], Field(min_length=1), base.OneOrMany] = tuple(Source)
    channels: Annotated[tuple[Channel, ...], Field(min_length=1), base.OneOrMany] = (
        Channel.DENSE,
        Channel.LEXICAL,
    )
    collections: Annotated[tuple[CollectionName, ...], Field(max_length=16), base.OneOrMany] = ()
    filters: Filters = Filters()
    now: base.Instant | None = Field(None, description='Reference time of "yesterday"')
    explain: StrictBool = False


class SearchRequest(Scope):  # R11
    """Hybrid search over all sources."""

    query: base.RequiredQuery
    k: Hits | None = None
    budget_tokens: base.BudgetTokens | None = None


class HitDocument(base.Answer):  # R9
    """The document of a hit, and the place in it."""

    name: str
    document_id: int | None = None
    collection: str | None = Field(None, description="Null: the agent's own document")
    path: str = Field("", description="Headings above it, or enclosing symbols")
    symbol: str | None = Field(None, description="Qualified name, of code")
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None


class HitPin(base.Answer):  # R7
    """The pin of a hit."""

    pin: int = Field(description="Its number, for `unpin`")
    kind: PinKind
    by: Maker = Field(description="Who pinned it")


class HitStep(base.Answer):  # R7
    """The step of a plan of a hit."""

    step: int = Field(description="Its number, from 1")
    state: StepState


class Hit(base.Answer):
    """One thing found."""

    text: str
    source: Source
    message_ids: list[str] = Field(description="Of a page or a summary: the first and the last")
    role: Role | None = Field(None, description="Only of messages")
    name: str | None = Field(None, description="The `name` of the message")
    session_id: str | None = None
    node_id: int | None = Field(
        None, description="The memory; of a message, its memory if also found"
    )
    superseded_by: int | None = Field(None, description="The memory that replaces it")
    superseded_at: datetime | None = None
    page: str | None = Field(None, description="The page, or the page of its first message")
    pin: HitPin | None = Field(None, description="Only of pins")
    step: HitStep | None = Field(None, description="Only of plans")
    document: HitDocument | None = Field(None, description="Only of documents and code")
    created_at: datetime | None = Field(description="When it was said, or written")
    score: float = Field(
        description="Relative to the best hit, which has 0.82, more if it is of a time or a symbol"
        " of the question; no probability"
    )
    channels: dict[str, float] = Field(description="Rank, from 1, in each channel that found it")


class SearchAnswer(Freshness):
    """Hits, best first."""

    hits: list[Hit]
    explain: dict[str, JsonValue] | None = None


class ShownMessage(base.Request):
    """A message that the caller shows to the model beside the list."""

    role: Role
    content: base.Text


class ContextRequest(Scope):  # R13, R14
    """A message list that fits a token budget."""

    query: Annotated[base.Query | None, AfterValidator(base.or_nothing)] = Field(
        None, description="The user's message, at the end of the list"
    )
    budget_tokens: base.BudgetTokens = base.DEFAULT_BUDGET_TOKENS
    model: base.Text | None = Field(None, max_length=128, description="Its tokenizer counts")
    system: Annotated[base.Query | None, AfterValidator(base.or_nothing)] = Field(
        None,
        description="System text, at the start of the list; headings use its language",
    )
    k: Hits | None = None
    recent: Annotated[StrictInt, Field(ge=0, le=200)] | None = None
    shown: tuple[ShownMessage, ...] = Field((), max_length=1000, description="Not repeated")
    format: Literal["messages"] = "messages"


class ContextMessage(base.WithoutNulls):
    """A message in the form of chat APIs."""

    role: Role
    content: str | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    @classmethod
    def of(cls, message: Utterance) -> Self:
        """Return a message of an assembled list."""
        return cls(
            role=message.role,
            content=message.content,
            name=message.name,
            tool_calls=[ToolCall.model_validate(call) for call in message.tool_calls] or None,
            tool_call_id=message.tool_call_id,
        )


class ContextItem(base.Answer):
    """One part of the assembled list, and its sources."""

    section: Section
    text: str
    tokens: int
    message_ids: list[str]


class ContextAnswer(Freshness):
    """The message list, within its budget, and its parts."""

    messages: list[ContextMessage]
    tokens: int
    tokenizer: str
    budget_tokens: int
    items: list[ContextItem]
    stable_prefix: int = Field(description="Bytes that equal the session's last list")
    receipt_id: UUID
    explain: dict[str, JsonValue] | None = None

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the messages as plain dicts, as chat APIs and their clients take them."""
        return [each.model_dump(mode="json") for each in self.messages]
