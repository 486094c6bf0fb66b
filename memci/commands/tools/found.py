"""What was found, as short as a model can act on it (R20)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memci.domain.language import language_of
from memci.domain.memory.recall_text import forgotten_entry, miss_entry
from memci.shapes.memory_tools import Found, FoundList
from memci.shapes.read import RecallAnswer, SearchAnswer


def of_recall(answer: RecallAnswer, keywords: Sequence[str]) -> FoundList:
    """Return what a recall found; why it found nothing, in the language of the keywords."""
    notes = [forgotten_entry(each.relation, each.hint) for each in answer.forgotten]
    if answer.miss is not None:
        notes.append(miss_entry(answer.miss, language_of(" ".join(keywords))))
    found = [
        Found(
            memory=each.node_id,
            messages=each.message_ids,
            said_at=moment(each.said_at),
            text=each.content,
            replaced_by=each.superseded_by,
        )
        for each in answer.memories
    ]
    return FoundList(found=found, note="\n".join(notes) or None)


def of_search(answer: SearchAnswer) -> FoundList:
    """Return what a search found."""
    found = [
        Found(
            memory=each.node_id,
            messages=each.message_ids,
            said_at=moment(each.created_at),
            text=each.text,
            replaced_by=each.superseded_by,
            page=each.page,
        )
        for each in answer.hits
    ]
    return FoundList(found=found)


def moment(at: datetime | None) -> str:
    """Return a time to the minute; a model need not know more."""
    return "" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
