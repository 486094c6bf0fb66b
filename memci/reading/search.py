"""``memci.read.search``: hybrid search over messages and memories (R11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from memci.domain.context.token_budget import fitting
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import until_mark
from memci.domain.search.candidate import SAID, UNTIMED, Candidate, Source, depth
from memci.domain.search.ranking import Ranked
from memci.domain.search.selection import stands_alone, thin
from memci.language.detection import language_of
from memci.language.question import QueryAnalysis
from memci.reading.deferred_writes import use_of
from memci.reading.reader import Reader, wait_until_fresh
from memci.reading.retrieval import Asked, Ranking, Stopwatch, analysis_account
from memci.reading.supersession import with_newer
from memci.schemas.reads import Hit, HitDocument, HitPin, HitStep, SearchAnswer, SearchRequest
from memci.smallmodel.ports import Vectors
from memci.storage.agents import own_of
from memci.storage.reading.messages import Place, places_of
from memci.storage.reading.snapshot_state import snapshot_state_of
from memci.storage.search.find import Found

# A token budget alone decides, up to this many hits.
_MOST = 200
# Of a question that is not read.
_HITS = 10


class Search(Reader):
    """Finds. An agent that nobody has written to yet has nothing to find, and that is no error."""

    def run(
        self, agent_id: str, request: SearchRequest, *, vector: Vectors | None = None
    ) -> SearchAnswer:
        """Answer with the best hits, best first, each with the ids of its messages.

        ``vector`` is the query's own, if the caller has it.
        """
        watch = Stopwatch()
        wait_until_fresh(self._database, agent_id, request)
        watch.lap("wait")
        asked = self._ask(agent_id, request.query, request, vector)
        watch.lap("embed")
        with self._database.agent_snapshot(agent_id, planned=True) as connection:
            outset = snapshot_state_of(connection, agent_id)
            now, own = outset.progress, own_of(self._defaults.memory, outset.parameters)
            asked = self._measured(asked, request, own)
            found = self._retrieval.find(connection, agent_id, asked, request, outset=outset)
            watch.lap("find")
            ranking = self._retrieval.rank(asked, found, request, own)
            watch.lap("fuse")
            ranked = ranking.ranked
            if outset.has_ended:
                ranked = with_newer(connection, agent_id, ranked, request, ranking.as_of)
            taken = self._take(ranked, request, ranking.analysis)
            watch.lap("select")
            seqs = {seq for each in taken for seq in each.candidate.seqs}
            places = places_of(connection, agent_id, seqs)
        watch.lap("provenance")
        nodes = [each.candidate.key for each in taken if each.candidate.source is Source.MEMORY]
        said = {s for each in taken if each.candidate.source in SAID for s in each.candidate.seqs}
        ids = {seq: place.message_id for seq, place in places.items()}
        use = use_of(agent_id, "search", now, (said, nodes), ids)
        self._activity.note(agent_id, use=use)
        return SearchAnswer(
            hits=[_hit(each, places) for each in taken],
            explain=_explain(asked, found, ranking, watch) if request.explain else None,
            seq=now.seq,
            pending=now.pending,
            new_agent=now.new_agent,
        )

    def _measured(self, asked: Asked, request: SearchRequest, own: MemoryParameters) -> Asked:
        """Return it with as many candidates of each channel as there can be hits for.

        Where nobody says how many, the question is read for how many it wants (R10).
        """
        hits = request.k or self._defaults.search_k
        if hits is None and own.query_analysis_enabled:
            asked = asked.analysed(own.bounds)
        seems_to_want = asked.analysis.k if asked.analysis else _HITS
        return asked.as_deep_as(depth(hits or seems_to_want, request.budget_tokens))

    def _take(
        self, ranked: list[Ranked], request: SearchRequest, analysis: QueryAnalysis | None
    ) -> list[Ranked]:
        most = _MOST
        if request.budget_tokens is None:
            most = self._defaults.search_k or (analysis.k if analysis else _HITS)
        taken = thin(ranked, request.k or most)
        count = self._models.tokenizers.count(self._defaults.tokenizer)
        texts = [_text(each.candidate) for each in taken]
        fit = fitting(texts, request.budget_tokens, count, joint="\n")
        kept = {taken[place].key for place in fit}
        missed = {each.key for each in taken} - kept
        return [
            taken[place] for place in fit if not stands_alone(taken[place].candidate, kept, missed)
        ]


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
    asked: Asked, found: Sequence[Found], ranking: Ranking, watch: Stopwatch
) -> dict[str, JsonValue]:
    question, first = asked.questions[0], found[0]
    offered = Counter(each.source for each in (*first.candidates, *first.kept))
    return {
        "timings_ms": dict(watch.laps_ms),
        "candidates": {
            **{source.value: offered[source] for source in Source},
            "raw_tail": len(first.tail),
        },
        "terms": list(question.terms),
        "dense": question.vector is not None,
        "linked": sum(each.linked is not None for each in first.candidates),
        "timed": sum(ranking.timed.has(each) for each in first.candidates),
        "questions": len(asked.questions),
        "analysis": None if ranking.analysis is None else analysis_account(ranking.analysis),
    }
