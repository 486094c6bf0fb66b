"""The keyword arguments of the client's methods; all of them are optional."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from memci.config.groups import KeyScope
from memci.domain.job import JobState
from memci.domain.memory.node import NodeType
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.window_text import Format
from memci.domain.search.candidate import Channel, Source
from memci.domain.session.plan import StepState
from memci.schemas.messages import MessageIn
from memci.schemas.reads import Filters

SourceName: TypeAlias = (
    Source | Literal["chat", "memory", "document", "code", "page", "summary", "pin", "plan"]
)
ChannelName: TypeAlias = Channel | Literal["dense", "lexical", "bfs"]
WindowFormat: TypeAlias = Format | Literal["markdown", "text", "native"]
# A message in OpenAI's form, as a schema, or the text of a user's message.
MessageLike: TypeAlias = Mapping[str, Any] | MessageIn | str
# One message, or several in order.
Messages: TypeAlias = MessageLike | Sequence[MessageLike]


class Page(TypedDict, total=False):
    """The page of a list."""

    cursor: Annotated[str | None, "`next_cursor` of the page before"]
    limit: Annotated[int, "How many at most"]


class AuditOptions(Page, total=False):
    """A page of the audit log."""

    agent_id: Annotated[str | None, "Only what was done to this agent"]


class KeyOptions(TypedDict, total=False):
    """What an API key may do."""

    agents: Annotated[str, "Patterns of agents and of `collection/NAME`, with commas between"]
    scope: Annotated[KeyScope, "`read`, `write` or `admin`"]
    expires_at: Annotated[datetime | str | None, "When it expires; none: never"]
    limits: Annotated[Mapping[str, int], "Such as `messages_per_day`; 0: no limit"]


class WebhookChanges(TypedDict, total=False):
    """What to change of a webhook; the rest stays."""

    url: Annotated[str, "Where to send events"]
    agents: Annotated[str, "Patterns of agent ids, with commas between"]
    types: Annotated[Sequence[str], "Types of events; none are all"]
    enabled: Annotated[bool, "True tries the next event at once"]


class DocumentOptions(Page, total=False):
    """A page of documents."""

    prefix: Annotated[str, "Only names that begin with it, such as `docs/`"]


class PageOptions(Page, total=False):
    """Pages of a session's tree; ``Page`` is for removed ones only."""

    session_id: Annotated[str | None, "Whose window; none: that of the last message"]
    lifecycle: Annotated[
        Lifecycle | Literal["active", "hot_archived", "cold_archived"] | None,
        "`hot_archived`: archived, or in a hidden folder; `cold_archived`: removed",
    ]


class SeenOptions(TypedDict, total=False):
    """The window that a tool changes."""

    session_id: Annotated[str | None, "Whose window; none: that of the last message"]
    format: Annotated[WindowFormat, "How it is written; tokens are counted in it"]


class WindowOptions(SeenOptions, total=False):
    """The session, format and size of a window."""

    budget_tokens: Annotated[int | None, "At most so many; none: the agent's `window_max_tokens`"]


class AppendOptions(TypedDict, total=False):
    """Options of an append; erased messages raise ``ErasedError`` without ``skip_erased``."""

    session_id: Annotated[str | None, "The conversation that they belong to"]
    user_id: Annotated[str | None, "Whom the agent speaks with"]
    idempotency_key: Annotated[str, "Your own key: requests with the same key are done once"]
    skip_erased: Annotated[bool, "Leave out messages that were erased, instead of raising"]


class Fresh(TypedDict, total=False):
    """Freshness of a read; by default it waits for all that this client has written."""

    min_seq: Annotated[int, "Wait until memory has caught up with this seq"]
    wait_ms: Annotated[int, "… at most so long; then answer anyway"]


class Viewpoint(Fresh, total=False):
    """For whom and as of when: ISO 8601, an epoch number or a datetime."""

    session_id: Annotated[str | None, "With the short-term memories of this session"]
    user_id: Annotated[str | None, "With long-term memories of this user"]
    as_of: Annotated[datetime | str | float | None, "As believed then: nothing of later messages"]


class RecallOptions(Viewpoint, total=False):
    """Beside keywords."""

    relations: Annotated[str | Sequence[str], "Follow only links of these names"]
    depth: Annotated[int, "Links out from the focus; none: the agent's `default_search_depth`"]
    limit: Annotated[int, "Memories at most"]
    budget_tokens: Annotated[int, "Tokens of the answer at most"]


