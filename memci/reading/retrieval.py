"""From words to a ranking: what search and assembly share (R10, R10b, R11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from memci.domain.context import bm25
from memci.domain.context.candidate import Candidate, Channel, message_candidate, reads, understood
from memci.domain.context.depth import DEEPEST
from memci.domain.context.fusion import Ranked, fuse_rrf
from memci.domain.context.hints import hints_of
from memci.domain.context.joining import joined
from memci.domain.context.query import Analysis, analyse
from memci.domain.context.scaled import Hints, fuse_scaled
from memci.domain.language import language_of
from memci.reading.models import ReadingModels
from memci.shapes.read import Fusion, Scope
from memci.smallmodel.ports import Vectors
from memci.storage.search import Found, Question, Restriction

# Of a message that is not indexed yet, so much is read to score it.
_TAIL_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, best first, and how the question was read; None: it was not."""

    ranked: list[Ranked]
    analysis: Analysis | None


class Retrieval:
    """Turns a text into a question to the database, and what it finds into a ranking."""

    def __init__(
        self, models: ReadingModels, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Take the small models; nothing is loaded before the first question."""
        self._models = models
        self._clock = clock

    def question(
        self, text: str, scope: Scope, vector: Vectors | None = None, *, best: int = DEEPEST
    ) -> Question:
        """Return what is asked of the database. Calls the embedder: open no transaction around it.

        ``vector`` (shape (d,)) is that of the text, if the caller has it already; ``best``:
        candidates of each channel. Where the embedding model does not read the text's language,
        its cosines only mislead: the dense channel stays out.
        """
        embedder = self._models.embedder
        terms, embedded = [], None
        if Channel.LEXICAL in scope.channels:
            terms = bm25.question_terms(self._models.lexicon.terms(text))
        if Channel.DENSE in scope.channels and reads(embedder.model, language_of(text)):
            embedded = embedder.embed([text])[0] if vector is None else np.asarray(vector)
        sources = frozenset(scope.sources)
        return Question(terms, embedded, embedder.model, sources, restriction_of(scope), best)

    def rank(
        self, text: str, question: Question, found: Found, scope: Scope, *, analysed: bool = True
    ) -> Ranking:
        """Fuse what was found. ``analysed``: use what the question says of its answer (R10)."""
        candidates = [understood(each, question.model) for each in found.candidates]
        candidates = lent([*candidates, *self._tail(question, found)], found)
        analysis = None
        if analysed:
            names = {each.name for each in candidates if each.name}
            now = scope.now or scope.as_of or self._clock()
            analysis = analyse(text, now, names=names)
        if scope.fusion is Fusion.RRF:
            return Ranking(fuse_rrf(candidates, scope.channels), analysis)
        hints = Hints() if analysis is None else hints_of(analysis)
        return Ranking(joined(fuse_scaled(candidates, scope.channels, hints)), analysis)

    def _tail(self, question: Question, found: Found) -> Iterator[Candidate]:
        """Score what is not indexed yet as the index would."""
        asked = bm25.scored_terms(question.terms, found.collected)
        for message in found.tail:
            terms = self._models.lexicon.terms(message.searched[:_TAIL_CHARACTERS])
            score = bm25.score(terms, asked, found.collected)
            if score > 0:
                yield message_candidate(message, lexical=(1 + bm25.OWN) * score)


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
    )
