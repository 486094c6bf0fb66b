"""Compares a rebuilt network with the current one (M24), and two settings on recorded questions."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from memci.domain.agent_id import no_agent
from memci.domain.context.message_list import Section
from memci.domain.memory.network_edition import ComparedNetwork, ComparedNode, compare
from memci.errors import NotFoundError
from memci.queue.job_requests import edition_answer
from memci.reading.context import ContextReader
from memci.reading.deferred_writes import ReadActivity, Use
from memci.reading.reader import ReadingDefaults, ReadingModels
from memci.reading.recall import Recall
from memci.schemas import network_editions
from memci.schemas.reads import ContextRequest, RecallAnswer, RecallRequest
from memci.schemas.trials import RecordedQuestion, Trial, TrialContext, TrialsAnswer, TrialTotals
from memci.storage.agents import last_asked, snapshot_of
from memci.storage.network.links import list_focus
from memci.storage.network.network_editions import open_edition
from memci.storage.reading.network_history import beginnings, compared_network, count_links
from memci.storage.receipts import read_receipt
from memci.storage.session import Connection, Database, use_edition

_BEGINNING = 200


class Compare:
    """Compares networks. It changes nothing, and does not keep an agent's passes running."""

    def __init__(
        self, database: Database, models: ReadingModels, defaults: ReadingDefaults
    ) -> None:
        """Load nothing before the first comparison."""
        unnoted = _Unnoted(database)
        self._database = database
        self._current = Recall(database, models, defaults, unnoted)
        self._rebuilt = Recall(database.on_edition(), models, defaults, unnoted)

    def run(
        self, agent_id: str, request: network_editions.ComparisonRequest
    ) -> network_editions.ComparisonAnswer:
        """Compare the networks; ``NotFoundError`` without a rebuilt one."""
        with snapshot_of(self._database, agent_id) as connection:
            if open_edition(connection, agent_id) is None:
                raise NotFoundError("there is no rebuilt network: begin a rebuild first")
            edition = edition_answer(connection, agent_id)
            current, numbers = _network(connection, agent_id)
            with use_edition(connection):
                rebuilt, rebuilt_numbers = _network(connection, agent_id)
            found = compare(current, rebuilt)
            changed, most = found.changed[: request.limit], request.limit
            ours = [*(pair.current for pair in changed), *found.only_current[:most]]
            theirs = [*(pair.rebuilt for pair in changed), *found.only_rebuilt[:most]]
            shown = _previews(connection, agent_id, ours)
            with use_edition(connection):
                shown_rebuilt = _previews(connection, agent_id, theirs)
        pairs = list(zip(shown, shown_rebuilt, strict=False))[: len(changed)]
        return network_editions.ComparisonAnswer(
            edition=edition,
            current=numbers,
            rebuilt=rebuilt_numbers,
            same_memories=len(found.pairs),
            same_texts=len(found.pairs) - len(found.changed),
            only_current=len(found.only_current),
            only_rebuilt=len(found.only_rebuilt),
            same_links=found.same_links,
            links_only_current=found.links_only_current,
            links_only_rebuilt=found.links_only_rebuilt,
            largest_strength_difference=found.largest_strength_difference,
            largest_importance_difference=found.largest_importance_difference,
            changed=[
                network_editions.ChangedMemory(current=before, rebuilt=after)
                for before, after in pairs
            ],
            shown_only_current=shown[len(changed) :],
            shown_only_rebuilt=shown_rebuilt[len(changed) :],
            probes=[self._probe(agent_id, keywords) for keywords in request.probes],
        )

    def _probe(self, agent_id: str, keywords: tuple[str, ...]) -> network_editions.ProbeComparison:
        request = RecallRequest(keywords=list(keywords), format="structured")
        current, rebuilt = (
            [memory.content for memory in answer.memories]
            for answer in (each.run(agent_id, request) for each in (self._current, self._rebuilt))
            if isinstance(answer, RecallAnswer)
        )
        return network_editions.ProbeComparison(
            keywords=list(keywords),
            both=sum(text in rebuilt for text in current),
            only_current=_missing_texts(current, rebuilt),
            only_rebuilt=_missing_texts(rebuilt, current),
        )


class _Unnoted(ReadActivity):
    """Records nothing: a comparison is no use of a memory."""

    def note(
        self, agent_id: str, *, dropping: Collection[int] = (), use: Use | None = None
    ) -> None:
        del agent_id, dropping, use


def _network(
    connection: Connection, agent_id: str
) -> tuple[ComparedNetwork, network_editions.NetworkNumbers]:
    network = compared_network(connection, agent_id)
    links = count_links(connection, agent_id)
    memories = [node for node in network.nodes if node.entity_key is None]
    numbers = network_editions.NetworkNumbers(
        memories=len(memories),
        entities=len(network.nodes) - len(memories),
        links=links,
        dangling=links - len(network.strengths),
        characters=sum(node.length for node in memories),
        original_characters=sum(node.original_length for node in memories),
        importance=sum(node.importance for node in memories),
        focus=[row["name"] for row in list_focus(connection, agent_id)],
    )
    return network, numbers