class Scope(Viewpoint, total=False):
    """For whom, and which part of memory is read."""

    sources: Annotated[
        SourceName | Sequence[SourceName],
        "Default: all",
    ]
    collections: Annotated[str | Sequence[str], "Shared collections to search, too"]
    channels: Annotated[ChannelName | Sequence[ChannelName], "Default: dense and lexical"]
    filters: Annotated[Filters | Mapping[str, Any], "Conditions of hits"]
    now: Annotated[datetime | str | float | None, 'What "yesterday" counts from; none: now']
    explain: Annotated[bool, "Say where each hit came from"]


class SearchOptions(Scope, total=False):
    """Beside the query."""

    k: Annotated[int, "Hits at most"]
    budget_tokens: Annotated[int, "Tokens of all hits at most"]


class ContextOptions(Scope, total=False):
    """Beside the query."""

    budget_tokens: Annotated[int, "Tokens of the list at most"]

    model: Annotated[str, "Model or tokenizer whose tokens count"]
    system: Annotated[str, "System text; it begins the list"]
    k: Annotated[int, "Hits at most"]
    recent: Annotated[int, "Recent interactions to take at most"]
    shown: Annotated[Sequence[Mapping[str, Any]], "Messages {role, content} that are not repeated"]


class SessionPage(Page, total=False):
    """A page of messages or summaries."""

    session_id: Annotated[str | None, "Only those of this session"]


class HandoverOptions(Fresh, total=False):
    """Session, user and format of a handover."""

    session_id: Annotated[str | None, "Which session; none: that of the last message"]
    user_id: Annotated[str | None, "Only what this user may see; none: all"]
    budget_tokens: Annotated[int | None, "Tokens of the document at most"]
    format: Annotated[Literal["markdown", "text"], "How it is written"]


class NodeOptions(Page, total=False):
    """A page of nodes."""

    kind: Annotated[Literal["memory", "entity"], "Only those of this kind"]
    type: Annotated[Literal["episodic", "semantic", "procedural"], "Only memories of this type"]
    tier: Annotated[Literal["short", "long"], "Only those of this tier"]
    pinned: Annotated[bool, "Only pinned memories, or only others"]
    text: Annotated[str, "Words that all are in the text"]
    session_id: Annotated[str, "Only those of this session"]
    user_id: Annotated[str, "Only those of this user"]
    since: Annotated[datetime | str | float, "Said since then"]
    until: Annotated[datetime | str | float, "Said before then; a day is included"]
    as_of: Annotated[datetime | str | float | None, "As believed then"]


class EditOptions(TypedDict, total=False):
    """What is set of a memory; what is left out stays as it is, or as the models find it."""

    type: Annotated[NodeType | Literal["episodic", "semantic", "procedural"], "Type of the memory"]
    worth: Annotated[float, "How much it matters, 0 to 10"]
    pinned: Annotated[bool, "It neither fades nor is forgotten; default: true with a text"]


class AddOptions(EditOptions, total=False):
    """Beside the text of a new memory."""

    said_at: Annotated[datetime | str | float | None, "None: now"]
    session_id: Annotated[str | None, "Session of the memory"]
    user_id: Annotated[str | None, "Whose memory it is; none: all users'"]


class NetworkOptions(TypedDict, total=False):
    """The pass and the size of a network."""

    number: Annotated[int | None, "After this pass; none: now"]
    limit: Annotated[int, "Nodes at most, the most important first"]


class PlanOptions(TypedDict, total=False):
    """The steps of a plan, or the state of one step."""

    steps: Annotated[Sequence[str], "In order; [x] before a done one"]
    step: Annotated[int, "Its number, from 1"]
    state: Annotated[StepState | str, "pending, active, done or dropped"]


class FadingOptions(TypedDict, total=False):
    """Limits of passes and memories."""

    passes: Annotated[int, "Passes at most, the latest"]
    limit: Annotated[int, "Memories at most"]


class LinkOptions(Page, total=False):
    """A page of links: all, or those of one source."""

    node: Annotated[int, "Only those that begin at this node"]


class ErasureOptions(TypedDict, total=False):
    """Messages, pages and pins, or a session."""

    message_ids: Annotated[str | Sequence[str], "These messages"]
    page_indexes: Annotated[
        str | Sequence[str], "These notes; names and descriptions of other pages"
    ]
    pins: Annotated[int | Sequence[int], "These pinned texts, by their numbers"]
    session_id: Annotated[str, "All messages of this session"]


class PreviewOptions(ErasureOptions, total=False):
    """Messages, pages and pins of an erasure; a query finds at most ``k`` of each."""

    query: Annotated[str, "Messages, notes and pins with all of these words"]
    k: Annotated[int, "The newest"]


class JobOptions(Page, total=False):
    """A page of jobs."""

    state: Annotated[JobState, "Only those in this state"]
