"""What each verb takes by name; all of it may be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from memci.domain.job import JobState
from memci.domain.pages.block import Format
from memci.domain.pages.page import Lifecycle
from memci.domain.session.plan import StepState
from memci.schemas.messages import MessageIn
from memci.schemas.reads import Channel, Filters, Fusion, Source

WindowFormat: TypeAlias = Format | Literal["markdown", "text", "native"]
# A message in OpenAI's form, or as the shape of the surface.
MessageLike: TypeAlias = Mapping[str, Any] | MessageIn


class Page(TypedDict, total=False):
    """Which part of a list; ``cursor`` is the ``next_cursor`` of the part before."""

    cursor: Annotated[str | None, "`next_cursor` of the part before"]
    limit: Annotated[int, "How many at most"]


class DocumentOptions(Page, total=False):
    """Which documents."""

    prefix: Annotated[str, "Only those whose names begin so, such as `docs/`"]


class PageOptions(Page, total=False):
    """Which pages of which session's tree; ``Page`` is for what was removed alone."""

    session_id: Annotated[str | None, "Whose window; none: that of the last message"]
    lifecycle: Annotated[
        Lifecycle | Literal["active", "hot_archived", "cold_archived"] | None,
        "Only such pages; `hot_archived`: archived, or inside a hidden folder; `cold_archived`:"
        " removed",
    ]


class SeenOptions(TypedDict, total=False):
    """In which window the model sees what a tool does to it."""

    session_id: Annotated[str | None, "Whose window; none: that of the last message"]
    format: Annotated[
        WindowFormat,
        "How that is written, as in `window`: what fits, and tokens, are counted in it",
    ]


class WindowOptions(TypedDict, total=False):
    """Which window, of how many tokens at most, and how it is written."""

    session_id: Annotated[str | None, "Whose window; none: that of the last message"]
    budget_tokens: Annotated[int | None, "At most so many; none: the agent's `window_max_tokens`"]
    format: Annotated[WindowFormat, "How it is written"]


class AppendOptions(TypedDict, total=False):
    """Beside messages. A key of one's own makes a request safe to send from anew.

    ``skip_erased``: messages that were erased for good are left out and named in the answer; else
    they raise ``ErasedError``, and nothing is stored.
    """

    session_id: Annotated[str | None, "The conversation that they belong to"]
    user_id: Annotated[str | None, "Whom the agent speaks with"]
    idempotency_key: Annotated[
        str, "A key of your own: under it the request is done once, however often it is sent"
    ]
    skip_erased: Annotated[
        bool, "Leave out, and name, messages that were erased for good, instead of raising"
    ]


class Fresh(TypedDict, total=False):
    """How fresh a read must be; by itself it waits for what this client has written."""

    min_seq: Annotated[int, "Wait until memory has caught up with this seq"]
    wait_ms: Annotated[int, "… at most so long; then answer with what there is"]


class Sighted(Fresh, total=False):
    """Whose memories are in sight, and as of when: ISO 8601, an epoch number or a datetime."""

    session_id: Annotated[
        str | None, "See the short-term memories of this session, and the long-term ones"
    ]
    user_id: Annotated[str | None, "See the long-term memories of this user"]
    as_of: Annotated[
        datetime | str | float | None, "See what was believed then: nothing that was said later"
    ]


class RecallOptions(Sighted, total=False):
    """Beside keywords."""

    relations: Annotated[Sequence[str], "Follow only links of these names"]
    depth: Annotated[int, "Links out from the focus; none: the agent's `default_search_depth`"]
    limit: Annotated[int, "Memories at most"]
    budget_tokens: Annotated[int, "Tokens of the answer at most"]


