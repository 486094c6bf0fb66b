"""Analyse a question before a search (R10)."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memci.language.detection import Language, language_of
from memci.language.hit_limits import HitLimits
from memci.language.names import Entity
from memci.language.question.intent import (
    AnswerKind,
    Order,
    answer_kind,
    complexity_of,
    names_only_times,
    order_of,
)
from memci.language.question.names import entities_in, speakers_called, speakers_in
from memci.language.question.subquestions import split_questions
from memci.language.times.question_times import time_expressions_of
from memci.language.times.ranges import TimeExpression, TimeRange

# Characters read of a text: its question is at the beginning or at the end.
_BEGINNING, _END = 700, 300
_BLANKS = re.compile(r"\s{2,}")
_MOST_TIMES = 8


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """The result of the analysis of a question."""

    language: Language
    entities: tuple[str, ...]  # names in the question, in order of first mention
    entity_keys: frozenset[str]  # their ``Entity.key``, for ``entities_named``
    speakers: frozenset[str]  # the known names among them
    times: tuple[TimeRange, ...]  # at most 8
    complexity: float  # 0 to 1
    k: int  # how many hits each source offers
    parts: tuple[str, ...]  # the questions that it consists of, at most 4
    answer_kind: AnswerKind
    only_times: bool = False  # it names little but times, and asks for all of them
    order: Order | None = None  # the first or the latest of several occasions

    def time_fit(self, at: datetime, session_id: str | None = None) -> float:
        """Return how well a message of this time (aware) and session fits the times.

        1 inside one of them; 0 if the question names none.
        """
        return max((each.fit(at, session_id) for each in self.times), default=0.0)


def analyse(
    text: str,
    now: datetime,
    *,
    names: Collection[str] = (),
    bounds: HitLimits | None = None,
    expressions: Sequence[TimeExpression] | None = None,
) -> QueryAnalysis:
    """Analyse a question asked at ``now`` (aware, in the asker's time zone if that is known).

    ``names``: of the speakers in the agent's memory. ``bounds``: of ``k``. ``expressions``: the
    result of ``time_expressions_in``, if it is known. Of a very long text only both ends are read.
    No text raises.
    """
    read = shortened_question(text)
    language = language_of(read)
    expressions = list(time_expressions_of(read, now) if expressions is None else expressions)
    speakers = speakers_in(read, names)
    entities = entities_in(read, language, speakers, expressions)
    unknown = [each for each in entities if not speakers_in(each, speakers)]
    speakers |= speakers_called(unknown, names)
    parts = split_questions(read)
    alone = bool(expressions) and names_only_times(read, expressions, speakers)
    complexity = complexity_of(
        read, names=len(entities), times=len(expressions), parts=len(parts), whole=alone
    )
    return QueryAnalysis(
        language=language,
        entities=entities,
        entity_keys=frozenset(Entity.named(each).key for each in entities),
        speakers=speakers,
        times=times_of(expressions),
        complexity=complexity,
        k=(bounds or HitLimits()).k(complexity),
        parts=parts,
        answer_kind=answer_kind(read),
        only_times=alone,
        order=None if len(parts) > 1 else order_of(read, expressions),
    )


def time_expressions_in(text: str, now: datetime) -> list[TimeExpression]:
    """Return the expressions of time in a question asked at ``now`` (aware)."""
    return time_expressions_of(shortened_question(text), now)


def shortened_question(text: str) -> str:
    """Return the analysed part of a text: both ends of a long one, with single blanks."""
    if len(text) > _BEGINNING + _END:
        text = f"{text[:_BEGINNING]}\n{text[-_END:]}"
    return _BLANKS.sub(lambda blank: "\n" if "\n" in blank[0] else " ", text)


def times_of(expressions: Sequence[TimeExpression]) -> tuple[TimeRange, ...]:
    """Return the distinct times of expressions, at most 8."""
    return tuple(dict.fromkeys(time for each in expressions for time in each.times))[:_MOST_TIMES]
