"""What was found, as short as a model can act on it (R20)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memci.domain.language import Language, language_of
from memci.domain.memory.recall import Miss
from memci.domain.memory.recall_text import forgotten_entry, miss_entry
from memci.shapes.memory_tools import Found, FoundList
from memci.shapes.read import RecallAnswer, SearchAnswer

# What a model can do about it.
_NEXT = {
    Language.ENGLISH: {
        Miss.NEVER_KNOWN: "search looks at all that was said, remembered or not",
        Miss.FORGOTTEN: "search may still find what was said about it",
        Miss.PENDING: "search may find them already; or recall again in a moment",
        Miss.OUT_OF_REACH: "recall with a greater depth, or focus on it first, or search",
    },
    Language.CHINESE: {
        Miss.NEVER_KNOWN: "search 会查找说过的一切，无论是否记住",
        Miss.FORGOTTEN: "search 也许还能找到当时说过的话",
        Miss.PENDING: "search 也许已能找到；也可以稍后再 recall",
        Miss.OUT_OF_REACH: "用更大的 depth 再 recall，或先用 focus 转向它，或用 search",
    },
}
_JOINT = {Language.ENGLISH: "; ", Language.CHINESE: "；"}


def of_recall(answer: RecallAnswer, keywords: Sequence[str]) -> FoundList:
    """Return what a recall found; in the keywords' language, why nothing, and what to do then."""
    notes = [forgotten_entry(each.relation, each.hint) for each in answer.forgotten]
    if answer.miss is not None:
        language = language_of(" ".join(keywords))
        step = _NEXT[language][answer.miss]
        notes.append(f"{miss_entry(answer.miss, language)}{_JOINT[language]}{step}")
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
    """Return a time to the minute, with its offset if it is not UTC; a model need not know more."""
    if at is None:
        return ""
    clock = at if at.utcoffset() else at.replace(tzinfo=None)
    return clock.isoformat(" ", "minutes")
