"""Summarise sessions and outline interactions with a language model (P6, P7, R8)."""

from collections.abc import Sequence
from dataclasses import replace

from memci.domain.pages.interaction_outline import (
    MOST_DESCRIPTION,
    MOST_ENTRY,
    MOST_NAME,
    Outline,
    entry_prefix,
    fit_line,
)
from memci.domain.token_counts import Count
from memci.errors import SmallModelAnswerError
from memci.language.detection import Language, language_of
from memci.message import Message
from memci.smallmodel.litellm.compressor import refuse_invented
from memci.smallmodel.litellm.language_model import (
    ModelTask,
    Names,
    Question,
    Summary,
    excerpt,
    speaker,
)
from memci.smallmodel.ports import Summarizer

# Messages that one call shows, and characters of each; more are outlined call by call.
_MOST_SHOWN = 20
_LONGEST_MESSAGE = 1_500
# Requested characters, so that the tokens fit; an answer of _TOO_LONG times that is refused.
_ASKED = {Language.ENGLISH: (60, 240, 110), Language.CHINESE: (20, 60, 28)}
_TOO_LONG = 4
# Characters of messages that one call shows; more are summarized call by call.
_LONGEST_SHOWN = 24_000
_LONGEST_SUMMARISED_MESSAGE = 2_000
_SHARE_ASKED_OF_SUMMARY = 0.9


class LlmSummarizer(ModelTask[Summarizer]):
    """Outlines interactions, and extends summaries: one call for each group of messages."""

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        """Return the outline of messages; the name of each part is given to the next."""
        whole = Outline("", "", ())
        for begin in range(0, len(messages), _MOST_SHOWN):
            part = messages[begin : begin + _MOST_SHOWN]
            result = self._outline_part(part, whole, language, count)
            whole = Outline(result.name, result.description, (*whole.entries, *result.entries))
        return whole

    def _outline_part(
        self, messages: Sequence[Message], before: Outline, language: Language, count: Count
    ) -> Outline:
        spoken = language_of("\n".join(each.text for each in messages))
        sizes = _ASKED[spoken]

        def read(answer: Names) -> Outline:
            _check_names(answer, messages, before)
            lines = zip(messages, answer.lines, strict=True)
            return Outline(
                fit_line(answer.name, MOST_NAME, count),
                fit_line(answer.description, MOST_DESCRIPTION, count),
                tuple(
                    fit_line(entry_prefix(message, language) + line, MOST_ENTRY, count)
                    for message, line in lines
                ),
            )

        def instead() -> Outline:
            result = self._offline.outline(messages, language, count)
            return replace(before, entries=result.entries) if before.name else result

        question = Question(
            prompt="outline",
            language=spoken,
            data={
                "so_far": {"name": before.name, "description": before.description},
                "messages": _prompt_items(messages, _LONGEST_MESSAGE),
                "max_characters": dict(zip(("name", "description", "line"), sizes, strict=True)),
            },
            shape=Names,
            read=read,
        )
        return self._model.ask(question, instead)

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        """Return a summary of at most ``target`` characters that takes the previous one's place."""
        summary = previous
        for part in _parts([message for message in messages if message.text.strip()]):
            summary = self._extend_summary(part, summary, target)
        return summary if len(summary) <= target else self._offline.summarize([], summary, target)

    def _extend_summary(self, messages: Sequence[Message], previous: str, target: int) -> str:
        def read(answer: Summary) -> str:
            if not 0 < len(answer.summary) <= target:
                raise SmallModelAnswerError(
                    f"the model's summary has {len(answer.summary)} characters, 1 to {target} were "
                    "asked"
                )
            refuse_invented(answer.summary, previous, *_spoken_texts(messages))
            return answer.summary

        question = Question(
            prompt="summarize",
            language=language_of("\n".join(message.text for message in messages)),
            data={
                "previous": previous,
                "messages": _prompt_items(messages, _LONGEST_SUMMARISED_MESSAGE),
                "max_characters": int(target * _SHARE_ASKED_OF_SUMMARY),
            },
            shape=Summary,
            read=read,
        )
        return self._model.ask(
            question, lambda: self._offline.summarize(messages, previous, target)
        )


def _check_names(answer: Names, messages: Sequence[Message], before: Outline) -> None:
    """Check an answer against messages and limits; a slightly long text is cut later."""
    if len(answer.lines) != len(messages):
        raise SmallModelAnswerError(
            f"the model wrote {len(answer.lines)} lines for {len(messages)} messages"
        )
    texts = [answer.name, answer.description, *answer.lines]
    of_name, of_description, of_line = _ASKED[Language.ENGLISH]
    sizes = [of_name, of_description, *(of_line for _ in answer.lines)]
    for text, size in zip(texts, sizes, strict=True):
        if not 0 < len(text) <= _TOO_LONG * size:
            raise SmallModelAnswerError(
                f"a name or line of the model has {len(text)} characters, 1 to"
                f" {_TOO_LONG * size} were asked at most"
            )
    known = (before.name, before.description, *_spoken_texts(messages))
    refuse_invented("\n".join(texts), *known)


def _prompt_items(messages: Sequence[Message], longest: int) -> list[dict[str, str]]:
    return [{"speaker": speaker(each), "text": excerpt(each.text, longest)} for each in messages]


def _spoken_texts(messages: Sequence[Message]) -> list[str]:
    return [f"{speaker(each)}\n{each.text}" for each in messages]


def _parts(messages: Sequence[Message]) -> list[list[Message]]:
    parts: list[list[Message]] = []
    room = 0
    for message in messages:
        length = min(len(message.text), _LONGEST_SUMMARISED_MESSAGE)
        if length > room:
            parts.append([])
            room = _LONGEST_SHOWN
        parts[-1].append(message)
        room -= length
    return parts
