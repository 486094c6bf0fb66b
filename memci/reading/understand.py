"""The first step of a search and of a context: understand the question (R10).

It calls models, so no transaction is open meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from pydantic import JsonValue

from memci.domain.documents import symbols_in
from memci.domain.search import bm25
from memci.domain.search.candidate import DEEPEST, KEPT, Channel
from memci.domain.search.late_interaction import QuestionTokens
from memci.errors import SmallModelError
from memci.language.detection import Language, language_of
from memci.language.hit_limits import HitLimits
from memci.language.question.analysis import (
    QueryAnalysis,
    analyse,
    shortened_question,
    time_expressions_in,
    times_of,
)
from memci.language.question.intent import names_only_times
from memci.language.question.last_session import find_last_session
from memci.language.question.subquestions import split_questions
from memci.language.times.ranges import TimeExpression, TimeSpan, spans_to_search
from memci.reading.reader import Reader
from memci.schemas.reads import ContextRequest, Scope, SearchRequest
from memci.smallmodel.ports import QueryPlanner, TokenEncoder
from memci.smallmodel.vector_space import Vectors
from memci.storage.agents import parameters_of
from memci.storage.reading.messages import last_session
from memci.storage.search.find import Restriction, SearchQuery

# Candidates of each channel that a read looks at, at least, and for each hit or for each so many
# tokens of a context. Measured on LoCoMo, MemDaily and BEAM, five times as many add at most 0.4
# points to the recall of ten hits.
_LEAST_OF_SEARCH, _FOR_ONE_HIT = 40, 4
_LEAST_OF_CONTEXT, _TOKENS_OF_ONE = 100, 10


@dataclass(frozen=True, slots=True)
class Question:
    """An understood question, and its database queries."""

    text: str
    # First the whole question, then its parts and the questions of the planner.
    queries: tuple[SearchQuery, ...]
    now: datetime  # the moment that expressions of time refer to
    expressions: Sequence[TimeExpression] | None = None  # None: the question is not analysed

    def analysis_with(self, speakers: Collection[str], bounds: HitLimits) -> QueryAnalysis:
        """Return the analysis, given the names of the speakers."""
        return analyse(
            self.text, self.now, names=speakers, bounds=bounds, expressions=self.expressions
        )


def understand(
    reader: Reader,
    agent_id: str,
    text: str,
    scope: Scope,
    *,
    vector: Vectors | None = None,
    tokens: QuestionTokens | None = None,
) -> Question:
    """Read a question, and return it with its queries.

    ``vector``, shape (d,), is the embedding of the text, and ``tokens`` are its own, if the caller
    has them.
    """
    now = scope.now or scope.as_of or datetime.now(UTC)
    texts = [text]
    expressions = None
    if _is_analysed(reader, agent_id):
        expressions = time_expressions_in(text, now)
        expressions = expressions or _last_session(reader, agent_id, text, scope, now)
        texts += planned_queries(reader.models.query_planner, text, language_of(text))
        parts = split_questions(shortened_question(text))
        texts += parts if len(parts) > 1 else ()
    given = {} if vector is None else {text: (np.asarray(vector), tokens)}
    queries = [_query(reader, each, scope, given.get(each)) for each in dict.fromkeys(texts)]
    queries[0] = replace(queries[0], stretches=searched_times(text, expressions or (), scope))
    return Question(text, tuple(queries), now, expressions)


def _is_analysed(reader: Reader, agent_id: str) -> bool:
    memory = reader.defaults.memory
    if reader.models.query_planner is not None:  # its call takes longer than this look-up
        with reader.database.agent_snapshot(agent_id) as connection:
            memory = parameters_of(connection, agent_id, memory)
    return memory.query_analysis_enabled


def planned_queries(planner: QueryPlanner | None, text: str, language: Language) -> list[str]:
    """Return the planner's additional queries; none if it does not answer.

    Calls a model: open no transaction around it.
    """
    if planner is None:
        return []
    try:
        return planner.plan(text, language)
    except SmallModelError:
        return []


def _last_session(
    reader: Reader, agent_id: str, text: str, scope: Scope, now: datetime
) -> list[TimeExpression]:
    place = find_last_session(shortened_question(text))
    if place is None:
        return []
    with reader.database.agent_snapshot(agent_id) as connection:
        conversation = last_session(connection, agent_id, restriction_of(scope), now)
    return [TimeExpression(*place, (conversation.time(),))] if conversation else []


def _query(
    reader: Reader, text: str, scope: Scope, given: tuple[Vectors, QuestionTokens | None] | None
) -> SearchQuery:
    """Return the query for a text; it has no vector without the dense channel."""
    embedder = reader.models.embedder
    terms, embedded, tokens = [], None, None
    sources = frozenset(scope.sources)
    if Channel.LEXICAL in scope.channels:
        terms = bm25.question_terms(reader.models.lexicon.terms(text))
    if Channel.DENSE in scope.channels and not sources <= KEPT:
        if given is not None:
            embedded, tokens = given
        elif isinstance(embedder, TokenEncoder):
            embedded, tokens = embedder.encode_question(text)
        else:
            embedded = embedder.embed_questions([text])[0]
    return SearchQuery(
        terms,
        embedded,
        embedder.model,
        sources,
        restriction_of(scope),
        names=symbols_in(text),
        best=_depth(scope),
        tokens=tokens,
        walks=Channel.BFS in scope.channels,
        # Without a session, the latest topic is unrelated to the question.
        focus=scope.session_id is not None or set(scope.channels) == {Channel.BFS},
    )


def _depth(scope: Scope) -> int:
    """Return how many candidates of each channel a read needs: more of them changed no answer."""
    if isinstance(scope, ContextRequest):
        wanted = max(scope.budget_tokens // _TOKENS_OF_ONE, _LEAST_OF_CONTEXT)
    else:
        hits = scope.k if isinstance(scope, SearchRequest) else None
        wanted = max(_FOR_ONE_HIT * (hits or 0), _LEAST_OF_SEARCH)
    return min(wanted, DEEPEST)


def searched_times(
    text: str, expressions: Sequence[TimeExpression], scope: Scope
) -> tuple[TimeSpan, ...]:
    """Return the times whose messages are candidates regardless of their words (R11).

    The filters set one if they bound it at both ends, or if the question has no other words: a
    message "since May" is no answer to every question.
    """
    since, until = scope.filters.since, scope.filters.until
    named = spans_to_search(times_of(expressions))
    if not (since or until):
        return named
    shortened = shortened_question(text)
    if (since and until) or names_only_times(shortened, expressions):
        return *named, TimeSpan(since, until, besides=bool(named))
    return named


def restriction_of(scope: Scope) -> Restriction:
    """Return the restriction for every hit.

    ``session_id`` sets whose recent interactions a context has and whose short-term memories are
    visible; messages and long-term memories of other sessions stay visible. ``filters.sessions``
    restricts all of them.
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


def explained_analysis(analysis: QueryAnalysis) -> dict[str, JsonValue]:
    """Return an analysis in the form of ``explain``.

    ``times`` are pairs of ISO 8601: since, until; null for a time without that end.
    """
    return {
        "language": analysis.language.value,
        "entities": list(analysis.entities),
        "speakers": [*sorted(analysis.speakers)],
        "times": [
            [end.isoformat() if end else None for end in (each.since, each.until)]
            for each in analysis.times
        ],
        "complexity": round(analysis.complexity, 3),
        "k": analysis.k,
        "parts": list(analysis.parts),
        "asks": analysis.answer_kind.value,
        "order": analysis.order and analysis.order.value,
    }
