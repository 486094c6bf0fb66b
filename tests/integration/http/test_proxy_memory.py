"""The proxy adds memories of real workers to chats, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from memci import Memci
from memci.embedded import Postgres, Redis
from memci.http.proxy import memory
from memci.testing import wait_until
from tests.integration.http.proxying import assistant, chatting, stored, user
from tests.integration.http.serving import Served, served_by_workers
from tests.support.model_server import ModelServer, model_server, says


@pytest.fixture(scope="module")
def working(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, ModelServer]]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("proxy")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "MEMORY_TIMEOUT_S", 60)  # the first read loads the models
        upstream = stack.enter_context(model_server())
        running, _ = stack.enter_context(
            served_by_workers(
                servers,
                folder,
                "memci.read,memci.lane",
                app="workers",
                proxy_upstream_url=upstream.url,
                http_read_timeout_ms=60_000,
            )
        )
        upstream.rest = says("Noted.")
        yield running, upstream


def last_messages(upstream: ModelServer) -> list[dict[str, Any]]:
    """The messages of the last request that reached the upstream."""
    messages: list[dict[str, Any]] = upstream.requests[-1].body["messages"]
    return messages


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("agent", "fact", "chatter", "question", "key"),
    [
        ("ada", "My sister Clara keeps bees in Thun.", "Nice weather.", "What does Clara keep?",
         "bees"),
        ("ming", "我妹妹小芳在图恩养蜜蜂。", "今天天气不错。", "小芳养什么？", "蜜蜂"),
    ],
)  # fmt: skip
def test_facts_of_one_chat_are_added_to_another(
    working: tuple[Served, ModelServer],
    agent: str,
    fact: str,
    chatter: str,
    question: str,
    key: str,
):
    server, upstream = working
    with chatting(server, agent, timeout=90) as client:
        client.chat.completions.create(model="tiny", messages=[user(fact)])
        wait_until(lambda: len(stored(server, agent)) == 2, "the answer is recorded")
        mine = {"role": "developer", "content": "Be brief."}
        answer = client.chat.completions.with_raw_response.create(
            model="tiny",
            messages=[mine, user(chatter), assistant("Yes."), user(question)],
        )
    assert answer.headers["x-memci-memory"] == "on"
    first, notes, *rest = last_messages(upstream)
    assert first == mine
    assert notes["role"] == "developer"  # as in the client's message: APIs refuse mixed roles
    assert key in notes["content"]
    assert rest == [user(chatter), assistant("Yes."), user(question)]
    # The messages of the client are not repeated.
    assert question not in notes["content"]
    assert chatter not in notes["content"]


@pytest.mark.timeout(180)
def test_earlier_messages_of_a_session_are_added(
    working: tuple[Served, ModelServer],
):
    server, upstream = working
    with chatting(server, "solo", timeout=90, default_headers={"X-Memci-Session": "one"}) as client:
        for count, text in ((2, "I have two cats."), (4, "One is called Mia.")):
            client.chat.completions.create(model="tiny", messages=[user(text)])
            wait_until(lambda count=count: len(stored(server, "solo")) == count, "recorded")
        client.chat.completions.create(model="tiny", messages=[user("And the other?")])
    messages = [each for each in last_messages(upstream) if each["role"] != "system"]
    assert messages == [
        user("I have two cats."),
        assistant("Noted."),
        user("One is called Mia."),
        assistant("Noted."),
        user("And the other?"),
    ]


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("agent", "before", "question", "note", "opening"),
    [
        ("eva", "Tomorrow I have my driving test.", "When is my driving test?",
         ("When the turns below were said:\n"
         "- 2 March 2026 (Mon): Tomorrow I have my driving test.\n"),
         ": When is my driving test?"),
        ("hua", "我明天考驾照。", "什么时候考？",
         "以下对话的时间：\n- 2026-03-02（一）：我明天考驾照。\n", "：什么时候考？"),
    ],
)  # fmt: skip
def test_days_of_earlier_turns_are_in_one_system_text(
    working: tuple[Served, ModelServer],
    agent: str,
    before: str,
    question: str,
    note: str,
    opening: str,
):
    server, upstream = working
    with Memci(server.url) as memci:
        at = {"timestamp": "2026-03-02T09:00:00Z"}
        memci.agent(agent).record([user(before) | at, assistant("!") | at], session_id="c")
    with chatting(server, agent, timeout=90) as client:
        client.chat.completions.create(
            model="tiny", messages=[user(question)], extra_headers={"X-Memci-Session": "c"}
        )
    notes, *rest = last_messages(upstream)
    assert rest == [user(before), assistant("!"), user(question)]
    assert notes["role"] == "system"
    assert note in notes["content"]
    last = notes["content"].split(note)[1]
    assert last.startswith("- ")
    assert last.endswith(opening)


@pytest.mark.timeout(180)
def test_the_budget_is_kept_and_a_budget_of_0_adds_nothing(working: tuple[Served, ModelServer]):
    server, upstream = working
    with Memci(server.url) as memci:
        agent = memci.agent("thrifty")
        agent.record([user(f"Fact {number} about the harbour.") for number in range(60)])
    question = [user("Hello."), assistant("Hi."), user("What about the harbour?")]
    lengths = []
    for budget in ("0", "120", "600"):
        with chatting(server, "thrifty", timeout=90) as client:
            client.chat.completions.create(
                model="tiny", messages=question, extra_headers={"X-Memci-Budget-Tokens": budget}
            )
        notes = [each["content"] for each in last_messages(upstream) if each["role"] == "system"]
        lengths.append(server.runtime.counter.count("".join(notes)))
    assert lengths[0] == 0
    assert 0 < lengths[1] <= 120 < lengths[2] <= 600
