"""Short-term memories of one agent, and the job that consolidates them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from memci.domain.job import JobKind
from memci.domain.memory.creation import AnnotatedSegment, Creation
from memci.domain.memory.node import NodeTier, NodeType
from memci.jobs.consolidate import Consolidation
from memci.jobs.network_growth import NetworkGrowth, NewMemory, note_created
from memci.language.detection import language_of
from memci.language.names import Entity
from tests.support.models import words
from tests.support.network import AgentUnderTest

SAID = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


def remember(
    ada: AgentUnderTest,
    *texts: str,
    session: str | None = "s1",
    user: str | None = None,
    said_at: datetime = SAID,
    worth: float = 3.0,
    about: Sequence[str] = ("Grace",),
    role: str = "user",
    hours: float = 24,
) -> list[int]:
    """Make a short-term memory of each text with the code of creations; return ids."""
    job = ada.say(*texts, session=session, user=user, role=role)
    first = job.first_seq or 0
    vectors = ada.models.embedder.embed(texts)
    thoughts = [
        NewMemory(
            AnnotatedSegment(
                text=text,
                seqs=(first + place,),
                language=language_of(text),
                phrase=text[:30],
                keywords=tuple(words(text))[:4],
                entities=tuple(Entity.named(each) for each in about),
                type=NodeType.EPISODIC,
                worth=worth,
                session_id=session,
                user_id=user,
                said_at=said_at,
                tier=NodeTier.SHORT,
                expires_at=ada.clock() + timedelta(hours=hours),
            ),
            vectors[place],
            Counter(set(words(text))),
            {},
            {},
        )
        for place, text in enumerate(texts)
    ]
    embedder = ada.models.embedder
    growth = NetworkGrowth(ada.agent_id, uuid4(), ada.parameters, embedder.model, embedder.space)
    with ada.lease().effect() as connection:
        creation: Creation = growth.write(connection, thoughts)
        note_created(connection, ada.agent_id, creation, ada.parameters)
    return [node.id for node in creation.nodes if node.segment is not None]


def consolidation(ada: AgentUnderTest) -> Consolidation:
    return Consolidation(ada.database, ada.parameters, ada.models.embedder, clock=ada.clock)


def consolidate(ada: AgentUnderTest) -> Mapping[str, Any]:
    """Run the job, and commit its effect."""
    job = replace(ada.job(0, 0), kind=JobKind.CONSOLIDATE, first_seq=None, last_seq=None)
    effect = consolidation(ada).prepare(job)
    with ada.lease().effect() as connection:
        return effect(connection)
