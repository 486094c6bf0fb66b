"""Finds candidates of every source and channel, in one round trip (R11)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, Self

from sqlalchemy import Connection

from memci.domain.documents import ChunkKind, collection_of, last_part
from memci.domain.memory.passage import Places
from memci.domain.pages.tree import Viewer
from memci.domain.search import bm25
from memci.domain.search.candidate import (
    DEEPEST,
    KEPT,
    WRITTEN,
    Candidate,
    Extract,
    Source,
)
from memci.domain.search.late_interaction import QuestionTokens
from memci.language.times.calendar import at_offset
from memci.language.times.ranges import TimeSpan
from memci.message import Message, Role, readable_text, shown_text
from memci.storage.search import statement, vector_index
from memci.storage.search.sources import (
    Row,
    message_filters,
    searched_unindexed,
    unindexed_candidate,
    unindexed_values,
)
from memci.storage.search.statement import Shape, search_statement
from memci.storage.search.vectors import Vectors, to_text
from memci.storage.session import tuples

# Postings that are scored for one query, regardless of the size of the index: at least so many, and
# at most. A posting costs three microseconds.
FEWEST_POSTINGS, MOST_POSTINGS = 2_000, 12_000
# Postings of one term that are counted.
_COUNTED = 5_000
# The newest messages of one time, from which candidates are chosen.
MOST_TIMED = 2_000
_ROLES = {role.value: role for role in Role}
# More than the chunks of any owner and the messages of any agent.
_KEYS_OF_OWNER = 1 << 48
# Of the best messages by words, a third adds its words to its neighbours: more of them changed
# nothing in measurements.
_ANCHORS = 3
RAW_TAIL = 200  # newest messages that are not indexed yet (R10b)


@dataclass(frozen=True, slots=True)
class Restriction:
    """Conditions on every candidate; none if empty.

    With ``session_id`` the short-term memories are that session's, with ``user_id`` alone there are
    none (R5).
    """

    since: datetime | None = None
    until: datetime | None = None  # exclusive
    roles: tuple[Role, ...] = ()
    names: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    user_id: str | None = None
    session_id: str | None = None
    as_of: datetime | None = None  # nothing said later
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] | None = None
    viewer: Viewer | None = None  # of pages, pins, plans and summaries; None: ``user_id``

    @property
    def excludes_files(self) -> bool:
        """True if a condition is set that files cannot meet."""
        asked = (self.since, self.until, self.roles, self.names, self.sessions, self.types)
        return any((*asked, self.tags, self.metadata))

    def values(self) -> dict[str, object]:
        """Return the values of the restriction that are set, by name."""
        asked: dict[str, object] = {
            "since": self.since,
            "until": self.until,
            "roles": [role.value for role in self.roles],
            "names": list(self.names),
            "sessions": list(self.sessions),
            "types": list(self.types),
            "user": self.user_id,
            "seen_by": self._users(),
            "tier": (self.session_id or "") if self.session_id or self.user_id else None,
            "as_of": self.as_of,
            "tags": list(self.tags),
            "metadata": None if not self.metadata else json.dumps(self.metadata),
        }
        return {name: value for name, value in asked.items() if value not in (None, [])}

    def _users(self) -> list[str]:
        """Return the user whose pages, pins, plans and summaries are visible; empty: all users."""
        viewer = self.viewer or Viewer(self.session_id, self.user_id)
        # No user has the empty name: in a new session only rows without a user are visible.
        return [] if viewer.sees_all else [viewer.user_id or ""]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One text to search for."""

    terms: Sequence[str]  # none: no lexical channel
    vector: Vectors | None  # shape (d,), of ``model``; None: no dense channel
    model: str
    sources: frozenset[Source]
    restriction: Restriction = field(default_factory=Restriction)
    best: int = DEEPEST  # candidates of each channel
    names: tuple[str, ...] = ()  # in their spelling in programs
    walks: bool = False  # follow links of the network from the results, if memories are searched
    focus: bool = False  # … and from the focus
    tokens: QuestionTokens | None = None  # of the text, if the embedder gives any (E8)
    # Messages of these times are candidates regardless of their words.
    stretches: tuple[TimeSpan, ...] = ()
    by_index: bool = False  # the agent has an index over the vectors of its messages
    hides: bool = False  # some messages were corrected or deleted: their words find nothing

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of code to look up, if code is searched."""
        return self.names if Source.CODE in self.sources else ()

    def seen_by(self, viewer: Viewer | None) -> SearchQuery:
        """Return the query for a viewer of pages, pins, plans and summaries."""
        return replace(self, restriction=replace(self.restriction, viewer=viewer))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of one query."""

    candidates: list[Candidate]  # of the indexes; a message has the score of its own words
    tail: list[Message]  # not indexed yet, the newest first; without scores
    collected: bm25.Collected  # statistics of the index of messages
    # By scored term, how often messages contain it, by position.
    postings: dict[str, dict[int, int]] = field(default_factory=dict)
    kept: list[Candidate] = field(default_factory=list)  # of sources without an index; no scores
    by_time_only: frozenset[int] = frozenset()  # seqs of messages that only their time found

    @property
    def message_seqs(self) -> set[int]:
        """The messages among the candidates and in the tail."""
        chat = {each.key for each in self.candidates if each.source is Source.CHAT}
        return chat.union(message.seq for message in self.tail)

    def without(self, withheld: Places) -> Self:
        """Return the result without what reads do not show of messages."""
        shown = {
            seq: shown_text(text, [*chain(*withheld[seq])])
            for seq, text in (
                *((each.key, each.text) for each in self.candidates if each.source is Source.CHAT),
                *((each.seq, each.text) for each in self.tail),
            )
            if seq in withheld
        }
        empty = {seq for seq, text in shown.items() if not any(map(str.isalnum, text))}
        return replace(
            self,
            candidates=[
                each._replace(text=shown.get(each.key, each.text)) if is_chat else each
                for each in self.candidates
                for is_chat in (each.source is Source.CHAT,)
                if not (is_chat and each.key in empty)
            ],
            tail=[
                replace(each, content=shown[each.seq], tool_calls=()) if each.seq in shown else each
                for each in self.tail
                if each.seq not in empty
            ],
        )


