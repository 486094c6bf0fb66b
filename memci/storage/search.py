"""Candidates of every source and channel, in one round trip (R11)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.context import bm25
from memci.domain.context.candidate import Candidate, Source
from memci.domain.context.depth import DEEPEST
from memci.domain.message import Message, Role
from memci.storage.search_statement import search_statement
from memci.storage.vectors import Vectors, to_text

# Messages that lend their words to those beside them, and postings that are read for one question.
LENDERS = 60
MOST_POSTINGS = 4_000
RAW_TAIL = 200  # newest messages that are not indexed yet (R10b)


@dataclass(frozen=True, slots=True)
class Restriction:
    """What every candidate has to be like; empty: anything. ``since`` ≤ said < ``until``.

    With ``session_id`` the short-term memories are that session's, with ``user_id`` alone there
    are none (R5); ``as_of``: nothing said later counts.
    """

    since: datetime | None = None
    until: datetime | None = None
    roles: tuple[Role, ...] = ()
    names: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    user_id: str | None = None
    session_id: str | None = None
    as_of: datetime | None = None

    def values(self) -> dict[str, object]:
        """Return what is asked for, by name."""
        asked: dict[str, object] = {
            "since": self.since,
            "until": self.until,
            "roles": [role.value for role in self.roles],
            "names": list(self.names),
            "sessions": list(self.sessions),
            "types": list(self.types),
            "user": self.user_id,
            "tier": (self.session_id or "") if self.session_id or self.user_id else None,
            "as_of": self.as_of,
        }
        return {name: value for name, value in asked.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for. Without ``vector`` there is no dense channel, without terms no lexical.

    ``vector``, shape (d,), is of ``model``; ``best``: candidates of each channel.
    """

    terms: Sequence[str]
    vector: Vectors | None
    model: str
    sources: frozenset[Source]
    restriction: Restriction = field(default_factory=Restriction)
    best: int = DEEPEST


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of the indexes; messages not indexed yet, newest first; the chat index's size.

    A message's ``lexical`` is the score of its own words; ``postings`` are of the scored terms.
    """

    candidates: list[Candidate]
    tail: list[Message]
    collected: bm25.Collected
    postings: bm25.Postings = field(default_factory=dict)


def find(connection: Connection, agent_id: str, question: Question) -> Found:
    """Return the best candidates of each source and channel that is asked, and the raw tail."""
    asked = question.restriction.values()
    # Messages have no type: who asks for one asks for memories only.
    sources = question.sources - {Source.CHAT} if question.restriction.types else question.sources
    dense, lexical = question.vector is not None, bool(question.terms)
    if not sources or not (dense or lexical):
        return Found([], [], bm25.Collected(1, 1, {}))
    statement = search_statement(sources, frozenset(asked), dense=dense, lexical=lexical)
    values = {
        **asked,
        "agent": agent_id,
        "vector": None if question.vector is None else to_text(question.vector[None])[0],
        "model": question.model,
        "terms": list(question.terms),
        "best": question.best,
        "lenders": LENDERS,
        "scored": bm25.MAX_SCORED_TERMS,
        "postings": MOST_POSTINGS,
        "tail": RAW_TAIL,
        "k1": bm25.K1,
        "b": bm25.B,
    }
    return _read(connection.exec_driver_sql(statement, values).all())


def _read(rows: Sequence[Row[Any]]) -> Found:
    candidates: list[Candidate] = []
    tail: list[Message] = []
    collected = bm25.Collected(1, 1, {})
    postings: dict[str, dict[int, int]] = {}
    for row in rows:
        (
            source,
            key,
            dense,
            lexical,
            text,
            role,
            name,
            calls,
            session_id,
            at,
            seqs,
            position,
            counts,
        ) = tuple(row)
        if source == "postings":
            postings[text] = dict(zip(seqs, counts, strict=True))
            continue
        if source == "size":
            collected = bm25.Collected(dense, lexical, json.loads(text or "{}"))
            continue
        if source == "memory":
            found = Candidate(Source.MEMORY, key, text, tuple(seqs), at, session_id)
            candidates.append(found._replace(dense=dense, lexical=lexical))
            continue
        said = Message(key, "", Role(role), text, at, name, session_id, tool_calls=calls or ())
        if source == "tail":
            tail.append(said)
            continue
        found = Candidate(Source.CHAT, key, said.text, (key,), at, session_id, said.role, name)
        candidates.append(found._replace(dense=dense, lexical=lexical, position=position))
    return Found(candidates, tail, collected, postings)
