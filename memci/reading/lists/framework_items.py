"""Reads the items and checkpoints of agent frameworks."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from memci.domain.search import bm25
from memci.domain.store_items import rank_items
from memci.queue.job_requests import request_indexing_by_read
from memci.reading.reader import ReadingModels
from memci.schemas import frameworks
from memci.smallmodel.vector_space import Vectors
from memci.storage.frameworks import checkpoints as stored
from memci.storage.frameworks.items import (
    FoundItems,
    ItemQuestion,
    Place,
    find_items,
    list_items,
    place_of,
    refresh_items,
)
from memci.storage.session import Connection, Database

# Items that are not indexed yet and are read whole; a job will index them.
_TAIL = 64
_TAIL_CHARACTERS = 4_000
# The least number of candidates of each channel.
_LEAST = 200


class ItemReads:
    """Finds items; an unknown agent has none, without an error."""

    def __init__(self, database: Database, models: ReadingModels) -> None:
        """Load nothing before the first query."""
        self._database = database
        self._models = models

    def run(self, agent_id: str, request: frameworks.ItemSearch) -> frameworks.ItemList:
        """Return the best items, and after them the latest of those without a score."""
        terms = bm25.question_terms(self._models.lexicon.terms(request.query or ""))
        vector: Vectors | None = None
        if request.query and request.query.strip():
            vector = self._models.embedder.embed_questions([request.query])[0]
        question = ItemQuestion(
            prefix=request.prefix,
            condition=request.filter,
            terms=terms[: bm25.MAX_SCORED_TERMS],
            vector=vector,
            model=self._models.embedder.model,
            most=max(_LEAST, request.offset + request.limit),
            tail=_TAIL,
        )
        with self._database.agent_snapshot(agent_id) as connection:
            found = find_items(connection, agent_id, question)
        ranked = self._rank(question, found)
        items = _ordered_items(found, ranked)[request.offset : request.offset + request.limit]
        if found.tail:
            request_indexing_by_read(self._database, agent_id)
        if request.refresh:
            refresh(self._database, agent_id, [(tuple(each.namespace), each.key) for each in items])
        return frameworks.ItemList(items=[*items])

    def _rank(self, question: ItemQuestion, found: FoundItems) -> list[tuple[Place, float]]:
        counted = {place_of(row): (dict(row.hits), row.length) for row in found.by_words}
        tail = {place_of(row): row.text[:_TAIL_CHARACTERS] for row in found.tail}
        for place, text in tail.items():
            terms = self._models.lexicon.terms(text)
            hits = {term: terms.count(term) for term in question.terms if term in terms}
            counted[place] = (hits, len(terms))
        words = _scores(counted, question, found)
        likeness = None
        if question.vector is not None:
            embedder = self._models.embedder
            cosines = {place_of(row): float(row.cosine) for row in found.by_meaning}
            near = embedder.embed(list(tail.values())) @ np.asarray(question.vector)
            cosines |= dict(zip(tail, map(float, near), strict=True))
            likeness = {place: embedder.space.likeness(each) for place, each in cosines.items()}
        return rank_items(words, likeness)


def listed(
    database: Database, agent_id: str, request: frameworks.ItemSearch
) -> frameworks.ItemList:
    """Return the latest items below a namespace, without a query."""
    with database.agent_snapshot(agent_id) as connection:
        rows = list_items(
            connection,
            agent_id,
            request.prefix,
            request.filter,
            limit=request.limit,
            offset=request.offset,
        )
    if request.refresh:
        refresh(database, agent_id, [place_of(row) for row in rows])
    return frameworks.ItemList(items=[item_of(row) for row in rows])


def refresh(database: Database, agent_id: str, places: list[Place]) -> None:
    """Postpone the expiry of these items; a crash may lose the change, without harm."""
    if places:
        with database.agent_transaction(agent_id, durable=False) as connection:
            refresh_items(connection, agent_id, places)


def item_of(row: Any, score: float | None = None) -> frameworks.ItemOut:
    """Return a row as an item of the API."""
    item = frameworks.ItemOut.model_validate(row, from_attributes=True)
    return item.model_copy(update={"score": score})


def _scores(
    counted: Mapping[Place, tuple[Mapping[str, int], int]],
    question: ItemQuestion,
    found: FoundItems,
) -> dict[Place, float]:
    frequency = Counter(found.collected.frequency)
    uncounted = [place_of(row) for row in found.tail if not row.counted]
    for place in uncounted:
        frequency.update(counted[place][0].keys())
    texts = found.collected.texts + len(uncounted)
    collected = replace(found.collected, texts=max(texts, 1.0), frequency=frequency)
    scores = {
        place: bm25.score(
            list(Counter(hits).elements()), frozenset(question.terms), collected, length=length
        )
        for place, (hits, length) in counted.items()
    }
    return {place: score for place, score in scores.items() if score > 0}


def _ordered_items(
    found: FoundItems, ranked: list[tuple[Place, float]]
) -> list[frameworks.ItemOut]:
    every = (*found.others, *found.tail, *found.by_meaning, *found.by_words)
    rows = {place_of(row): row for row in every}
    scored = {place for place, _ in ranked}
    latest = [item_of(row) for row in found.others if place_of(row) not in scored]
    return [*(item_of(rows[place], score) for place, score in ranked), *latest]


def find(
    database: Database, agent_id: str, request: frameworks.CheckpointSearch
) -> frameworks.CheckpointList:
    """Return checkpoints, the latest first; none for an unknown agent."""
    asked = request.model_dump(include={"thread", "namespace", "id", "before", "filter"})
    if request.after is not None:
        asked |= {f"after_{name}": value for name, value in request.after.model_dump().items()}
    with database.agent_snapshot(agent_id) as connection:
        rows = stored.find_checkpoints(connection, agent_id, asked, request.limit + 1)
        page = [_checkpoint(connection, agent_id, row) for row in rows[: request.limit]]
    return frameworks.CheckpointList(checkpoints=page, more=len(rows) > request.limit)


def _checkpoint(connection: Connection, agent_id: str, row: Any) -> frameworks.CheckpointOut:
    fields = {
        **row._mapping,  # noqa: SLF001 - SQLAlchemy's public name
        "checkpoint": row,
        "values": stored.values_of(connection, agent_id, row),
        "writes": stored.writes_of(connection, agent_id, row),
    }
    return frameworks.CheckpointOut.model_validate(fields, from_attributes=True)