def search(
    connection: Connection,
    agent_id: str,
    query: SearchQuery,
    owners: Sequence[str] = (),
    absent: Collection[Source] = (),
) -> SearchResult:
    """Return the best candidates of each source and channel, and the raw tail (R10b).

    ``owners`` have documents to search: the agent, and visible collections (``see_collections``).
    ``absent`` sources are empty and not searched.
    """
    asked = query.restriction.values()
    sources = _searched(query, owners).difference(absent)
    named = {f"owner{place}": owner for place, owner in enumerate(owners)}
    timed = bool(query.stretches) and Source.CHAT in sources
    walks = query.walks and Source.MEMORY in sources
    scored = query.vector is not None or bool(query.terms)
    # Earlier states of the focus are not stored.
    focus = walks and query.focus and query.restriction.as_of is None
    if not (scored or focus):
        sources, walks = sources & {Source.CHAT}, False
    if not sources or not (scored or focus or timed):
        return SearchResult([], [], bm25.Collected(1, 1, {}))
    shape = Shape(
        sources,
        frozenset(asked),
        dense=query.vector is not None,
        lexical=bool(query.terms),
        owners=tuple(named),
        symbols=bool(query.symbols),
        walks=walks,
        focus=focus,
        timed=timed,
        # The index would first find what a filter leaves out.
        indexed=len(query.vector)
        if query.by_index and query.vector is not None and not message_filters(asked)
        else None,
        hides=query.hides,
    )
    if shape.indexed:
        connection.exec_driver_sql(vector_index.USE)
    values = {
        **statement.VALUES,
        **asked,
        **named,
        **unindexed_values(query.terms, query.restriction.session_id),
        **_time_values(query),
        "agent": agent_id,
        "vector": None if query.vector is None else to_text(query.vector[None])[0],
        "model": query.model,
        "terms": list(query.terms),
        "symbols": [last_part(each) for each in query.symbols],
        "best": query.best,
        "anchors": query.best // _ANCHORS,
        "scored": bm25.MAX_SCORED_TERMS,
        "postings": FEWEST_POSTINGS,
        "most": MOST_POSTINGS,
        "counted": _COUNTED,
        "tail": RAW_TAIL,
        "k1": bm25.K1,
        "b": bm25.B,
    }
    return _result(tuples(connection, search_statement(shape), values), owners)


