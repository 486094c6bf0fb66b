"""Names how a memory relates to focus points (M6), by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.language import Language
from memci.errors import SmallModelAnswerError
from memci.smallmodel.litellm.answer import Relations
from memci.smallmodel.litellm.compressor import refuse_invented
from memci.smallmodel.litellm.language_model import LanguageModel, Question
from memci.smallmodel.ports import RelationNamer

_READ = 4_000
_LONGEST = 32


class LlmRelationNamer:
    """One call for a memory and all its focus points."""

    def __init__(self, model: LanguageModel, offline: RelationNamer) -> None:
        """Take the model, and what stands in for it."""
        self._model = model
        self._offline = offline

    def load(self) -> None:
        """Import what calls need."""
        self._model.load()

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation for each focus point, in ``language``."""
        if not focus:
            return []

        def read(answer: Relations) -> list[str]:
            if len(answer.relations) != len(focus):
                raise SmallModelAnswerError(
                    f"the model named {len(answer.relations)} relations for {len(focus)}"
                )
            if not all(0 < len(each) <= _LONGEST for each in answer.relations):
                raise SmallModelAnswerError("the model named a relation that is empty or too long")
            refuse_invented("\n".join(answer.relations), text, *focus)
            return answer.relations

        question = Question(
            prompt="name_relations",
            language=language,
            data={"text": text[:_READ], "focus_points": list(focus)},
            shape=Relations,
            read=read,
        )
        return self._model.ask(question, lambda: self._offline.names(text, focus, language))
