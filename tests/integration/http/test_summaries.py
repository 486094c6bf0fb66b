"""Summaries and handovers of real workers, over HTTP and by command (R8)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from memci import Memci
from memci.embedded import Postgres, Redis
from memci.errors import BudgetTooSmallError, NotFoundError
from memci.queue.sweep import sweep
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.testing import wait_until
from tests.integration.http.serving import Served, served_by_workers
from tests.support.command_line import run, run_json
from tests.support.fleet import Worker

pytestmark = pytest.mark.timeout(180)
COUNT = OfflineTokenCounter().count
TALK = (
    "We decided to rent the boat Aurora for 340 euros on 4 May.",
    "The harbour of Bergen opens at seven, and parking costs 12 euros.",
    "My daughter Ida is allergic to peanuts, so no peanut butter on board.",
    "Grandpa wants to bring his accordion and sixteen songs.",
    "Please ask the Rossi family whether they bring life jackets.",
    "We agreed that Tom steers and Ann cooks on the first evening.",
    "What do we need for the engine?",
    "The last question is about the flag.",
)


@pytest.fixture(scope="module")
def server(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("summaries")
    with served_by_workers(servers, folder, app="workers") as (running, workers):
        both = [workers.start(queue, ready=False) for queue in ("memci.lane", "memci.read")]
        for each in both:
            wait_until(partial(_is_ready, each), "the workers are ready", timeout_s=150)
        yield running


def _is_ready(worker: Worker) -> bool:
    return " ready." in worker.log_text


@pytest.fixture
def memci(server: Served) -> Iterator[Memci]:
    with Memci(server.url) as client:
        yield client


def settle(memory: Any) -> None:
    """Wait until no job is queued; passes may still wait."""
    wait_until(lambda: not memory.jobs(state="queued").jobs, "all jobs are done", timeout_s=90)


def store_talk(memory: Any, *texts: str, session: str = "s1", user: str | None = None) -> None:
    """Store each text as a user message, with an answer."""
    memory.configure({"summary_threshold": 60, "preserve_recent": 2})
    messages = [
        message
        for number, text in enumerate(texts)
        for message in (
            {"role": "user", "content": text, "id": f"{session}-{number}"},
            {"role": "assistant", "content": f"Noted as point {number}."},
        )
    ]
    memory.remember(messages, session_id=session, user_id=user)
    settle(memory)


def test_a_long_session_is_summarised_except_its_latest_interactions(memci: Memci):
    memory = memci.agent("sailor")
    store_talk(memory, *TALK)
    (made,) = memory.summaries().summaries
    assert (made.session_id, made.user_id, made.model, made.final) == ("s1", None, "offline", False)
    assert (made.from_seq, made.through_seq) == (1, 12)
    assert made.tokens == COUNT(made.text)
    assert "Aurora for 340 euros on 4 May" in made.text
    assert "engine" not in made.text
    assert "flag" not in made.text
    memory.end_session("s1")
    settle(memory)
    (final,) = memory.summaries(session_id="s1").summaries
    assert (final.final, final.through_seq) == (True, 16)
    assert "flag" in final.text
    assert len(memory.messages().messages) == 16, "what was said stays as it was"


def test_summaries_are_listed_by_cursor(memci: Memci):
    memory = memci.agent("lister")
    for session in ("a/b", "会话", "c"):
        store_talk(memory, *TALK, session=session)
    found, cursor = [], None
    for _ in range(3):
        page = memory.summaries(limit=1, cursor=cursor)
        found += [each.session_id for each in page.summaries]
        cursor = page.next_cursor
    assert (found, cursor) == (["a/b", "c", "会话"], None)


def test_erased_messages_are_in_no_summary(memci: Memci):
    memory = memci.agent("eraser")
    store_talk(memory, *TALK)
    assert "peanut" in memory.summaries().summaries[0].text
    memory.erase(message_ids=["s1-2"])
    settle(memory)
    (made,) = memory.summaries().summaries
    assert "peanut" not in made.text
    assert "Aurora" in made.text
    memory.erase(session_id="s1")
    settle(memory)
    assert memory.summaries().summaries == []


def test_a_handover_has_pins_summary_and_latest_messages(memci: Memci, server: Served):
    memory = memci.agent("captain")
    store_talk(memory, *TALK)
    pin = {"text": "Nobody sails without a life jacket.", "kind": "constraint"}
    httpx.post(f"{server.url}/v1/agents/captain/pins", json=pin, timeout=20).raise_for_status()
    handover = memory.handover(session_id="s1")
    assert handover.tokens == COUNT(handover.text)
    assert handover.text.startswith("# Handover of session s1\n\n## Pinned")
    parts = (
        "life jacket.",
        "## What was said before",
        "What do we need for the engine?",
        "the flag",
    )
    places = [handover.text.index(each) for each in parts]
    assert places == sorted(places)
    assert (handover.session_id, handover.through_seq, handover.left_out) == ("s1", 12, 0)
    assert handover.message_ids[::2] == ["s1-6", "s1-7"]
    assert memory.handover().text == handover.text, "the session of the last message"
    plain = memory.handover(format="text").text
    assert plain.startswith("= Handover of session s1\n\n== Pinned")
    small = memory.handover(budget_tokens=120)
    assert small.tokens <= 120
    assert "life jacket." in small.text
    with pytest.raises(BudgetTooSmallError) as refused:
        memory.handover(budget_tokens=10)
    assert refused.value.needs["pins and plan"] > 10
    with pytest.raises(NotFoundError):
        memci.agent("nobody-at-all").handover()


def test_a_handover_without_a_summary_makes_and_requests_one(memci: Memci, server: Served):
    memory = memci.agent("early")
    memory.remember([{"role": "user", "content": each} for each in TALK], session_id="s1")
    settle(memory)
    assert memory.summaries().summaries == []
    handover = memory.handover(session_id="s1")
    assert "Aurora for 340 euros" in handover.text
    assert len(handover.message_ids) == 4
    runtime = server.runtime
    assert sweep(runtime.database, runtime.agent_queues, runtime.wakeups).lane == 1
    settle(memory)
    (made,) = memory.summaries().summaries
    assert (made.session_id, made.through_seq) == ("s1", handover.through_seq)


def test_the_handover_of_a_chinese_session_is_in_chinese(memci: Memci):
    memory = memci.agent("zh")
    store_talk(
        memory,
        "我们决定五月四日租下“极光号”帆船，租金三百四十欧元，押金一百欧元，由王峰去签合同。",
        "我女儿小雨对花生过敏，船上绝对不能有任何花生制品，请大家务必记住。",
        "码头早上七点开门，停车费十二欧元，从卑尔根开车过去大约四十分钟。",
        "爷爷想带上他的手风琴，还准备了十六首老歌，晚上在甲板上唱给大家听。",
        "发动机需要准备什么？",
        "最后问一下旗子的事情。",
    )
    text = memory.handover().text
    assert text.startswith("# 会话 s1 的交接\n\n## 置顶")
    assert text.index("极光号") < text.index("## 此前内容摘要")
    assert "花生过敏" in text
    assert "```用户\n发动机需要准备什么？\n```" in text


def test_a_handover_has_no_messages_of_other_users(memci: Memci):
    memory = memci.agent("two")
    store_talk(memory, *TALK, user="ann")
    memory.remember(
        [{"role": "user", "content": "My pin is 4711."}], session_id="s1", user_id="bob"
    )
    settle(memory)
    of_ann, of_bob = (
        memory.handover(session_id="s1", user_id=each).text for each in ("ann", "bob")
    )
    assert "Aurora" in of_ann
    assert "4711" not in of_ann
    assert "4711" in of_bob
    assert not any(word in of_bob for word in ("Aurora", "Ida", "flag"))


def test_the_commands_show_summaries_and_handovers(memci: Memci, server: Served):
    store_talk(memci.agent("cli"), *TALK)
    settings = {"MEMCI_API_URL": server.url}
    printed = run("sessions", "summaries", "--agent", "cli", settings=settings)
    assert printed.stdout.startswith("── s1: messages 1-12, not complete yet; ")
    assert "Aurora" in printed.stdout
    (made,) = run_json("sessions", "summaries", "--agent", "cli", settings=settings)["summaries"]
    assert made["through_seq"] == 12
    handover = run("sessions", "handover", "--agent", "cli", "--budget", "200", settings=settings)
    assert handover.stdout.startswith("# Handover of session s1")
    assert (
        run("sessions", "summaries", "--agent", "cli", "--session", "x", settings=settings).stdout
        == "(none)\n"
    )
