"""Retrieval that search and context share: understand the question, find, rank (R10, R10b, R11)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from pydantic import JsonValue

from memci.domain.documents import symbols_in
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.search import bm25
from memci.domain.search.bm25 import scored
from memci.domain.search.candidate import (
    DEEPEST,
    KEPT,
    Candidate,
    Channel,
    Source,
    Timed,
    message_candidate,
    reads,
    understood,
)
from memci.domain.search.duplicates import by_words, joined, unrepeated
from memci.domain.search.ranking import Hints, Ranked, best_of, fuse_rrf, fuse_scaled, hints_of
from memci.errors import SmallModelError
from memci.language.detection import Language, language_of
from memci.language.hit_limits import HitLimits
from memci.language.question import (
    Conversation,
    QueryAnalysis,
    TimeExpression,
    TimeRange,
    TimeSpan,
    analyse,
    analyse_with_names,
    asks_about_present,
    find_last_session,
    names_only_times,
    shortened_question,
    spans_to_search,
    split_questions,
    time_expressions_in,
    times_of,
)
from memci.reading.models import ReadingModels
from memci.schemas.reads import Fusion, Scope
from memci.smallmodel.ports import QueryPlanner, Vectors
from memci.storage.documents import see_collections
from memci.storage.pages.visible_pages import request_viewer
from memci.storage.reading.snapshot_state import SnapshotState
from memci.storage.search.find import Found, Question, Restriction, find
from memci.storage.session import Connection


def analysis_account(analysis: QueryAnalysis) -> dict[str, JsonValue]:
    """Return what was read out of a question, as ``explain`` tells it.

    ``times`` are pairs of ISO 8601: from, and before; null where a time is open at that end.
    """
    return {
        "language": analysis.language.value,
        "entities": list(analysis.entities),
        "speakers": [*sorted(analysis.speakers)],
        "times": [_pair(each) for each in analysis.times],
        "complexity": round(analysis.complexity, 3),
        "k": analysis.k,
        "parts": list(analysis.parts),
        "asks": analysis.answer_kind.value,
        "order": analysis.order and analysis.order.value,
    }


def planned(planner: QueryPlanner | None, text: str, language: Language) -> list[str]:
    """Return what a planner wants searched beside a question; nothing where it does not answer.

    Calls a model: open no transaction around it. A read never fails for want of a plan.
    """
    if planner is None:
        return []
    try:
        return planner.plan(text, language)
    except SmallModelError:
        return []


def _pair(time: TimeRange) -> list[JsonValue]:
    return [_written(time.since), _written(time.until)]


def _written(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


# Of a message that is not indexed yet, so much is read to score it.
_TAIL_CHARACTERS = 20_000


# When the conversation before was, as seen from a moment; None: there was none.
LastSession: TypeAlias = Callable[[datetime], Conversation | None]


def _no_session(_now: datetime) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Asked:
    """A text and what is asked of the database for it.

    The question itself comes first, then what is to be looked for beside it: the questions that it
    consists of, and those of a planner. ``expressions``: the times in it, read at ``now``; None:
    they were not read. ``analysis``: how it is read without the names of speakers (R10); None: not
    yet analysed.
    """

    text: str
    questions: tuple[Question, ...]
    now: datetime
    expressions: list[TimeExpression] | None = None
    analysis: QueryAnalysis | None = None

    def analysed(self, bounds: HitLimits) -> Asked:
        """Return it with its analysis."""
        analysis = analyse(self.text, self.now, bounds=bounds, expressions=self.expressions)
        return replace(self, analysis=analysis)

    def analysis_among(self, names: Collection[str], bounds: HitLimits) -> QueryAnalysis:
        """Return how it is read where these people speak."""
        if self.analysis is None:
            return analyse(
                self.text, self.now, names=names, bounds=bounds, expressions=self.expressions
            )
        return analyse_with_names(
            self.analysis,
            self.text,
            self.now,
            names=names,
            bounds=bounds,
            expressions=self.expressions,
        )

    def as_deep_as(self, best: int) -> Asked:
        """Return it with so many candidates of each channel."""
        return replace(self, questions=tuple(replace(each, best=best) for each in self.questions))


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, best first, and how the question was read; None: it was not.

    ``timed``: the times that it was looked for.
    """

    text: str
    ranked: list[Ranked]
    analysis: QueryAnalysis | None
    timed: Timed

    @property
    def as_of(self) -> Sequence[TimeSpan]:
        """The times at which something is to have held; none: it is to hold now."""
        return () if asks_about_present(self.text) else self.timed.stretches


