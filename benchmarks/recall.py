"""Share of the evidence found, by token budget, kind of question and wording.

Opt-in: ``python -m benchmarks recall --data DIR``. Real workers make memories of conversations
sent over HTTP; no pass runs. Then every question is asked once per variant. It is deterministic:
two runs print the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.compare import Size, say
from benchmarks.dialogues import words_of
from benchmarks.evidence import BUDGETS, WANTED, Row, Summary, Variant, share, tokens_needed
from benchmarks.questions import CATEGORIES, Question, Talk, read_exchanges, read_locomo
from benchmarks.report import Bar, Finding
from benchmarks.stage import LANE_POOL, Stage
from memci import Memci
from memci.broker.names import LANE_QUEUE
from memci.client.client import Agent
from memci.config.settings import load_settings
from memci.reading.registry import Readings
from memci.runtime import Runtime
from memci.schemas.reads import ContextRequest, SearchRequest
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.testing import wait_until

_READERS: tuple[tuple[str, Callable[[Path], list[Talk]]], ...] = (
    ("locomo*.json", read_locomo),
    ("memorybank_cn*.json", read_exchanges),
)
_MESSAGES_AT_ONCE = 20
_WAIT_S = 1_800.0
_A_MESSAGE = 4  # tokens that a chat format adds
_LONGEST_ANSWER = 6
_ANSWERED = frozenset((1, 2, 4))
_MULTI_HOP = 1
_COMPRESSION = 15.0


def measure(
    stage: Stage, *, size: Size, data: Path, variants: Sequence[Variant]
) -> Iterator[Finding]:
    """Measure each file of a folder; ``size``: all conversations, or the first one."""
    for pattern, read in _READERS:
        for path in sorted(data.glob(pattern)):
            talks = read(path)[: size.pick(1, 1, None)]
            agents = {talk.id: f"{path.stem}-{talk.id}" for talk in talks}
            _remember(stage, talks, agents)
            summaries: dict[str, dict[str, Summary]] = {}
            settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
            with closing(Runtime(settings)) as runtime:
                for variant in variants:
                    rows = list(_rows(runtime.readings, talks, agents, variant))
                    summaries[variant.name] = _by_category(rows)
                    say(f"{path.stem}, {variant.name}: {len(rows)} questions")
            _print(path.stem, summaries)
            for name, summary in summaries.items():
                yield from _findings(f"{path.stem}, {name}", summary, _history_tokens(talks))


def _remember(stage: Stage, talks: Sequence[Talk], agents: Mapping[str, str]) -> None:
    api, port = stage.start_api()
    worker = stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane")
    with Memci(f"http://127.0.0.1:{port}", timeout_s=60.0) as memci:
        for talk in talks:
            agent = memci.agent(agents[talk.id])
            for session, messages in talk.sessions.items():
                for start in range(0, len(messages), _MESSAGES_AT_ONCE):
                    some = messages[start : start + _MESSAGES_AT_ONCE]
                    agent.remember(some, session_id=session)
        for talk in talks:
            agent = memci.agent(agents[talk.id])
            _wait_remembered(agent)
            assert not agent.about().dead, f"{agent} has dead jobs"
            say(f"{talk.id} is remembered")
    stage.stop([worker, api])


def _wait_remembered(agent: Agent) -> None:
    wait_until(lambda: agent.about().queued == 0, "all is remembered", timeout_s=_WAIT_S)


def _rows(
    readings: Readings, talks: Sequence[Talk], agents: Mapping[str, str], variant: Variant
) -> Iterator[Row]:
    for talk in talks:
        for question in talk.questions:
            yield _row(readings, agents[talk.id], question, variant)


def _row(readings: Readings, agent_id: str, question: Question, variant: Variant) -> Row:
    asked = variant.request(SearchRequest, query=question.text, k=10)
    hits = readings.search.run(agent_id, asked).hits
    among_ten = frozenset(each for hit in hits for each in hit.message_ids)
    found: dict[int, float] = {}
    answered: dict[int, bool] = {}
    for budget in BUDGETS:
        request = variant.request(ContextRequest, query=question.text, budget_tokens=budget)
        answer = readings.assemble.run(agent_id, request)
        assert answer.tokens <= budget, f"{answer.tokens} of {budget} tokens"
        items = [item for item in answer.items if item.section.value != "query"]
        held = frozenset(each for item in items for each in item.message_ids)
        found[budget] = share(question.evidence, held)
        words = words_of("\n".join(item.text for item in items))
        answered[budget] = words_of(question.answer) <= words
    return Row(
        question.category,
        share(question.evidence, among_ten),
        found,
        answered if _has_short_answer(question) else None,
    )


def _has_short_answer(question: Question) -> bool:
    words = words_of(question.answer)
    return question.category in _ANSWERED and 0 < len(words) <= _LONGEST_ANSWER


def _by_category(rows: Sequence[Row]) -> dict[str, Summary]:
    found = {"all": Summary.of(rows)}
    for category, name in CATEGORIES.items():
        if some := [row for row in rows if row.category == category]:
            found[name] = Summary.of(some)
    return found


def _history_tokens(talks: Sequence[Talk]) -> float:
    """Return the mean number of tokens of the whole conversation over the questions."""
    count = OfflineTokenCounter().count
    total = sum(
        len(talk.questions)
        * sum(
            count(each["content"]) + _A_MESSAGE
            for messages in talk.sessions.values()
            for each in messages
        )
        for talk in talks
    )
    return total / sum(len(talk.questions) for talk in talks)


def _findings(
    name: str, summaries: Mapping[str, Summary], history_tokens: float
) -> Iterator[Finding]:
    whole = summaries["all"]
    yield Finding(
        f"evidence, {name}",
        100 * sum(whole.found.values()) / len(BUDGETS),
        "% on average",
        note="; ".join(f"{budget:,} tokens {100 * whole.found[budget]:.1f} %" for budget in BUDGETS)
        + f"; R@10 {100 * whole.among_ten:.1f} %",
    )
    needed = tokens_needed(whole.found)
    reached = (
        f"{WANTED:.0%} of the evidence in {needed:,.0f} tokens"
        if needed
        else (f"{WANTED:.0%} of the evidence is not reached in {max(BUDGETS):,} tokens")
    )
    # A history must be so many times longer than the smallest budget to be able to meet the bar.
    possible = history_tokens >= _COMPRESSION * min(BUDGETS)
    yield Finding(
        f"compression, {name}",
        history_tokens / (needed or max(BUDGETS)),
        "times",
        bar=Bar(_COMPRESSION, of="ours") if possible else None,
        note=f"{reached}; the whole history has {history_tokens:,.0f} tokens",
    )


def _print(title: str, summaries: Mapping[str, Mapping[str, Summary]]) -> None:
    table = Table(title=f"evidence found, {title} (%)", title_justify="left")
    for column in ("way of asking", "questions about"):
        table.add_column(column)
    columns = ["questions", "R@10", *(f"{budget:,}" for budget in BUDGETS)]
    columns += [f"whole {budget:,}" for budget in BUDGETS[1:3]]
    columns += [f"answers {budget:,}" for budget in BUDGETS[:3]]
    for column in columns:
        table.add_column(column, justify="right")
    for name, by_category in summaries.items():
        for category, each in by_category.items():
            shares = [each.among_ten, *each.found.values()]
            shares += [each.whole[budget] for budget in BUDGETS[1:3]]
            cells = [f"{100 * value:.1f}" for value in shares]
            if each.answered is not None:
                cells += [f"{100 * each.answered[budget]:.1f}" for budget in BUDGETS[:3]]
            table.add_row(name, category, str(each.questions), *cells)
        table.add_section()
    Console(width=160).print(table)
