"""``memci.read.search``: hybrid search over all sources (R11)."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from memci.domain.memory.recall import until_mark
from memci.domain.search.candidate import SAID, UNTIMED, Candidate, Source
from memci.domain.search.duplicates import best_once
from memci.domain.search.late_interaction import QuestionTokens
from memci.domain.search.ranking import Ranked
from memci.domain.search.supersession import lacks_newer
from memci.domain.token_counts import fitting
from memci.language.detection import language_of
from memci.language.question.analysis import QueryAnalysis
from memci.reading.deferred_writes import use_of
from memci.reading.find import DEFAULT_HITS, Found, find
from memci.reading.rank import Ranker, Ranking
from memci.reading.reader import Reader, Stopwatch, computing, wait_until_fresh
from memci.reading.understand import Question, explained_analysis, understand
from memci.schemas.reads import Hit, HitDocument, HitPin, HitStep, SearchAnswer, SearchRequest
from memci.smallmodel.vector_space import Vectors
from memci.storage.reading.messages import Place, places_of

_MOST_HITS = 200  # of a request with a token budget


class Search(Reader):
    """Searches; an unknown agent has no hits, without an error."""

    def run(
        self,
        agent_id: str,
        request: SearchRequest,
        *,
        vector: Vectors | None = None,
        tokens: QuestionTokens | None = None,
    ) -> SearchAnswer:
        """Return the best hits, best first, each with the ids of its messages.

        ``vector`` and ``tokens`` are the query's own, if the caller has them.
        """
        watch = Stopwatch()
        wait_until_fresh(self.database, agent_id, request)
        watch.lap("wait")
        question = understand(self, agent_id, request.query, request, vector=vector, tokens=tokens)
        watch.lap("embed")
        with computing, self.database.agent_snapshot(agent_id, planned=True) as connection:
            found = find(self, connection, agent_id, question, request)
            watch.lap("find")
            ranking = Ranker(self, connection, agent_id, found, request).for_search()
            watch.lap("fuse")
            hits = self._take(ranking.ranked, request, ranking.analysis)
            watch.lap("select")
            seqs = {seq for each in hits for seq in each.candidate.seqs}
            places = places_of(connection, agent_id, seqs)
        watch.lap("provenance")
        now = found.state.progress
        nodes = [each.candidate.key for each in hits if each.candidate.source is Source.MEMORY]
        seen = {s for each in hits if each.candidate.source in SAID for s in each.candidate.seqs}
        ids = {seq: place.message_id for seq, place in places.items()}
        use = use_of(agent_id, "search", now, (seen, nodes), ids)
        self.activity.note(agent_id, use=use)
        return SearchAnswer(
            hits=[_hit(each, places) for each in hits],
            explain=_explain(question, found, ranking, watch) if request.explain else None,
            seq=now.seq,
            pending=now.pending,
            new_agent=now.new_agent,
        )

    def _take(
        self, ranked: list[Ranked], request: SearchRequest, analysis: QueryAnalysis | None
    ) -> list[Ranked]:
        most = _MOST_HITS
        if request.budget_tokens is None:
            most = analysis.k if analysis else DEFAULT_HITS
        taken = best_once(ranked, request.k or most)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        texts = [_text(each.candidate) for each in taken]
        fit = [taken[at] for at in fitting(texts, request.budget_tokens, count, joint="\n")]
        chosen = {each.key for each in fit}
        no_room = {each.key for each in taken} - chosen
        return [each for each in fit if not lacks_newer(each.candidate, chosen, no_room)]


def _text(found: Candidate) -> str:
    return until_mark(found.until, language_of(found.text)) + found.text


def _hit(ranked: Ranked, places: Mapping[int, Place]) -> Hit:
    found = ranked.candidate
    here = [places[seq] for seq in found.seqs if seq in places]
    return Hit(
        text=_text(found),
        source=found.source,
        message_ids=[place.message_id for place in here],
        node_id=found.key if found.source is Source.MEMORY else found.memory,
        page=_page(found, here),
        role=found.role,
        name=found.name if found.source is Source.CHAT else None,
        session_id=found.session_id,
        pin=_pin(found),
        step=_step(found),
        document=_document(found),
        superseded_by=found.successor,
        superseded_at=found.until,
        created_at=None if found.at == UNTIMED else found.at,
        score=ranked.score,
        channels={channel.value: rank for channel, rank in ranked.ranks.items()},
    )


def _page(found: Candidate, here: Iterable[Place]) -> str | None:
    if found.source is Source.PAGE and found.kept:
        return found.kept.name
    return next((place.page for place in here if place.page), None)


def _pin(found: Candidate) -> HitPin | None:
    kept = found.kept
    if kept is None or kept.kind is None or kept.by is None:
        return None
    return HitPin(pin=int(kept.name), kind=kept.kind, by=kept.by)


def _step(found: Candidate) -> HitStep | None:
    kept = found.kept
    if kept is None or kept.state is None:
        return None
    return HitStep(step=int(kept.name), state=kept.state)


def _document(found: Candidate) -> HitDocument | None:
    if found.extract is None:
        return None
    return HitDocument(name=found.name or "", **found.extract._asdict())


def _explain(
    question: Question, found: Found, ranking: Ranking, watch: Stopwatch
) -> dict[str, JsonValue]:
    query, result = question.queries[0], found.results[0]
    by_source = Counter(each.source for each in (*result.candidates, *result.kept))
    return {
        "timings_ms": dict(watch.laps_ms),
        "candidates": {
            **{source.value: by_source[source] for source in Source},
            "raw_tail": len(result.tail),
        },
        "terms": list(query.terms),
        "dense": query.vector is not None,
        "linked": sum(each.linked is not None for each in result.candidates),
        "timed": sum(ranking.timed.has(each) for each in result.candidates),
        "questions": len(question.queries),
        "analysis": None if ranking.analysis is None else explained_analysis(ranking.analysis),
    }
