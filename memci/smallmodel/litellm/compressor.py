"""Says the same in fewer characters (M12), by a language model."""

from __future__ import annotations

from memci.domain.language import language_of
from memci.domain.memory.shrink import check_compressed
from memci.errors import SmallModelAnswerError
from memci.smallmodel.litellm.answer import Shorter
from memci.smallmodel.litellm.facts import invented
from memci.smallmodel.litellm.language_model import BudgetUsedUpError, LanguageModel, Question
from memci.smallmodel.ports import Compressor

# Models count badly: they are asked for less than they may write.
_ASKED = 0.9
# Characters. For so short a text they write longer ones, try after try.
_SHORTEST_ASKED = 16


class LlmCompressor:
    """One call for each text; what fails is tried again by the pass (M13), never here.

    Targets below 16 characters, and texts when the day's budget is used up, are the offline
    model's.
    """

    at_once = 1

    def __init__(self, model: LanguageModel, offline: Compressor) -> None:
        """Take the model, and what stands in for it."""
        self._model = model
        self._offline = offline

    def load(self) -> None:
        """Import what calls need."""
        self._model.load()

    def compress(self, text: str, target: int) -> str:
        """Return at most ``target`` characters of what ``text`` says.

        Raises ``SmallModelAnswerError`` for an answer that is empty, longer than ``target``, not
        shorter than ``text``, or that states figures, addresses or names which ``text`` does not.
        """
        if target < _SHORTEST_ASKED:
            return self._offline.compress(text, target)

        def read(answer: Shorter) -> str:
            shorter = check_compressed(answer.text, target=target, length=len(text))
            refuse_invented(shorter, text)
            return shorter

        question = Question(
            prompt="compress",
            language=language_of(text),
            data={"text": text, "max_characters": int(target * _ASKED)},
            shape=Shorter,
            read=read,
        )
        try:
            return self._model.ask_once(question)
        except BudgetUsedUpError:
            return self._offline.compress(text, target)


def refuse_invented(answer: str, *sources: str) -> None:
    """Raise ``SmallModelAnswerError`` if an answer states what no source does."""
    count = len(invented(answer, *sources))
    if count:
        raise SmallModelAnswerError(
            f"the model's answer states {count} figures, addresses or names that the text does not"
        )
