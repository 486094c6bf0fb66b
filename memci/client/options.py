"""What each verb takes by name; all of it may be left out. The shapes say what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypedDict

from memci.domain.lane.job import JobState
from memci.domain.pages.block import Format
from memci.domain.pages.page import Lifecycle
from memci.shapes.message import MessageIn
from memci.shapes.read import Channel, Filters, Source

# A message in OpenAI's form, or as the shape of the surface.
MessageLike: TypeAlias = Mapping[str, Any] | MessageIn


class Page(TypedDict, total=False):
    """Which part of a list; ``cursor`` is the ``next_cursor`` of the part before."""

    cursor: str | None
    limit: int


class PageOptions(Page, total=False):
    """Which pages of which session's tree; ``Page`` is for what was removed alone."""

    session_id: str | None
    lifecycle: Lifecycle | Literal["active", "hot_archived", "cold_archived"] | None


class WindowOptions(TypedDict, total=False):
    """Which window, of how many tokens at most, and how it is written."""

    session_id: str | None
    budget_tokens: int | None
    format: Format | Literal["markdown", "text", "native"]


class AppendOptions(TypedDict, total=False):
    """Beside messages. A key of one's own makes a request safe to send from anew.

    ``skip_erased``: messages that were erased for good are left out and named in the answer; else
    they raise ``ErasedError``, and nothing is stored.
    """

    session_id: str | None
    user_id: str | None
    idempotency_key: str
    skip_erased: bool


class Fresh(TypedDict, total=False):
    """How fresh a read must be; by itself it waits for what this client has written."""

    min_seq: int
    wait_ms: int


class Sighted(Fresh, total=False):
    """Whose memories are in sight, and as of when: ISO 8601, an epoch number or a datetime."""

    session_id: str | None
    user_id: str | None
    as_of: datetime | str | float | None


class RecallOptions(Sighted, total=False):
    """Beside keywords."""

    relations: Sequence[str]
    depth: int
    limit: int
    budget_tokens: int


class Scope(Sighted, total=False):
    """Whose and which part of the memory is read."""

    sources: Sequence[Source | Literal["chat", "memory"]]
    channels: Sequence[Channel | Literal["dense", "lexical"]]
    filters: Filters | Mapping[str, Any]
    explain: bool


class SearchOptions(Scope, total=False):
    """Beside the query."""

    k: int
    budget_tokens: int


class ContextOptions(Scope, total=False):
    """Beside query and budget."""

    model: str
    system: str
    k: int
    recent: int


class MessageOptions(Page, total=False):
    """Which messages."""

    session_id: str | None


class NodeOptions(Page, total=False):
    """Which nodes."""

    kind: Literal["memory", "entity"]
    type: Literal["episodic", "semantic", "procedural"]
    tier: Literal["short", "long"]
    as_of: datetime | str | float | None


class NetworkOptions(TypedDict, total=False):
    """Which network: none, the present one, or as a pass left it; and how many nodes of it."""

    number: int | None
    limit: int


class FadingOptions(TypedDict, total=False):
    """How many passes and memories at most."""

    passes: int
    limit: int


class LinkOptions(Page, total=False):
    """Which links: all, or those of one source."""

    node: int


class ErasureOptions(TypedDict, total=False):
    """Which messages and pages: named in one way."""

    message_ids: Sequence[str]
    page_indexes: Sequence[str]
    session_id: str


class PreviewOptions(ErasureOptions, total=False):
    """Which messages; a query finds some, ``k`` hits at most."""

    query: str
    k: int


class JobOptions(Page, total=False):
    """Which jobs."""

    state: JobState
