"""Candidates: texts that one or more channels found (R11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from memci.domain.pages.pins import Maker
from memci.domain.session.plan import StepState
from memci.language.detection import Language, language_of
from memci.language.key_messages.rules import PinKind
from memci.language.times.ranges import TimeSpan
from memci.message import Message, Role


class Source(StrEnum):
    """Where a hit comes from."""

    CHAT = "chat"  # messages, word for word
    MEMORY = "memory"  # nodes of the memory network
    DOCUMENT = "document"  # chunks of documents, the agent's own and of collections
    CODE = "code"  # chunks that are program code
    PAGE = "page"  # notes, folders, and what lies in the archive and in folders
    SUMMARY = "summary"  # of sessions
    PIN = "pin"
    PLAN = "plan"  # steps of the plans that sessions follow


class Channel(StrEnum):
    """One way of finding."""

    DENSE = "dense"
    LEXICAL = "lexical"
    BFS = "bfs"  # over the links of the memory network


# Parts of the names of embedding models that were trained on English alone.
_ENGLISH_ONLY = ("all-minilm", "all-mpnet", "-en-", "english")


def reads(model: str, language: Language) -> bool:
    """Tell whether cosines of this embedding model mean anything in a language.

    English-only models see Chinese as unknown characters, near one another whatever they say:
    mixed in, they halve what lexical search finds alone (retrieval-and-assembly.md, "Chinese").
    """
    name = f"{model.lower()}-"
    if language is not Language.CHINESE or "multilingual" in name:
        return True
    return not any(mark in name for mark in _ENGLISH_ONLY)


# What nobody has said: it has no speaker, no session and no time of its own.
WRITTEN = frozenset({Source.DOCUMENT, Source.CODE})
# What is kept of a conversation in other words, or in the same: it is found by its words alone.
KEPT = frozenset({Source.PAGE, Source.SUMMARY, Source.PIN, Source.PLAN})
SAID = frozenset(Source) - WRITTEN - KEPT
# The time of what has none.
UNTIMED = datetime.min.replace(tzinfo=UTC)


class Extract(NamedTuple):
    """Where a chunk stands: ``path`` are headings or symbols; lines and pages from 1.

    ``collection`` is None where the document is the agent's own.
    """

    collection: str | None
    path: str
    symbol: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None
    document_id: int | None = None


class Kept(NamedTuple):
    """What a page, a summary, a pin or a step of a plan is.

    ``name`` is a page's index or a pin's number, and a step's place in its plan, from 1; empty of
    summaries. ``about`` are the first and the last message that it tells of; None: it tells of
    none. ``kind`` is a pin's, ``state`` a step's, ``by`` who pinned a text.
    """

    name: str
    about: tuple[int, int] | None = None
    kind: PinKind | None = None
    state: StepState | None = None
    by: Maker | None = None


class Candidate(NamedTuple):
    """A message, a memory, a chunk or what is kept, with the raw score of each channel.

    None where it has none.
    ``key`` is a message's seq, a node's id, or a number of the others; ``name`` who said it, or the
    document's. ``seqs`` are the messages that it holds or came
    from. ``dense`` is a cosine, ``lexical`` a BM25 score, ``linked`` how strongly links lead to it
    from what the question finds. ``role`` is None for a memory.
    ``position`` is an indexed message's (R11b); ``memory`` one made of it that was found as well.
    ``until``: since when another memory says otherwise, ``successor`` (R6); ``newer`` are the
    candidates that tell what is so now.
    """

    source: Source
    key: int
    text: str
    seqs: tuple[int, ...]
    at: datetime
    session_id: str | None = None
    role: Role | None = None
    name: str | None = None
    dense: float | None = None
    lexical: float | None = None
    successor: int | None = None
    until: datetime | None = None
    newer: tuple[tuple[Source, int], ...] = ()
    position: int | None = None
    memory: int | None = None
    extract: Extract | None = None
    linked: float | None = None
    kept: Kept | None = None


Key: TypeAlias = tuple[Source, int]  # what identifies a candidate


def without_unread_cosines(candidates: Sequence[Candidate], model: str) -> list[Candidate]:
    """Return a new list of the candidates; without cosines of texts that the model cannot read."""
    unread = [each for each in Language if not reads(model, each)]
    if not unread:
        return list(candidates)
    return [
        each
        if each.dense is None or language_of(each.text) not in unread
        else each._replace(dense=None)
        for each in candidates
    ]


def message_candidate(message: Message, lexical: float | None = None) -> Candidate:
    """Return a message as a candidate, with its BM25 score if it has one."""
    return Candidate(
        Source.CHAT,
        message.seq,
        message.text,
        (message.seq,),
        message.said_at,
        message.session_id,
        message.role,
        message.name,
        lexical=lexical,
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """The times that are asked for.

    ``stretches``: a message of one of them is found, though no channel has found it. ``leading``:
    what was said in one of these goes before all else, since the question has nothing else to go
    by.
    """

    stretches: tuple[TimeSpan, ...] = ()
    leading: tuple[TimeSpan, ...] = ()

    def has(self, candidate: Candidate) -> bool:
        """Tell whether it is a message of a time that is asked for."""
        return candidate.source is Source.CHAT and _holds(self.stretches, candidate)

    def leads(self, candidate: Candidate) -> bool:
        """Tell whether it goes before all that is not of these times."""
        return candidate.source in SAID and _holds(self.leading, candidate)


def _holds(stretches: tuple[TimeSpan, ...], found: Candidate) -> bool:
    # Most questions name no time, and hundreds of candidates are looked at for each.
    return bool(stretches) and any(each.holds(found.at, found.session_id) for each in stretches)


DEEPEST = 200
# Hits are chosen from so many times their number; and an entry takes about so many tokens.
_TIMES = 8
_ENTRY_TOKENS = 20
_SHALLOWEST = 40  # for a few hits
_SHALLOWEST_BUDGET = 80  # for a budget, which short entries fill

# Of the best messages by words, each third is good enough for its neighbours to be looked at:
# measured, more of them change nothing that is found.
_LEND = 3


def lenders(best: int) -> int:
    """Return how many messages lend their words to those beside them, where so many are found."""
    return best // _LEND


def depth(k: int | None, budget_tokens: int | None) -> int:
    """Return how many candidates each channel offers, for ``k`` hits or a budget; 40 to 200."""
    if budget_tokens is not None:
        wanted = max(budget_tokens // _ENTRY_TOKENS, _SHALLOWEST_BUDGET)
    elif k is not None:
        wanted = max(k * _TIMES, _SHALLOWEST)
    else:
        wanted = DEEPEST
    return min(wanted, DEEPEST)
