"""Cuts a question into what has to be searched for (R10), by a language model."""

from __future__ import annotations

from memci.errors import SmallModelAnswerError
from memci.language.detection import Language
from memci.smallmodel.litellm.compressor import refuse_invented
from memci.smallmodel.litellm.language_model import LanguageModel, Plan, Question, excerpt
from memci.smallmodel.ports import QueryPlanner

# Characters of a question that a call shows, and of an answer's queries; how many are used.
_READ = 2_000
_LONGEST = 300
_MOST = 4


class LlmQueryPlanner:
    """One call for each question."""

    def __init__(self, model: LanguageModel, offline: QueryPlanner) -> None:
        """Take the model, and what stands in for it."""
        self._model = model
        self._offline = offline

    def load(self) -> None:
        """Import what calls need."""
        self._model.load()

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions; what they name and figure stands in ``text``."""
        shown = excerpt(text, _READ)
        if not shown:
            return []

        def read(answer: Plan) -> list[str]:
            if not all(0 < len(each) <= _LONGEST for each in answer.queries):
                raise SmallModelAnswerError(
                    f"the model planned a query without characters, or with more than {_LONGEST}"
                )
            refuse_invented("\n".join(answer.queries), text)
            own: dict[str, str] = {}
            for each in answer.queries:
                own.setdefault(_plain(each), each)
            own.pop(_plain(text), None)
            return list(own.values())[:_MOST]

        question = Question(
            prompt="plan_query",
            language=language,
            data={"question": shown},
            shape=Plan,
            read=read,
        )
        return self._model.ask(question, lambda: self._offline.plan(text, language))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!。？！")
