"""Contexts of a growing conversation over HTTP: the part that stays the same, and exact tokens.

A provider's prompt cache can reuse the bytes at the start of a list that are the same as in the
list before; their share of the list is measured. As an agent does, each turn requests the context
and then records question and answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from statistics import fmean, median
from typing import Any

from benchmarks.compare import Size, percentile, say
from benchmarks.report import Bar, Finding
from benchmarks.sentences import conversation
from benchmarks.stage import LANE_POOL, Stage
from memci import Memci
from memci.broker.names import LANE_QUEUE, READ_QUEUE
from memci.client.client import Agent
from memci.message import NewMessage, Role
from memci.schemas.reads import ContextAnswer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

BUDGETS = (1_000, 4_000)
_SAME = 0.85
# Providers cache no shorter prefixes than this; each turn is a large part of fewer tokens.
_CACHED_FROM = 1_024
# While the number of recent interactions still grows, half of a list is always new.
_GROWING = 8
_A_MESSAGE, _A_LIST = 4, 3  # tokens that a chat format adds (R14)
_SYSTEM = (
    "You are a careful assistant. Use what is known of the user, say so when you do not know, "
    "answer in the user's language, and keep to what was agreed."
)
# It matches no message, so nothing is retrieved and the list has only recent interactions.
_NOTHING = {"since": "9000-01-01T00:00:00Z"}
_FIXED = frozenset({"system", "summary", "recent", "query"})


@dataclass(frozen=True, slots=True)
class Step:
    """One assembly compared with the one before; shares are 0 to 1, of bytes.

    ``same`` is measured, ``reported`` is the same share in the answer (``stable_prefix``), ``kept``
    is the share of the list before. ``anew``: texts were retrieved or pinned that it lacked.
    """

    same: float
    kept: float
    reported: float
    anew: bool
    tokens: int
    exact: bool


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Replay one conversation for each budget, with retrieval and without."""
    turns, growing = size.pick((3, 0), (25, _GROWING), (60, _GROWING))
    api, port = stage.start_api()
    workers = [
        stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane"),
        stage.start_worker("workers", READ_QUEUE, "-P", "threads", "-c", "4", name="context"),
    ]
    with Memci(f"http://127.0.0.1:{port}", timeout_s=60.0) as memci:
        for budget in BUDGETS:
            for name, options in (
                ("all that is found", {}),
                ("nothing recalled", {"filters": _NOTHING}),
            ):
                agent = memci.agent(f"{name.replace(' ', '-')}-{budget}")
                steps = list(_steps(agent, turns, budget_tokens=budget, **options))[growing:]
                say(f"context, {name}, {budget:,} tokens: {len(steps)} steps")
                bar = Bar(_SAME, of="ours") if budget >= _CACHED_FROM else None
                yield from _findings(f"{name}, {budget:,} tokens", steps, bar)
    stage.stop([*workers, api])


def _steps(agent: Agent, turns: int, **options: Any) -> Iterator[Step]:
    before: ContextAnswer | None = None
    for asked, *answers in islice(_turns(), turns):
        now = agent.context(asked.content, session_id="now", system=_SYSTEM, **options)
        if before is not None:
            yield _step(before, now)
        before = now
        agent.record(
            [{"role": each.role.value, "content": each.content} for each in (asked, *answers)],
            session_id="now",
        )


def _turns() -> Iterator[list[NewMessage]]:
    messages = conversation(seed=21)
    while True:
        turn = list(islice(messages, 2))
        assert [each.role for each in turn] == [Role.USER, Role.ASSISTANT]
        yield turn


def _step(before: ContextAnswer, now: ContextAnswer) -> Step:
    old, new = _written(before), _written(now)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    texts = sum(len((each.content or "").encode()) for each in now.messages)
    return Step(
        same / len(new),
        same / len(old),
        now.stable_prefix / texts,
        not _found(now) <= _found(before),
        now.tokens,
        _tokens(now) == now.tokens <= now.budget_tokens,
    )


def _written(answer: ContextAnswer) -> bytes:
    """Return the list as a model reads it: each message after its role."""
    return "".join(f"<{each.role}>\n{each.content}\n" for each in answer.messages).encode()


def _found(answer: ContextAnswer) -> set[str]:
    return {item.text for item in answer.items if item.section.value not in _FIXED}


def _tokens(answer: ContextAnswer) -> int:
    count = OfflineTokenCounter(answer.tokenizer).count
    return _A_LIST + sum(count(each.content or "") + _A_MESSAGE for each in answer.messages)


def _findings(name: str, steps: Sequence[Step], wanted: Bar | None) -> Iterator[Finding]:
    kept = [step for step in steps if not step.anew]
    for title, some, bar in (
        ("all", steps, None),
        ("nothing recalled anew", kept, wanted),
    ):
        if some:
            yield Finding(
                f"prefix share, {name}: {title}",
                fmean(step.same for step in some),
                "of the bytes",
                bar=bar,
                note=f"{len(some)} steps; median {median(step.same for step in some):.2f}, "
                f"lowest tenth {percentile([step.same for step in some], 0.1):.2f}; "
                f"of the list before {fmean(step.kept for step in some):.2f}; "
                f"by stable_prefix {fmean(step.reported for step in some):.2f}; "
                f"{fmean(step.tokens for step in some):,.0f} tokens on average",
            )
    yield Finding(
        f"tokens exact and within the budget, {name}",
        fmean(step.exact for step in steps),
        f"of {len(steps)}",
        bar=Bar(1.0, of="ours"),
    )