class Scope(Sighted, total=False):
    """Whose and which part of the memory is read."""

    sources: Annotated[
        Sequence[
            Source | Literal["chat", "memory", "document", "code", "page", "summary", "pin", "plan"]
        ],
        "What is looked in; all, if it is left out",
    ]
    collections: Annotated[Sequence[str], "Shared documents to look into beside the agent's own"]
    channels: Annotated[
        Sequence[Channel | Literal["dense", "lexical", "bfs"]],
        "How it is looked for; dense and lexical, if it is left out",
    ]
    filters: Annotated[Filters | Mapping[str, Any], "What a hit must be like"]
    fusion: Annotated[
        Fusion | Literal["scaled", "rrf"], "How channels become one ranking: scores, or ranks"
    ]
    now: Annotated[
        datetime | str | float | None, 'What "yesterday" in the question counts from; none: now'
    ]
    explain: Annotated[bool, "Say where each hit came from"]


class SearchOptions(Scope, total=False):
    """Beside the query."""

    k: Annotated[int, "Hits at most"]
    budget_tokens: Annotated[int, "Tokens of all hits at most"]


class ContextOptions(Scope, total=False):
    """Beside query and budget."""

    model: Annotated[str, "Model or tokenizer whose tokens count"]
    system: Annotated[str, "System text; it begins the list"]
    k: Annotated[int, "Hits at most"]
    recent: Annotated[int, "Recent interactions to take at most"]
    shown: Annotated[
        Sequence[Mapping[str, Any]],
        "What the model is shown beside the list, as {role, content}: none of it comes again",
    ]


class MessageOptions(Page, total=False):
    """Which messages."""

    session_id: Annotated[str | None, "Only those of this session"]


class SummaryOptions(Page, total=False):
    """Which summaries."""

    session_id: Annotated[str | None, "Only those of this session"]


class HandoverOptions(Fresh, total=False):
    """What is handed over."""

    session_id: Annotated[str | None, "Which session; none: that of the last message"]
    user_id: Annotated[str | None, "What is in sight of this user alone; none: all that was said"]
    budget_tokens: Annotated[int | None, "Tokens of the document at most"]
    format: Annotated[Literal["markdown", "text"], "How it is written"]


class NodeOptions(Page, total=False):
    """Which nodes."""

    kind: Annotated[Literal["memory", "entity"], "Only those of this kind"]
    type: Annotated[Literal["episodic", "semantic", "procedural"], "Only memories of this type"]
    tier: Annotated[Literal["short", "long"], "Only those of this tier"]
    as_of: Annotated[datetime | str | float | None, "What was believed then"]


class NetworkOptions(TypedDict, total=False):
    """Which network: none, the present one, or as a pass left it; and how many nodes of it."""

    number: Annotated[int | None, "The pass that left it so; none: as it is now"]
    limit: Annotated[int, "Nodes at most, the most important first"]


class PlanOptions(TypedDict, total=False):
    """The steps of a plan; or the state of one."""

    steps: Annotated[Sequence[str], "In order; [x] before what is done"]
    step: Annotated[int, "Its place, from 1"]
    state: Annotated[StepState | str, "pending, active, done or dropped"]


class FadingOptions(TypedDict, total=False):
    """How many passes and memories at most."""

    passes: Annotated[int, "Passes at most, the latest"]
    limit: Annotated[int, "Memories at most"]


class LinkOptions(Page, total=False):
    """Which links: all, or those of one source."""

    node: Annotated[int, "Only those that begin at this node"]


class ErasureOptions(TypedDict, total=False):
    """Which messages, pages and pins: named in one way."""

    message_ids: Annotated[Sequence[str], "These messages"]
    page_indexes: Annotated[Sequence[str], "These notes, and names and descriptions of other pages"]
    pins: Annotated[Sequence[int], "These pinned texts, by their numbers"]
    session_id: Annotated[str, "All messages of this session"]


class PreviewOptions(ErasureOptions, total=False):
    """Which messages; a query finds some, ``k`` hits at most."""

    query: Annotated[str, "Messages, notes and pins in which all of these words stand"]
    k: Annotated[int, "Hits at most, the newest"]


class JobOptions(Page, total=False):
    """Which jobs."""

    state: Annotated[JobState, "Only those in this state"]
