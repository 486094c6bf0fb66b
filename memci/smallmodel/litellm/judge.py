"""Judges what is worth keeping for long (R3), by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.language import language_of
from memci.smallmodel.litellm.answer import Verdict
from memci.smallmodel.litellm.language_model import LanguageModel, Question
from memci.smallmodel.ports import Judge, Judgement

_READ = 8_000


class LlmJudge:
    """One call for each text: no text has a say in what another is worth."""

    def __init__(self, model: LanguageModel, offline: Judge) -> None:
        """Take the model, and what stands in for it, text by text."""
        self._model = model
        self._offline = offline

    def load(self) -> None:
        """Import what calls need."""
        self._model.load()

    def judge(self, texts: Sequence[str], summaries: Sequence[str] = ()) -> list[Judgement]:
        """Judge each text by itself, beside its session's summary."""
        beside = summaries or [""] * len(texts)
        return [self._judge(text, told) for text, told in zip(texts, beside, strict=True)]

    def _judge(self, text: str, summary: str) -> Judgement:
        data = {"text": text[:_READ]} | ({"summary": summary[:_READ]} if summary else {})
        question = Question(
            prompt="judge",
            language=language_of(text),
            data=data,
            shape=Verdict,
            read=lambda verdict: Judgement(verdict.eligible, verdict.worth),
        )
        return self._model.ask(
            question, lambda: self._offline.judge([text], [summary] if summary else [])[0]
        )
