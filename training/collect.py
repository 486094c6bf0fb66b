"""Collects the features of candidates: what the model sees when memci answers a question.

Each archive becomes an agent of an embedded server. The features are those of the search itself, so
training and use cannot differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import psycopg

from benchmarks.stage import Stage, open_servers, open_stage
from memci.config.settings import load_settings
from memci.domain.search.candidate import Source, Timed
from memci.domain.search.features import MODELLED, features_of
from memci.domain.search.hints import hints_of
from memci.jobs.index import encode, terms_of
from memci.message import Message, Role
from memci.reading.find import find
from memci.reading.rank import scored_candidates
from memci.reading.reader import Reader
from memci.reading.understand import understand
from memci.runtime import Runtime
from memci.schemas.reads import SearchRequest
from memci.smallmodel.offline.e5_embedder import DIMENSION, OfflineEmbedder, mapped
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.index import Embedded, index_messages
from training.corpus import Archive

_AT_ONCE = 256
_HITS = 25  # a search for so many looks at as many candidates as a context
_ASKED_AFTER = timedelta(days=30)
_COLUMNS = "agent_id, seq, id, role, content, name, session_id, said_at, remember"


@dataclass(frozen=True, slots=True)
class Group:
    """The candidates of one question: features (n, f), and which of them are evidence."""

    features: npt.NDArray[np.float32]
    plain: npt.NDArray[np.float64]
    is_evidence: npt.NDArray[np.bool_]


def collect(archives: Sequence[Archive], query_map: Vectors) -> tuple[list[Group], list[Group]]:
    """Return a group for each question: of the entries as they stand, and in another order.

    In another order the neighbours of an entry tell nothing, as in collections of notes. So
    archives in which speakers take turns are collected as they stand only. ``query_map`` must not
    know the questions: where it does, their vectors find more than those of others will.
    """
    groups: tuple[list[Group], list[Group]] = [], []
    with _opened() as (stage, runtime):
        for number, archive in enumerate(archives):
            texts = [each.searched for each in archive.entries]
            vectors, tokens = encode(runtime.models.embedder, texts)
            for shuffled, kept in enumerate(groups[: 1 if _is_dialogue(archive) else 2]):
                agent_id = f"archive-{number}-{shuffled}"
                order = list(range(len(archive.entries)))
                if shuffled:
                    random.Random(number).shuffle(order)
                messages = _messages(archive, order)
                with stage.owner() as owner:
                    _store(owner, agent_id, messages)
                _index(runtime, agent_id, messages, vectors[order], [tokens[at] for at in order])
                seqs = {place: seq for seq, place in enumerate(order, start=1)}
                kept.extend(_groups(runtime, agent_id, archive, seqs, query_map))
    return groups


def _is_dialogue(archive: Archive) -> bool:
    """Return True if another speaker follows in most places within sessions."""
    pairs = [(a, b) for a, b in pairwise(archive.entries) if a.session == b.session]
    return sum(a.speaker != b.speaker for a, b in pairs) * 2 > len(pairs)


@contextmanager
def _opened() -> Iterator[tuple[Stage, Runtime]]:
    with open_servers() as servers, open_stage(servers) as stage:
        settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
        with closing(Runtime(settings)) as runtime:
            yield stage, runtime


def _messages(archive: Archive, order: Sequence[int]) -> list[Message]:
    """Return the entries as messages; those that change places take the sessions that are there."""
    first = archive.entries[0].speaker
    messages = []
    for seq, place in enumerate(order, start=1):
        entry, slot = archive.entries[place], archive.entries[seq - 1]
        at = datetime.combine(entry.day, time(12), UTC)
        role = Role.USER if entry.speaker == first else Role.ASSISTANT
        message = Message(seq, f"m{seq}", role, entry.text, at, entry.speaker)
        messages.append(replace(message, session_id=f"s{slot.session}"))
    return messages


def _store(owner: psycopg.Connection, agent_id: str, messages: Sequence[Message]) -> None:
    statement = f"COPY message ({_COLUMNS}) FROM STDIN"
    with owner.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for each in messages:
            copy.write_row(
                (agent_id, each.seq, each.id, each.role.value, each.content, each.name,
                 each.session_id, each.said_at, "never")
            )  # fmt: skip
    owner.execute(
        "INSERT INTO lane (agent_id, message_seq) VALUES (%s, %s)", (agent_id, len(messages))
    )


def _index(
    runtime: Runtime,
    agent_id: str,
    messages: Sequence[Message],
    vectors: Vectors,
    tokens: Sequence[bytes],
) -> None:
    models = runtime.models
    for start in range(0, len(messages), _AT_ONCE):
        own = slice(start, start + _AT_ONCE)
        some = messages[own]
        seqs = [each.seq for each in some]
        terms = {each.seq: terms_of(models.lexicon, each.searched) for each in some}
        embedded = Embedded(seqs, vectors[own], models.embedder.model, tokens[own])
        with runtime.database.agent_transaction(agent_id, durable=False) as connection:
            index_messages(connection, agent_id, seqs, embedded, terms)


@cache
def plain_embedder() -> OfflineEmbedder:
    """Return the embedder without its map of questions."""
    nothing = np.zeros((DIMENSION + 1, DIMENSION), dtype=np.float32)
    return OfflineEmbedder(load_settings().embedder_folder, nothing)


def _groups(
    runtime: Runtime, agent_id: str, archive: Archive, seqs: dict[int, int], query_map: Vectors
) -> Iterator[Group]:
    reader: Reader = runtime.readings.search
    asked_at = datetime.combine(archive.entries[-1].day, time(12), UTC) + _ASKED_AFTER
    speakers = {each.speaker for each in archive.entries}
    plain = plain_embedder()
    for question in archive.questions:
        request = SearchRequest(query=question.text, now=asked_at, k=_HITS)
        vector, tokens = plain.encode_question(question.text)
        vector = mapped(vector, query_map)
        understood = understand(
            reader, agent_id, question.text, request, vector=vector, tokens=tokens
        )
        with runtime.database.agent_snapshot(agent_id, planned=True) as connection:
            found = find(reader, connection, agent_id, understood, request)
            assert found.question is not None
            analysis = found.question.analysis_with(speakers, found.parameters.bounds)
            query = found.question.queries[0]
            hints = hints_of(analysis, query.symbols, Timed(query.stretches))
            scores, compared = scored_candidates(
                reader, connection, agent_id, query, found.results[0], hints
            )
        rows = scores.best(MODELLED)
        evidence = {(Source.CHAT, seqs[place]) for place in question.evidence}
        held = [scores.candidates[row] for row in rows]
        yield Group(
            features_of(scores, rows, compared, hints),
            scores.plain_sum()[rows],
            np.array([(each.source, each.key) in evidence for each in held]),
        )