def _previews(
    connection: Connection, agent_id: str, nodes: Sequence[ComparedNode]
) -> list[network_editions.MemoryPreview]:
    ids = [node.id for node in nodes]
    texts = beginnings(connection, agent_id, ids, most=_BEGINNING)
    return [
        network_editions.MemoryPreview(
            **asdict(node), node_id=node.id, message_seqs=list(node.seqs), text=texts[node.id]
        )
        for node in nodes
    ]


def _missing_texts(texts: list[str], than: list[str]) -> list[str]:
    return [text[:_BEGINNING] for text in texts if text not in than]


# Fields of a recorded question that are no options of a request.
_NOT_ASKED = frozenset({"agent", "receipt_id", "evidence", "min_seq", "wait_ms", "explain"})


@dataclass(frozen=True, slots=True)
class TrialSide:
    """One of two settings: its reader, and the options that replace those of requests.

    ``assemble`` must work on a database that keeps nothing.
    """

    name: str
    assemble: ContextReader
    options: dict[str, Any]

    def request(self, question: RecordedQuestion) -> ContextRequest:
        """Return the question as a request; raises pydantic's ``ValidationError``."""
        recorded = question.model_dump(exclude_unset=True, exclude=set(_NOT_ASKED))
        return ContextRequest(**{**recorded, **self.options})


def asked_before(database: Database, agent_id: str, most: int) -> list[RecordedQuestion]:
    """Return the agent's last recorded questions whose receipts and messages still exist."""
    with database.agent_snapshot(agent_id) as connection:
        asked = last_asked(connection, agent_id, most)
    # With ``as_of``, or the question and its answer would be found.
    given = ({name: value for name, value in row.items() if value is not None} for row in asked)
    return [RecordedQuestion(agent=agent_id, **each) for each in given]


def run_trials(
    database: Database, sides: tuple[TrialSide, TrialSide], questions: Sequence[RecordedQuestion]
) -> TrialsAnswer:
    """Ask every question under both settings, in turn; at least one question is required."""
    trials = [
        _trial(database, sides, question, order=(0, 1) if number % 2 else (1, 0))
        for number, question in enumerate(questions)
    ]
    known = [trial for trial in trials if trial.evidence]
    first, second = sides
    return TrialsAnswer(
        first=_totals(first.name, [trial.first for trial in trials], trials),
        second=_totals(second.name, [trial.second for trial in trials], trials),
        overlap=fmean(_overlap(trial) for trial in trials),
        with_evidence=len(known),
        trials=trials,
    )


def _trial(
    database: Database,
    sides: Sequence[TrialSide],
    question: RecordedQuestion,
    order: Sequence[int],
) -> Trial:
    requests = [side.request(question) for side in sides]
    # A first run warms the caches for both sides.
    for at in order:
        if sides[at].assemble.run(question.agent, requests[at]).new_agent:
            raise no_agent(question.agent)
    contexts = {at: _context(sides[at], requests[at], question) for at in order}
    first, second = contexts[0], contexts[1]
    return Trial(
        agent=question.agent,
        query=question.query,
        evidence=list(question.evidence),
        first=first,
        second=second,
        both=[each for each in first.message_ids if each in set(second.message_ids)],
        recorded=_recorded(database, question),
    )


def _context(side: TrialSide, request: ContextRequest, question: RecordedQuestion) -> TrialContext:
    began = time.perf_counter()
    answer = side.assemble.run(question.agent, request)
    took_ms = (time.perf_counter() - began) * 1000
    items = (item for item in answer.items if item.section is not Section.QUERY)
    ids = list(dict.fromkeys(each for item in items for each in item.message_ids))
    evidence = frozenset(question.evidence)
    return TrialContext(
        tokens=answer.tokens,
        took_ms=round(took_ms, 3),
        message_ids=ids,
        recall=len(evidence.intersection(ids)) / len(evidence) if evidence else None,
    )


def _recorded(database: Database, question: RecordedQuestion) -> list[str] | None:
    """Return the message ids of the recorded answer; None without a stored receipt."""
    if question.receipt_id is None:
        return None
    with database.agent_snapshot(question.agent) as connection:
        receipt = read_receipt(connection, question.agent, question.receipt_id)
    if receipt is None or receipt["kind"] != "context":
        return None
    items = (each for each in receipt["body"]["items"] if each["section"] != Section.QUERY)
    return list(dict.fromkeys(name for each in items for name in each["message_ids"]))


def _totals(name: str, contexts: Sequence[TrialContext], trials: Sequence[Trial]) -> TrialTotals:
    took = sorted(each.took_ms for each in contexts)
    kept = [
        len(set(trial.recorded).intersection(each.message_ids)) / len(trial.recorded)
        for each, trial in zip(contexts, trials, strict=True)
        if trial.recorded
    ]
    return TrialTotals(
        name=name,
        mean_tokens=fmean(each.tokens for each in contexts),
        mean_messages=fmean(len(each.message_ids) for each in contexts),
        p50_ms=took[len(took) // 2],
        p95_ms=took[int(0.95 * (len(took) - 1) + 0.5)],
        recall=_mean(each.recall for each in contexts),
        as_recorded=_mean(kept),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _overlap(trial: Trial) -> float:
    either = {*trial.first.message_ids, *trial.second.message_ids}
    return len(trial.both) / len(either) if either else 1.0
