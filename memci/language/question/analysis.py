"""What is read out of a question before anything is searched (R10)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memci.language.detection import Language, language_of
from memci.language.names import Entity
from memci.language.question.intent import (
    AnswerKind,
    HitLimits,
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

# Characters of a question that are read: what is asked stands at its beginning or at its end.
_BEGINNING, _END = 700, 300
_BLANKS = re.compile(r"\s{2,}")
_MOST_TIMES = 8


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A question, read.

    ``entities``: the things it names, in the order of their mention; ``entity_keys``: the same as
    ``holds`` looks for them in a text. ``speakers``: who of the known names is named. ``times``: at
    most 8. ``complexity``: 0 to 1. ``k``: how many hits each source offers for it. ``parts``: the
    questions that it consists of, at most 4. ``asks``: the kind of answer it wants. ``time_alone``:
    it names times and hardly anything else, and wants what was then. ``order``: which of several
    occasions it wants.
    """

    language: Language
    entities: tuple[str, ...]
    entity_keys: frozenset[str]
    speakers: frozenset[str]
    times: tuple[TimeRange, ...]
    complexity: float
    k: int
    parts: tuple[str, ...]
    asks: AnswerKind
    time_alone: bool = False
    order: Order | None = None

    def time_fit(self, at: datetime, session_id: str | None = None) -> float:
        """Return how well what was said at a moment (aware), in a session, fits the times.

        1 inside one, 0 where none is named.
        """
        return max((each.fit(at, session_id) for each in self.times), default=0.0)


def analyse(
    text: str,
    now: datetime,
    *,
    names: Collection[str] = (),
    bounds: HitLimits | None = None,
    moments: Sequence[TimeExpression] | None = None,
) -> QueryAnalysis:
    """Read a question, asked at ``now`` (aware, in the asker's time zone if that is known).

    ``names``: those of the people who speak in the agent's memory. ``bounds``: of ``k``.
    ``moments``: what ``moments_in`` has read in it already. Of a very long text the beginning and
    the end are read. Any text can be read; none raises.
    """
    read = shortened_question(text)
    language = language_of(read)
    moments = list(time_expressions_of(read, now) if moments is None else moments)
    speakers = speakers_in(read, names)
    entities = entities_in(read, language, speakers, moments)
    unknown = [each for each in entities if not speakers_in(each, speakers)]
    speakers |= speakers_called(unknown, names)
    parts = split_questions(read)
    alone = bool(moments) and names_only_times(read, moments, speakers)
    complexity = complexity_of(
        read, names=len(entities), times=len(moments), parts=len(parts), whole=alone
    )
    return QueryAnalysis(
        language=language,
        entities=entities,
        entity_keys=frozenset(Entity.named(each).key for each in entities),
        speakers=speakers,
        times=times_of(moments),
        complexity=complexity,
        k=(bounds or HitLimits()).k(complexity),
        parts=parts,
        asks=answer_kind(read),
        time_alone=alone,
        order=None if len(parts) > 1 else order_of(read, moments),
    )


def analyse_with_names(
    analysis: QueryAnalysis,
    text: str,
    now: datetime,
    *,
    names: Collection[str],
    bounds: HitLimits | None = None,
    moments: Sequence[TimeExpression] | None = None,
) -> QueryAnalysis:
    """Return what ``analyse`` would with these names; ``analysis`` is what it returned without.

    Most questions name nobody who speaks: they are not read twice.
    """
    if speakers_in(shortened_question(text), names) or speakers_called(analysis.entities, names):
        return analyse(text, now, names=names, bounds=bounds, moments=moments)
    return analysis


def time_expressions_in(text: str, now: datetime) -> list[TimeExpression]:
    """Return the expressions of time in what is read of a question asked at ``now`` (aware)."""
    return time_expressions_of(shortened_question(text), now)


def shortened_question(text: str) -> str:
    """Return what is read of a text: of a long one both ends, with single blanks."""
    if len(text) > _BEGINNING + _END:
        text = f"{text[:_BEGINNING]}\n{text[-_END:]}"
    return _BLANKS.sub(lambda blank: "\n" if "\n" in blank[0] else " ", text)


def times_of(moments: Sequence[TimeExpression]) -> tuple[TimeRange, ...]:
    """Return the times that they mean, each once, at most 8."""
    return tuple(dict.fromkeys(time for each in moments for time in each.times))[:_MOST_TIMES]
