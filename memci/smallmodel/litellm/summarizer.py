"""Outlines interactions (P6, P7) and keeps a session's summary (R8), by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.context.budget import Count
from memci.domain.language import Language, language_of
from memci.domain.message import Message
from memci.domain.pages.outline import Outline
from memci.errors import SmallModelAnswerError
from memci.smallmodel.litellm.answer import Summary
from memci.smallmodel.litellm.compressor import refuse_invented
from memci.smallmodel.litellm.excerpt import excerpt, speaker
from memci.smallmodel.litellm.language_model import LanguageModel, Question
from memci.smallmodel.litellm.outline import LlmOutlines
from memci.smallmodel.ports import Summarizer

# Characters of messages that one call shows; more are summarized call by call.
_LONGEST_SHOWN = 24_000
_LONGEST_MESSAGE = 2_000
_ASKED = 0.9


class LlmSummarizer:
    """One call for as many messages as a model reads well, each going on from the one before."""

    def __init__(self, model: LanguageModel, offline: Summarizer) -> None:
        """Take the model, and what stands in for it."""
        self._model = model
        self._offline = offline
        self._outlines = LlmOutlines(model, offline)

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        """Return what an interaction is called and was about, and a line for each message."""
        return self._outlines.outline(messages, language, count)

    def load(self) -> None:
        """Import what calls need."""
        self._model.load()

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        """Return a summary of at most ``target`` characters that takes the previous one's place."""
        summary = previous
        for part in _parts([message for message in messages if message.text.strip()]):
            summary = self._go_on(part, summary, target)
        return summary if len(summary) <= target else self._offline.summarize([], summary, target)

    def _go_on(self, messages: Sequence[Message], previous: str, target: int) -> str:
        shown = [
            {"speaker": speaker(each), "text": excerpt(each.text, _LONGEST_MESSAGE)}
            for each in messages
        ]

        def read(answer: Summary) -> str:
            if not 0 < len(answer.summary) <= target:
                raise SmallModelAnswerError(
                    f"the model's summary has {len(answer.summary)} characters, 1 to {target} were "
                    "asked"
                )
            said = [f"{speaker(each)}\n{each.text}" for each in messages]
            refuse_invented(answer.summary, previous, *said)
            return answer.summary

        question = Question(
            prompt="summarize",
            language=language_of("\n".join(message.text for message in messages)),
            data={"previous": previous, "messages": shown, "max_characters": int(target * _ASKED)},
            shape=Summary,
            read=read,
        )
        return self._model.ask(
            question, lambda: self._offline.summarize(messages, previous, target)
        )


def _parts(messages: Sequence[Message]) -> list[list[Message]]:
    parts: list[list[Message]] = []
    room = 0
    for message in messages:
        length = min(len(message.text), _LONGEST_MESSAGE)
        if length > room:
            parts.append([])
            room = _LONGEST_SHOWN
        parts[-1].append(message)
        room -= length
    return parts
