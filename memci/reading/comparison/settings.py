"""Recorded questions under two settings: what each finds, in how many tokens, and how fast.

A trial leaves nothing behind: no receipt, and no use of a memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from memci.domain.agent import no_agent
from memci.domain.context.message_list import Section
from memci.reading.context import ContextReader
from memci.schemas.reads import ContextAnswer, ContextRequest
from memci.schemas.trials import RecordedQuestion, Trial, TrialContext, TrialsAnswer, TrialTotals
from memci.storage.reading.agents import last_asked
from memci.storage.receipts import read_receipt
from memci.storage.session import Database

# Of a recorded request: whom it asked and what came of it, and what it waited for.
_NOT_ASKED = frozenset({"agent", "receipt_id", "evidence", "min_seq", "wait_ms", "explain"})


@dataclass(frozen=True, slots=True)
class TrialSide:
    """One of two settings: what assembles under it, and the options that it lays over requests.

    ``assemble`` must work on a database that keeps nothing.
    """

    name: str
    assemble: ContextReader
    options: dict[str, Any]

    def request(self, question: RecordedQuestion) -> ContextRequest:
        """Return the question as it is asked here; raises pydantic's ``ValidationError``."""
        recorded = question.model_dump(exclude_unset=True, exclude=set(_NOT_ASKED))
        return ContextRequest(**{**recorded, **self.options})


def asked_before(database: Database, agent_id: str, most: int) -> list[RecordedQuestion]:
    """Return what the agent asked last, as of then, for what receipts and messages still tell."""
    with database.agent_snapshot(agent_id) as connection:
        asked = last_asked(connection, agent_id, most)
    return [
        RecordedQuestion(
            agent=agent_id,
            query=each.query,
            budget_tokens=each.budget_tokens,
            receipt_id=each.receipt_id,
            # Else the question itself, and its answer, would be found.
            as_of=each.asked_at,
            **({"session_id": each.session_id} if each.session_id else {}),
        )
        for each in asked
    ]


def run_trials(
    database: Database, sides: tuple[TrialSide, TrialSide], questions: Sequence[RecordedQuestion]
) -> TrialsAnswer:
    """Ask every question under both settings, in turn; there has to be a question."""
    trials = [
        _trial(database, sides if number % 2 else sides[::-1], question, swapped=not number % 2)
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
    *,
    swapped: bool,
) -> Trial:
    requests = [(side, side.request(question)) for side in sides]
    # Once for nothing: the vector of the question is then known to both, and its pages are warm.
    for side, request in requests:
        if side.assemble.run(question.agent, request).new_agent:
            raise no_agent(question.agent)
    contexts = [_context(side, request, question) for side, request in requests]
    first, second = reversed(contexts) if swapped else contexts
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
    ids = _message_ids(answer)
    evidence = frozenset(question.evidence)
    return TrialContext(
        tokens=answer.tokens,
        took_ms=round(took_ms, 3),
        message_ids=ids,
        recall=len(evidence.intersection(ids)) / len(evidence) if evidence else None,
    )


def _message_ids(answer: ContextAnswer) -> list[str]:
    given = (item for item in answer.items if item.section is not Section.QUERY)
    return list(dict.fromkeys(each for item in given for each in item.message_ids))


def _recorded(database: Database, question: RecordedQuestion) -> list[str] | None:
    """Return which messages were given then; receipts are kept for some time only."""
    if question.receipt_id is None:
        return None
    with database.agent_snapshot(question.agent) as connection:
        receipt = read_receipt(connection, question.agent, question.receipt_id)
    if receipt is None or receipt.kind != "context":
        return None
    items = (each for each in receipt.body["items"] if each["section"] != Section.QUERY)
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
