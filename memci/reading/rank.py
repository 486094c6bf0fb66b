"""The third step of a search and of a context: one ranking of all candidates (R10b, R11)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memci.domain.search import bm25, supersession
from memci.domain.search.candidate import (
    Candidate,
    Key,
    Source,
    Timed,
    message_candidate,
)
from memci.domain.search.duplicates import (
    TrivialMessages,
    join_memories,
    without_repeated,
)
from memci.domain.search.features import COMPARED, MODELLED, Channels, Comparison
from memci.domain.search.hints import Hints, hints_of
from memci.domain.search.learned_ranking import rank_hits
from memci.domain.search.ranking import (
    Ranked,
    best_of_each_source,
    best_of_rankings,
)
from memci.domain.search.supersession import Ended
from memci.language.question.analysis import QueryAnalysis
from memci.language.question.intent import asks_about_present
from memci.language.times.ranges import TimeSpan, spans_to_search
from memci.reading.find import Found
from memci.reading.reader import Reader
from memci.reading.understand import restriction_of, searched_times
from memci.schemas.reads import Scope
from memci.smallmodel.ports import Lexicon
from memci.storage.reading.nodes import (
    ended_memories,
    ended_parts,
    important_memories,
    messages_of,
)
from memci.storage.search.find import SearchQuery, SearchResult
from memci.storage.search.index import read_for_comparison
from memci.storage.session import Connection

# Characters that are read of a message that is not indexed yet.
_TAIL_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates, best first, and the analysis of the question."""

    ranked: list[Ranked]
    analysis: QueryAnalysis | None = None  # None: the question was not analysed
    timed: Timed = field(default_factory=Timed)  # the times that were searched
    trivial: TrivialMessages = field(default_factory=TrivialMessages)  # of contexts


@dataclass(frozen=True, slots=True)
class Ranker:
    """Ranks the candidates of one read, on its snapshot."""

    reader: Reader
    connection: Connection
    agent_id: str
    found: Found
    scope: Scope

    def for_search(self) -> Ranking:
        """Return the ranking of a search."""
        ranking = self._fuse()
        if not self.found.state.has_ended:
            return ranking
        return replace(ranking, ranked=self._newest_first(ranking.ranked, self._times(ranking)))

    def for_context(self, k: int | None) -> Ranking:
        """Return the ranking of a context.

        Stored texts of interactions are left out: their messages are found. With ``k``, the best
        ``k`` of each source come first and trivial messages last.
        """
        found, ranking = self.found, self._fuse()
        # Texts about messages are left out.
        ranked = [
            each
            for each in ranking.ranked
            if each.candidate.kept is None or each.candidate.kept.about is None
        ]
        parameters = found.parameters
        skips = found.question and parameters.simplemem_enabled and parameters.skip_trivial
        trivial = TrivialMessages(ranked if skips else (), parameters.min_content_length)
        if k is not None:
            last = [each for each in ranked if trivial.has(each)]
            keys = {each.key for each in last}
            first = (each for each in ranked if each.key not in keys)
            ranked = [*best_of_each_source(first, k), *last]
        if found.state.has_ended:
            ranked = self._newer_than_messages(ranked, self._times(ranking))
        return replace(ranking, ranked=ranked, trivial=trivial)

    def _times(self, ranking: Ranking) -> Sequence[TimeSpan]:
        """Return the times at which the answer must be valid; none: it must be valid now."""
        question = self.found.question
        if question is None or asks_about_present(question.text):
            return ()
        return ranking.timed.stretches

    def _fuse(self) -> Ranking:
        found, question = self.found, self.found.question
        if question is None:
            near = enumerate(found.near_focus, start=1)
            return Ranking([Ranked(each, 1 / place, {}) for place, each in near])
        pairs = list(zip(question.queries, found.results, strict=True))
        if not found.parameters.query_analysis_enabled:
            hints = Hints(timed=Timed(searched_times(question.text, (), self.scope)))
            return Ranking(self._fuse_query(*pairs[0], hints), timed=hints.timed)
        speakers = set(_speakers(found.results))
        analysis = question.analysis_with(speakers, found.parameters.bounds)
        leading = spans_to_search(analysis.times) if analysis.only_times else ()
        timed = Timed(question.queries[0].stretches, leading)
        hints = hints_of(analysis, question.queries[0].symbols, timed)
        ranked = best_of_rankings([self._fuse_query(*pair, hints) for pair in pairs])
        return Ranking(ranked, analysis, timed)

    def _fuse_query(self, query: SearchQuery, result: SearchResult, hints: Hints) -> list[Ranked]:
        scores, compared = scored_candidates(
            self.reader, self.connection, self.agent_id, query, result, hints
        )
        hits = rank_hits(scores, self.scope.channels, compared, hints)
        return without_repeated(join_memories(hits))

    def _newer_than_messages(self, ranked: list[Ranked], times: Sequence[TimeSpan]) -> list[Ranked]:
        """Apply ``_newest_first``, and put first what supersedes a recent message.

        Recent messages are verbatim in a context, so they cannot be marked there.
        """
        known = {each.key for each in ranked}
        score = ranked[0].score if ranked else 1.0
        messages = map(message_candidate, self.found.messages)
        recent = [Ranked(each, score, {}) for each in messages if each.id not in known]
        keys = {each.key for each in recent}
        whole = self._newest_first([*recent, *ranked], times)
        return [each for each in whole if each.key not in keys]

    def _newest_first(self, ranked: list[Ranked], times: Sequence[TimeSpan]) -> list[Ranked]:
        """Mark what holds no more, and put the current statements before superseded ones (R6).

        These are the newer memory or, if that is invisible or forgotten, its messages, as far as
        the scope allows.
        """
        nodes = [each.candidate.key for each in ranked if each.candidate.source is Source.MEMORY]
        seqs = [each.candidate.key for each in ranked if each.candidate.source is Source.CHAT]
        as_of = self.scope.as_of
        known = ended_memories(self.connection, self.agent_id, nodes, seqs, as_of)
        ended = supersession.ended_candidates(ranked, known) if known else {}
        if ended:
            found = {each.key: each.candidate for each in ranked}
            versions = [each for some in ended.values() for each in some]
            statements = self._statements(found, versions)
            ranked = supersession.newest_first(ranked, ended, statements, times)
        # Memories and messages get a note of the parts that hold no more.
        sources = {seq for each in ranked for seq in each.candidate.seqs}
        parts = ended_parts(self.connection, self.agent_id, sources, as_of)
        if not parts:
            return ranked
        return [
            each if noted is each.candidate else each._replace(candidate=noted)
            for each in ranked
            for noted in (supersession.partly_ended(each.candidate, parts),)
        ]

    def _statements(
        self, found: Mapping[Key, Candidate], ended: Sequence[Ended]
    ) -> dict[int, list[Candidate]]:
        restriction = restriction_of(self.scope)
        nodes = {node for each in ended for node in each.now}
        memories: dict[int, Candidate] = {}
        if Source.MEMORY in self.scope.sources:
            memories = {
                node: found[Source.MEMORY, node] for node in nodes if (Source.MEMORY, node) in found
            }
            unfound = sorted(nodes - memories.keys())
            further = important_memories(
                self.connection, self.agent_id, unfound, restriction, limit=len(unfound)
            )
            memories |= {each.key: each for each in further}
        messages: dict[int, list[Candidate]] = {}
        if Source.CHAT in self.scope.sources and not restriction.types:
            messages = messages_of(self.connection, self.agent_id, sorted(nodes), restriction)
        return {
            node: supersession.statements_of(
                node, memories.get(node), messages.get(node, ()), ended, found.keys()
            )
            for node in nodes
        }


