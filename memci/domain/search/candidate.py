"""Candidates: texts that at least one channel found (R11)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from memci.domain.pages.pins import Maker, PinKind
from memci.domain.search.passages import Passage
from memci.domain.session.plan import StepState
from memci.language.times.ranges import TimeSpan
from memci.message import Message, Role


class Source(StrEnum):
    """The source of a hit."""

    CHAT = "chat"  # messages, word for word
    MEMORY = "memory"  # nodes of the memory network
    DOCUMENT = "document"  # chunks of documents, the agent's own and of collections
    CODE = "code"  # chunks that are program code
    PAGE = "page"  # notes, folders, and pages in the archive and in folders
    SUMMARY = "summary"  # of sessions
    PIN = "pin"
    PLAN = "plan"  # steps of the plans that sessions follow


class Channel(StrEnum):
    """A search method."""

    DENSE = "dense"
    LEXICAL = "lexical"
    BFS = "bfs"  # over the links of the memory network


# Files: without speaker, session or time.
WRITTEN = frozenset({Source.DOCUMENT, Source.CODE})
# Texts stored beside a conversation: found by their words alone.
KEPT = frozenset({Source.PAGE, Source.SUMMARY, Source.PIN, Source.PLAN})
SAID = frozenset(Source) - WRITTEN - KEPT
# Replaces a missing time.
UNTIMED = datetime.min.replace(tzinfo=UTC)


class Extract(NamedTuple):
    """The position of a chunk; lines and pages count from 1."""

    collection: str | None  # None: the agent's own document
    path: str  # headings or symbols
    symbol: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None
    document_id: int | None = None


class Kept(NamedTuple):
    """The properties of a page, a summary, a pin or a step of a plan."""

    name: str  # index of a page, number of a pin, place of a step from 1; empty for a summary
    about: tuple[int, int] | None = None  # its first and last message, if any
    kind: PinKind | None = None  # of a pin
    state: StepState | None = None  # of a step
    by: Maker | None = None  # who pinned a text


Key: TypeAlias = tuple[Source, int]  # what identifies a candidate


class Candidate(NamedTuple):
    """A message, memory, chunk or kept text; a score is None if the channel gave none."""

    source: Source
    key: int  # seq of a message, id of a node, or a number of its own
    text: str
    seqs: tuple[int, ...]  # the messages that it contains or came from
    at: datetime
    session_id: str | None = None
    role: Role | None = None  # None for a memory
    name: str | None = None  # of the speaker, or of the document
    dense: float | None = None  # likeness of the embedder's vectors
    lexical: float | None = None  # BM25 score
    successor: int | None = None  # the memory that supersedes it (R6)
    until: datetime | None = None  # since then another memory supersedes it
    newer: tuple[Key, ...] = ()  # keys of the candidates that supersede it
    position: int | None = None  # of an indexed message (R11b)
    memory: int | None = None  # a memory of this message that was found as well
    extract: Extract | None = None
    linked: float | None = None  # link strength from the memories that the question finds
    kept: Kept | None = None
    passage: Passage | None = None  # of a long message, more like the question than the rest (E6)

    @property
    def id(self) -> Key:
        """Its source, and its key there."""
        return self.source, self.key


def message_candidate(message: Message, lexical: float | None = None) -> Candidate:
    """Return a message as a candidate, with its BM25 score if any.

    A note was said by nobody: it has no role, as a memory has none.
    """
    return Candidate(
        Source.CHAT,
        message.seq,
        message.text,
        (message.seq,),
        message.said_at,
        message.session_id,
        None if message.is_note else message.role,
        message.name,
        lexical=lexical,
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """The times in a question."""

    stretches: tuple[TimeSpan, ...] = ()  # their messages are hits even if no channel found them
    leading: tuple[TimeSpan, ...] = ()  # precede all others if the question names only times

    def has(self, candidate: Candidate) -> bool:
        """Return True if a candidate is a message of one of these times."""
        return candidate.source is Source.CHAT and _holds(self.stretches, candidate)

    def leads(self, candidate: Candidate) -> bool:
        """Return True if a candidate is from a leading time, and so precedes all others."""
        return candidate.source in SAID and _holds(self.leading, candidate)


def _holds(stretches: tuple[TimeSpan, ...], found: Candidate) -> bool:
    # Most questions name no time, and each has hundreds of candidates.
    return bool(stretches) and any(each.holds(found.at, found.session_id) for each in stretches)


DEEPEST = 200  # candidates of each channel
