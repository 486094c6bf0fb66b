"""An agent with very many messages: search by its index of vectors against exact search."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from statistics import fmean
from typing import NamedTuple

from benchmarks.compare import Size, percentile, say
from benchmarks.corpus import Corpus
from benchmarks.filling import fill
from benchmarks.report import Bar, Finding
from benchmarks.stage import Stage
from memci.config.settings import load_settings
from memci.domain.search.candidate import Channel, Source
from memci.domain.search.late_interaction import QuestionTokens
from memci.runtime import Runtime
from memci.schemas.reads import SearchRequest
from memci.smallmodel.offline.e5_embedder import DIMENSION, MODEL
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.vector_index import build_indexes
from memci.storage.search.vectors import VectorModel, claim_model

AGENT = "large"
_BEST = 100
# Of the exact best hundred. Vectors of real texts lie in groups, and 0.984 of a million are found;
# those of the corpus are spread more evenly.
_KEPT = 0.97
_WHOLE_MS = 150.0


class _Answer(NamedTuple):
    """The messages that a search found, and its milliseconds."""

    found: frozenset[str]
    took_ms: float


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Fill one agent, ask, build its index, and ask the same."""
    count, asked = size.pick((300, 5), (20_000, 30), (200_000, 60))
    corpus = Corpus.written(count, seed=900)
    with stage.database() as database, stage.owner() as owner:
        with database.lane_transaction() as connection:
            claim_model(connection, VectorModel(MODEL, DIMENSION))
        fill(database, owner, AGENT, corpus)
        owner.execute("VACUUM ANALYZE")
    questions = list(corpus.questions(asked, seed=7))
    settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
    with closing(Runtime(settings)) as runtime:
        exact = {name: _ask(runtime, questions, *channels) for name, channels in _READS.items()}
        began = time.perf_counter()
        built = list(build_indexes(runtime.database, stage.migration_url, count))
        say(f"the index of {count:,} vectors was built in {time.perf_counter() - began:.0f} s")
        assert [each.agent_id for each in built] == [AGENT]
        indexed = {name: _ask(runtime, questions, *channels) for name, channels in _READS.items()}
    for name in _READS:
        yield _finding(f"{name} of {count:,} messages", indexed[name], exact[name])
    kept = [
        len(each.found & before.found) / len(before.found)
        for each, before in zip(indexed["dense search"], exact["dense search"], strict=True)
    ]
    yield Finding(
        f"dense search of {count:,} messages by the index: recall@{_BEST}",
        fmean(kept),
        "of the exact best",
        bar=Bar(_KEPT, of="ours"),
    )


_READS: dict[str, tuple[Channel, ...]] = {
    "dense search": (Channel.DENSE,),
    "whole search": (Channel.DENSE, Channel.LEXICAL),
}


def _ask(
    runtime: Runtime, questions: Sequence[tuple[str, Vectors, QuestionTokens]], *channels: Channel
) -> list[_Answer]:
    answers = []
    for text, vector, tokens in questions:
        request = SearchRequest(query=text, sources=(Source.CHAT,), channels=channels, k=_BEST)
        began = time.perf_counter()
        answer = runtime.readings.search.run(AGENT, request, vector=vector, tokens=tokens)
        took_ms = (time.perf_counter() - began) * 1000
        found = frozenset(each for hit in answer.hits for each in hit.message_ids)
        answers.append(_Answer(found, took_ms))
    return answers


def _finding(name: str, indexed: Sequence[_Answer], exact: Sequence[_Answer]) -> Finding:
    ours, theirs = ([each.took_ms for each in some] for some in (indexed, exact))
    return Finding(
        f"{name}: p95",
        percentile(ours, 0.95),
        "ms",
        baseline=percentile(theirs, 0.95),
        against="the same without the index",
        ratio=percentile(ours, 0.95) / percentile(theirs, 0.95),
        bar=Bar(_WHOLE_MS, at_most=True, of="ours"),
        note=f"p50 {percentile(ours, 0.5):.1f} ms against {percentile(theirs, 0.5):.1f} ms",
    )