class Retrieval:
    """Turns a text into questions to the database, and what they find into a ranking."""

    def __init__(
        self,
        models: ReadingModels,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Take the small models; nothing is loaded before the first question."""
        self._models = models
        self._clock = clock

    def ask(
        self,
        text: str,
        scope: Scope,
        vector: Vectors | None = None,
        *,
        best: int = DEEPEST,
        analysed: bool = True,
        last_session: LastSession = _no_session,
    ) -> Asked:
        """Return what is asked of the database. Calls models: open no transaction around it.

        ``vector`` (shape (d,)) is that of the text, if the caller has it already; ``best``:
        candidates of each channel; ``analysed``: the question is read (R10), by a planner, too, if
        there is one. ``last_session`` is called for a question about the conversation before.
        """
        now = scope.now or scope.as_of or self._clock()
        beside: list[str] = []
        expressions = None
        if analysed:
            expressions = time_expressions_in(text, now) or _last_talk(text, now, last_session)
            beside += planned(self._models.query_planner, text, language_of(text))
            parts = split_questions(shortened_question(text))
            beside += parts if len(parts) > 1 else ()
        texts = list(dict.fromkeys((text, *beside)))
        questions = [self._question(each, scope, best) for each in texts[1:]]
        whole = self._question(text, scope, best, vector)
        whole = replace(whole, stretches=_stretches(text, expressions or (), scope))
        return Asked(text, (whole, *questions), now, expressions)

    def find(
        self,
        connection: Connection,
        agent_id: str,
        asked: Asked,
        scope: Scope,
        *,
        outset: SnapshotState,
        strict: bool = True,
    ) -> list[Found]:
        """Return what is found for each question, looking into what there is by the ``outset``.

        ``strict``: collections that are asked for must be there, or ``NotFoundError`` is raised.
        """
        owners = [agent_id] if outset.has_documents else []
        if scope.collections:
            owners += see_collections(connection, scope.collections, must_be_there=strict)
        viewer = None
        if (KEPT - outset.lacks).intersection(scope.sources):
            viewer = request_viewer(connection, agent_id, scope.session_id, scope.user_id)
        questions = [each.seen_by(viewer) for each in asked.questions]
        return [find(connection, agent_id, each, owners, outset.lacks) for each in questions]

    def rank(
        self, asked: Asked, found: Sequence[Found], scope: Scope, parameters: MemoryParameters
    ) -> Ranking:
        """Fuse what was found; ``parameters`` of the agent say how its questions are read (R10)."""
        pairs = list(zip(asked.questions, found, strict=True))
        if not parameters.query_analysis_enabled:
            hints = Hints(timed=Timed(_stretches(asked.text, (), scope)))
            fused = [self._fused(*each, scope, hints) for each in pairs[:1]]
            return Ranking(asked.text, best_of(fused), None, hints.timed)
        names = {name for one in found for name in _speakers(one)}
        analysis = asked.analysis_among(names, parameters.bounds)
        leading = spans_to_search(analysis.times) if analysis.only_times else ()
        timed = Timed(asked.questions[0].stretches, leading)
        hints = hints_of(analysis, asked.questions[0].symbols, timed)
        fused = [self._fused(*each, scope, hints) for each in pairs]
        return Ranking(asked.text, best_of(fused), analysis, timed)

    def _question(
        self, text: str, scope: Scope, best: int, vector: Vectors | None = None
    ) -> Question:
        """Return one question.

        Where the embedding model does not read its language, its cosines only mislead: the dense
        channel stays out.
        """
        embedder = self._models.embedder
        terms, embedded = [], None
        sources = frozenset(scope.sources)
        if Channel.LEXICAL in scope.channels:
            terms = bm25.question_terms(self._models.lexicon.terms(text))
        dense = Channel.DENSE in scope.channels and not sources <= KEPT
        if dense and reads(embedder.model, language_of(text)):
            embedded = embedder.embed([text])[0] if vector is None else np.asarray(vector)
        return Question(
            terms,
            embedded,
            embedder.model,
            sources,
            restriction_of(scope),
            best,
            symbols_in(text),
            walks=Channel.BFS in scope.channels,
            focus=is_current(scope),
        )

    def _fused(self, question: Question, found: Found, scope: Scope, hints: Hints) -> list[Ranked]:
        candidates = understood(found.candidates, question.model)
        candidates = lent([*candidates, *self._tail(question, found, hints.timed)], found)
        if not hints.timed.leading:
            candidates = [_unscored(each) if each.key in found.alone else each
                          for each in candidates]  # fmt: skip
        candidates += self._kept(question, found)
        if scope.fusion is Fusion.RRF:
            return unrepeated(fuse_rrf(candidates, scope.channels, hints.timed), by_words)
        return unrepeated(joined(fuse_scaled(candidates, scope.channels, hints)))

    def _tail(self, question: Question, found: Found, timed: Timed) -> Iterator[Candidate]:
        """Score what is not indexed yet as the index would; what only its time finds has none."""
        asked = bm25.scored_terms(question.terms, found.collected)
        for message in found.tail:
            terms = self._models.lexicon.terms(message.searched[:_TAIL_CHARACTERS])
            score = bm25.score(terms, asked, found.collected)
            one = message_candidate(message, lexical=(1 + bm25.OWN) * score if score > 0 else None)
            if score > 0 or timed.has(one):
                yield one

    def _kept(self, question: Question, found: Found) -> list[Candidate]:
        """Score what is kept as messages are, where these are searched as well."""
        if not found.kept:
            return []
        known = found.collected if Source.CHAT in question.sources else None
        return scored(found.kept, question.terms, self._models.lexicon.terms, known)


def _last_talk(text: str, now: datetime, last_session: LastSession) -> list[TimeExpression]:
    """Return the conversation before, where a question names it."""
    place = find_last_session(shortened_question(text))
    talk = last_session(now) if place else None
    return [TimeExpression(*place, (talk.time(),))] if place and talk else []


def _speakers(found: Found) -> Iterator[str]:
    """Yield who has said what was found; files have names, too, and say nothing."""
    said = (each.name for each in found.candidates if each.source is Source.CHAT)
    yield from filter(None, (*said, *(each.name for each in found.tail)))


def lent(candidates: Sequence[Candidate], found: Found) -> list[Candidate]:
    """Score indexed messages by the words of their neighbours, too (R11b)."""
    if not found.postings:
        return list(candidates)
    positions = [each.position for each in candidates if each.position is not None]
    scores = bm25.around(positions, found.postings, found.collected.texts)
    return [
        each
        if each.position is None
        else each._replace(lexical=scores[each.position] + bm25.OWN * (each.lexical or 0.0))
        for each in candidates
    ]


def _stretches(
    text: str, expressions: Sequence[TimeExpression], scope: Scope
) -> tuple[TimeSpan, ...]:
    """Return the times whose messages are found whatever their words (R11).

    The filters name one where they bound it at both ends, or the question says nothing: what was
    said "since May" is no answer to everything.
    """
    since, until = scope.filters.since, scope.filters.until
    named = spans_to_search(times_of(expressions))
    if not (since or until):
        return named
    if (since and until) or names_only_times(shortened_question(text), expressions):
        return *named, TimeSpan(since, until, besides=bool(named))
    return named


def _unscored(candidate: Candidate) -> Candidate:
    """Return what no channel has found without its scores: it only fills what others leave."""
    if candidate.source is not Source.CHAT:
        return candidate
    return candidate._replace(dense=None, lexical=None)


def is_current(scope: Scope) -> bool:
    """Tell whether a walk begins at the focus, too: in a session, or where nothing else is asked.

    Out of the blue, what was talked about last has nothing to do with the question.
    """
    return scope.session_id is not None or set(scope.channels) == {Channel.BFS}


def restriction_of(scope: Scope) -> Restriction:
    """Return what every hit has to be like.

    ``session_id`` says whose recent turns a context has, and whose short-term memories are in
    sight; all messages and the long-term memories of other sessions stay there.
    ``filters.sessions`` restricts all of them.
    """
    filters = scope.filters
    return Restriction(
        since=filters.since,
        until=filters.until,
        roles=filters.roles or (),
        names=filters.names or (),
        sessions=filters.sessions or (),
        types=filters.types or (),
        user_id=scope.user_id,
        session_id=scope.session_id,
        as_of=scope.as_of,
        tags=filters.tags or (),
        metadata=filters.metadata,
    )


class Stopwatch:
    """Times steps one after the other; each lap ends where the next begins."""

    def __init__(self) -> None:
        """Start the first lap."""
        self._last = time.perf_counter()
        self._laps_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self._laps_ms[step] = round((now - self._last) * 1000, 3)
        self._last = now

    @property
    def laps_ms(self) -> dict[str, float]:
        """Milliseconds of each step."""
        return dict(self._laps_ms)
