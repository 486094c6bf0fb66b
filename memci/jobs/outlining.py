"""A summarizer outlines one interaction, however long that is, in about the same time (P6, P7)."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.context.budget import Count
from memci.domain.language import Language
from memci.domain.message import Message
from memci.domain.pages.chapters import entry
from memci.domain.pages.outline import MOST_ENTRY, Outline, fitted, is_outline_of
from memci.errors import SmallModelAnswerError
from memci.smallmodel.ports import Summarizer

# Messages that the summarizer is shown of an interaction: of a longer one its beginning, where it
# is said what is wanted, and its end, where it is said what came of it.
MOST_FIRST, MOST_LAST = 40, 20


def outline_of(
    summarizer: Summarizer, messages: Sequence[Message], language: Language, count: Count
) -> Outline:
    """Return what stands for an interaction; for messages in the middle of a long one stand-ins.

    Raises ``SmallModelAnswerError`` when the summarizer's outline does not fit the messages.
    """
    middle = messages[MOST_FIRST : max(MOST_FIRST, len(messages) - MOST_LAST)]
    shown = [*messages[:MOST_FIRST], *messages[MOST_FIRST + len(middle) :]]
    outline = summarizer.outline(shown, language, count)
    if not is_outline_of(outline, shown):
        raise SmallModelAnswerError("the summarizer's outline does not fit the messages")
    if not middle:
        return outline
    lines = [fitted(entry(each), MOST_ENTRY, count) for each in middle]
    first, last = outline.entries[:MOST_FIRST], outline.entries[MOST_FIRST:]
    return Outline(outline.name, outline.description, (*first, *lines, *last))