def _speakers(results: Sequence[SearchResult]) -> Iterator[str]:
    for each in results:
        for one in each.candidates:
            if one.source is Source.CHAT and one.name:
                yield one.name
        yield from (message.name for message in each.tail if message.name)


def scored_candidates(
    reader: Reader,
    connection: Connection,
    agent_id: str,
    query: SearchQuery,
    result: SearchResult,
    hints: Hints,
) -> tuple[Channels, Comparison]:
    """Return the candidates of a query with their scores, and the comparison of the best."""
    models = reader.models
    space = models.embedder.space
    candidates = [
        each if each.dense is None else each._replace(dense=space.likeness(each.dense))
        for each in result.candidates
    ]
    candidates += _tail_candidates(models.lexicon, query, result, hints.timed)
    if not hints.timed.leading:
        # Those found by their time alone only fill remaining room.
        candidates = [
            each._replace(dense=None, lexical=None)
            if each.key in result.by_time_only and each.source is Source.CHAT
            else each
            for each in candidates
        ]
    if result.kept:
        statistics = result.collected if Source.CHAT in query.sources else None
        candidates += bm25.scored(result.kept, query.terms, models.lexicon.terms, statistics)
    positions = [each.position for each in candidates if each.position is not None]
    around = bm25.around(positions, result.postings, result.collected.texts)
    scores = Channels.of(candidates, around, space.floor)
    return scores, _compared(connection, agent_id, query, scores)


def _compared(
    connection: Connection, agent_id: str, query: SearchQuery, scores: Channels
) -> Comparison:
    """Compare the best messages with each other, and their tokens with those of the question."""
    compared = Comparison()
    if query.vector is None or not scores.candidates:
        return compared
    best = (scores.candidates[row] for row in scores.best(MODELLED))
    # Only indexed messages have a vector, and a position.
    texts = {each.key: each for each in best if each.position is not None}
    found = read_for_comparison(
        connection, agent_id, list(texts), COMPARED, query.vector, query.model
    )
    for each in found:
        key = Source.CHAT, each.seq
        compared.typical[key] = each.typical
        if each.passage is not None:
            compared.passages[key] = each.passage.after(texts[each.seq].name)
    if query.tokens is not None:
        bits = {(Source.CHAT, each.seq): each.bits for each in found if each.bits}
        alike = query.tokens.likeness(list(bits.values()))
        compared.tokens.update(zip(bits, alike.tolist(), strict=True))
    return compared


def _tail_candidates(
    lexicon: Lexicon, query: SearchQuery, result: SearchResult, timed: Timed
) -> Iterator[Candidate]:
    """Yield messages that are not indexed yet, scored as the index would score them (R10b).

    Those found by their time alone have no score.
    """
    terms = bm25.scored_terms(query.terms, result.collected)
    for message in result.tail:
        words = lexicon.terms(message.searched[:_TAIL_CHARACTERS])
        score = bm25.score(words, terms, result.collected)
        one = message_candidate(message, lexical=score if score > 0 else None)
        if score > 0 or timed.has(one):
            yield one