def _time_values(query: SearchQuery) -> dict[str, object]:
    """Return the times of a query; those that the query names share the candidates evenly."""
    named = sum(not each.besides for each in query.stretches)
    return {
        # Under row-level security a coalesce() in the statement would prevent the index.
        "begins": [_iso(each.since) or "-infinity" for each in query.stretches],
        "ends": [_iso(each.until) or "infinity" for each in query.stretches],
        "asked_sessions": [each.session for each in query.stretches],
        "share": max(query.best // max(named, 1), 1),
        "most_timed": MOST_TIMED,
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _searched(query: SearchQuery, owners: Sequence[str]) -> frozenset[Source]:
    """Return the sources that may contain what the query asks for."""
    sources = query.sources
    if query.vector is None and not query.terms:
        sources -= WRITTEN  # links do not lead to them
    if query.restriction.types:
        sources -= {Source.CHAT}  # messages have no type
    if not owners or query.restriction.excludes_files:
        sources -= WRITTEN
    unindexed = (
        searched_unindexed(sources, query.restriction.values()) if query.terms else frozenset()
    )
    return sources - KEPT | unindexed


def _result(answered: Sequence[tuple[Any, ...]], owners: Sequence[str]) -> SearchResult:
    found = SearchResult([], [], bm25.Collected(1, 1, {}), {})
    places = {f"chunk_owner{place}": owner for place, owner in enumerate(owners)}
    for each in answered:
        source = each[0]
        if source == "chat":
            found.candidates.append(_message(each))
            continue
        row = Row._make(each)
        if source == "memory":
            found.candidates.append(_memory(row))
        elif source == "postings":
            found.postings[row.text] = dict(zip(row.seqs, row.counts, strict=True))
        elif source == "size":
            known = bm25.Collected(row.dense, row.lexical, json.loads(row.text or "{}"))
            found = replace(found, collected=known)
        elif source == "alone":
            found = replace(found, by_time_only=frozenset(row.seqs or ()))
        elif source == "tail":
            found.tail.append(_unindexed_message(row))
        elif source in KEPT:
            found.kept.append(unindexed_candidate(row))
        else:
            place = list(places).index(source)
            found.candidates.append(_chunk(row, place, places[source]))
    return found


def _unindexed_message(row: Row) -> Message:
    calls = row.tool_calls or ()
    role = Role(row.role)
    at = at_offset(row.at, row.said_offset)
    return Message(row.key, "", role, row.text, at, row.name, row.session_id, tool_calls=calls)


def _message(row: tuple[Any, ...]) -> Candidate:
    """Return a message by the positions of its columns, for speed: each search has hundreds."""
    (_, seq, dense, lexical, linked, content, role, name, calls, session, at, _, position, _,
     offset) = row  # fmt: skip
    return Candidate(
        Source.CHAT,
        seq,
        readable_text(role, content, calls or ()),
        (seq,),
        at_offset(at, offset),
        session,
        _ROLES[role],
        name,
        dense,
        lexical,
        position=position,
        linked=linked,
    )


def _memory(row: Row) -> Candidate:
    at = at_offset(row.at, row.said_offset)
    found = Candidate(Source.MEMORY, row.key, row.text, tuple(row.seqs), at, row.session_id)
    return found._replace(dense=row.dense, lexical=row.lexical, linked=row.linked)


def _chunk(row: Row, place: int, owner: str) -> Candidate:
    """Return a chunk; its key differs from those of other owners, and of messages."""
    path, *place_in_file = row.tool_calls
    source = Source.CODE if row.role == ChunkKind.CODE else Source.DOCUMENT
    # The headings are part of the text.
    text = row.text if source is Source.CODE or not path else f"{path}\n{row.text}"
    return Candidate(
        source,
        (place + 1) * _KEYS_OF_OWNER + row.key,
        text,
        (),
        row.at,
        name=row.name,
        dense=row.dense,
        lexical=row.lexical,
        extract=Extract(collection_of(owner), path, *place_in_file),
    )
