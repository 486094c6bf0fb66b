"""Judges what is worth keeping for long (R3), by the turns of phrase that show it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from memci.language import chinese_words
from memci.language.detection import Language, language_of
from memci.language.names import entities
from memci.language.worth import Judgement, judged

_READ = 8_000


class OfflineJudge:
    """Cues and statistics, for English and Chinese; it does without summaries."""

    def judge(self, texts: Sequence[str], summaries: Sequence[str] = ()) -> list[Judgement]:
        """Judge each text by itself; as many answers as texts, in their order."""
        del summaries
        return [judged(text, partial(_names, text)) for text in (each[:_READ] for each in texts)]


def _names(text: str) -> bool:
    language = language_of(text)
    tagged = chinese_words.tagged_words(text) if language is Language.CHINESE else []
    return bool(entities(text, tagged))
