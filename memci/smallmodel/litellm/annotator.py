"""Annotates, judges, names relations and plans queries with a language model (M4, M6, R3, R10)."""

from collections.abc import Sequence

from memci.domain.memory.node import NodeType
from memci.errors import SmallModelAnswerError
from memci.language.detection import Language, language_of
from memci.language.names import is_pronoun
from memci.smallmodel.litellm import language_model
from memci.smallmodel.litellm.compressor import contains_word, refuse_invented, shares_word_stems
from memci.smallmodel.ports import (
    LONGEST_KEYWORD,
    LONGEST_PHRASE,
    MOST_ENTITIES,
    MOST_KEYWORDS,
    Annotation,
    Annotator,
    Judge,
    Judgement,
    QueryPlanner,
    ReadSentence,
    RelationNamer,
)

_READ = 8_000


class LlmAnnotator(language_model.ModelTask[Annotator]):
    """Makes one call for each text, so that no text affects the annotation of another."""

    def annotate(
        self, texts: Sequence[str], sentences: Sequence[Sequence[ReadSentence]] = ()
    ) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order."""
        read = sentences or [()] * len(texts)
        return [self._annotate(*each) for each in zip(texts, read, strict=True)]

    def _annotate(self, text: str, sentences: Sequence[ReadSentence]) -> Annotation:
        question = language_model.Question(
            prompt="annotate",
            language=language_of(text),
            data={"text": text[:_READ]},
            shape=language_model.Notes,
            read=lambda notes: _annotation(notes, text),
        )
        read = [sentences] if sentences else []
        return self._model.ask(question, lambda: self._offline.annotate([text], read)[0])


def _annotation(notes: language_model.Notes, text: str) -> Annotation:
    """Return the annotation without names that are not in the text."""
    if not 0 < len(notes.phrase) <= LONGEST_PHRASE:
        raise SmallModelAnswerError(
            f"the model's phrase has {len(notes.phrase)} characters, 1 to 80 were asked"
        )
    refuse_invented(notes.phrase, text)
    entities = [each for each in _words(notes.entities) if contains_word(each, text)]
    if notes.entities and not entities:
        raise SmallModelAnswerError("the model named entities that the text does not")
    return Annotation(
        phrase=notes.phrase,
        keywords=tuple(each for each in _words(notes.keywords) if shares_word_stems(each, text))[
            :MOST_KEYWORDS
        ],
        entities=tuple(each for each in entities if not is_pronoun(each))[:MOST_ENTITIES],
        type=NodeType(notes.type),
    )


def _words(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(each for each in words if 0 < len(each) <= LONGEST_KEYWORD))


_READ_OF_RELATION = 4_000
_LONGEST = 32


class LlmRelationNamer(language_model.ModelTask[RelationNamer]):
    """Makes one call for a memory and all its focus points."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation for each focus point, in ``language``."""
        if not focus:
            return []

        def read(answer: language_model.Relations) -> list[str]:
            if len(answer.relations) != len(focus):
                raise SmallModelAnswerError(
                    f"the model named {len(answer.relations)} relations for {len(focus)}"
                )
            if not all(0 < len(each) <= _LONGEST for each in answer.relations):
                raise SmallModelAnswerError("the model named a relation that is empty or too long")
            refuse_invented("\n".join(answer.relations), text, *focus)
            return answer.relations

        question = language_model.Question(
            prompt="name_relations",
            language=language,
            data={"text": text[:_READ_OF_RELATION], "focus_points": list(focus)},
            shape=language_model.Relations,
            read=read,
        )
        return self._model.ask(question, lambda: self._offline.names(text, focus, language))


class LlmJudge(language_model.ModelTask[Judge]):
    """Makes one call for each text, so that no text affects the judgement of another."""

    def judge(
        self,
        texts: Sequence[str],
        summaries: Sequence[str] = (),
        sentences: Sequence[Sequence[ReadSentence]] = (),
    ) -> list[Judgement]:
        """Judge each text alone, with its session's summary."""
        context = summaries or [""] * len(texts)
        read = sentences or [()] * len(texts)
        return [self._judge(*each) for each in zip(texts, context, read, strict=True)]

    def _judge(self, text: str, summary: str, sentences: Sequence[ReadSentence]) -> Judgement:
        data = {"text": text[:_READ]} | ({"summary": summary[:_READ]} if summary else {})
        question = language_model.Question(
            prompt="judge",
            language=language_of(text),
            data=data,
            shape=language_model.Verdict,
            read=lambda verdict: Judgement(verdict.eligible, verdict.worth),
        )
        context, read = ([summary] if summary else []), ([sentences] if sentences else [])
        return self._model.ask(question, lambda: self._offline.judge([text], context, read)[0])


# Characters of a question that a call shows, and of an answer's queries; how many are used.
_READ_PLAN = 2_000
_LONGEST_QUERY = 300
_MOST = 4


class LlmQueryPlanner(language_model.ModelTask[QueryPlanner]):
    """Makes one call for each question."""

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions, whose names and figures are all in ``text``."""
        shown = language_model.excerpt(text, _READ_PLAN)
        if not shown:
            return []

        def read(answer: language_model.Plan) -> list[str]:
            if not all(0 < len(each) <= _LONGEST_QUERY for each in answer.queries):
                raise SmallModelAnswerError(
                    "the model planned a query that is empty or has more than "
                    f"{_LONGEST_QUERY} characters"
                )
            refuse_invented("\n".join(answer.queries), text)
            own: dict[str, str] = {}
            for each in answer.queries:
                own.setdefault(_plain(each), each)
            own.pop(_plain(text), None)
            return list(own.values())[:_MOST]

        question = language_model.Question(
            prompt="plan_query",
            language=language,
            data={"question": shown},
            shape=language_model.Plan,
            read=read,
        )
        return self._model.ask(question, lambda: self._offline.plan(text, language))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!。？！")
