"""Judges what is worth keeping for long (R3), by the turns of phrase that show it."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.language import Language, language_of
from memci.smallmodel.offline import chinese
from memci.smallmodel.offline.entities import entities
from memci.smallmodel.offline.worth import kinds_of, worth_of
from memci.smallmodel.ports import Judgement

# Characters read of one text, as the annotator does.
_READ = 8_000


class OfflineJudge:
    """Cues and statistics, for English and Chinese; it does without summaries."""

    def judge(self, texts: Sequence[str], summaries: Sequence[str] = ()) -> list[Judgement]:
        """Judge each text by itself; as many answers as texts, in their order."""
        del summaries
        return [_judge(text[:_READ]) for text in texts]


def _judge(text: str) -> Judgement:
    language = language_of(text)
    tagged = chinese.tagged_words(text) if language is Language.CHINESE else []
    worth = worth_of(text, named=bool(entities(text, language, tagged)))
    return Judgement(eligible=bool(kinds_of(text)), worth=worth)
