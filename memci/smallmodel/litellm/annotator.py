"""Says what texts are about (M4), by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.language import language_of
from memci.domain.memory.entity import is_pronoun
from memci.domain.memory.node import NodeType
from memci.errors import SmallModelAnswerError
from memci.smallmodel.litellm.answer import Notes
from memci.smallmodel.litellm.compressor import refuse_invented
from memci.smallmodel.litellm.facts import akin, stands_in
from memci.smallmodel.litellm.language_model import LanguageModel, Question
from memci.smallmodel.ports import Annotation, Annotator

_READ = 8_000
_LONGEST_PHRASE = 80
_LONGEST_KEYWORD = 64
_MOST_KEYWORDS = 12
_MOST_ENTITIES = 4


class LlmAnnotator:
    """One call for each text: what one text says cannot change what is said of another."""

    def __init__(self, model: LanguageModel, offline: Annotator) -> None:
        """Take the model, and what stands in for it, text by text."""
        self._model = model
        self._offline = offline

    def load(self) -> None:
        """Import what calls need."""
        self._model.load()

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order."""
        return [self._annotate(text) for text in texts]

    def _annotate(self, text: str) -> Annotation:
        question = Question(
            prompt="annotate",
            language=language_of(text),
            data={"text": text[:_READ]},
            shape=Notes,
            read=lambda notes: _annotation(notes, text),
        )
        return self._model.ask(question, lambda: self._offline.annotate([text])[0])


def _annotation(notes: Notes, text: str) -> Annotation:
    """Hold the notes to the text: a name that does not stand in it is invented."""
    if not 0 < len(notes.phrase) <= _LONGEST_PHRASE:
        raise SmallModelAnswerError(
            f"the model's phrase has {len(notes.phrase)} characters, 1 to 80 were asked"
        )
    refuse_invented(notes.phrase, text)
    entities = [each for each in _words(notes.entities) if stands_in(each, text)]
    if notes.entities and not entities:
        raise SmallModelAnswerError("the model named entities that the text does not")
    return Annotation(
        phrase=notes.phrase,
        keywords=tuple(each for each in _words(notes.keywords) if akin(each, text))[
            :_MOST_KEYWORDS
        ],
        entities=tuple(each for each in entities if not is_pronoun(each))[:_MOST_ENTITIES],
        type=NodeType(notes.type),
    )


def _words(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(each for each in words if 0 < len(each) <= _LONGEST_KEYWORD))
