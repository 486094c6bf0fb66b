"""Values reach no table and no log, by whichever route a message comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from memci.broker.message_decoding import encode
from memci.broker.names import CREATE_TASK
from memci.client import Memci
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError, InvalidInputError
from memci.message import AppendLimits
from memci.queue import mailbox
from memci.queue.broker_intake import take_in
from memci.storage.schema import metadata
from tests.integration.http.conftest import Serve
from tests.integration.http.proxying import ask, assistant, chatting, recorded, user
from tests.integration.http.serving import Served
from tests.support.large_agents import ORIGIN_NODE, fill_with_origin
from tests.support.model_server import ModelServer, says

EMAIL, PHONE = "alice@example.com", "13812345678"
TEXT = f"Write to {EMAIL} or call {PHONE}."
LEFT = "Write to [EMAIL_1] or call [PHONE_1]."
REDACT_ALL = {"memory": MemoryParameters(redact="all")}


def rows(server: Served, agent: str) -> str:
    """Return all rows of an agent, of all tables, as text."""
    with server.runtime.database.agent_snapshot(agent) as connection:
        return "\n".join(
            str(connection.exec_driver_sql(f"SELECT t::text FROM {name} AS t").all())
            for name in metadata.tables
        )


def check_hidden(server: Served, agent: str = "ada") -> None:
    found = rows(server, agent)
    assert EMAIL not in found
    assert PHONE not in found
    assert "[EMAIL_1]" in found


def test_values_reach_no_table_and_no_log(
    server: Served, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    with Memci(server.url) as memci:
        agent = memci.agent("ada")
        agent.configure({"redact": "email,phone"})
        call = {"id": "c", "function": {"name": "dial", "arguments": f'{{"to": {PHONE}}}'}}
        answer = agent.remember(
            [
                {"role": "user", "name": EMAIL, "content": TEXT, "metadata": {"to": [PHONE]}},
                {"role": "assistant", "content": None, "tool_calls": [call]},
            ]
        )
        assert answer.redacted == {"email": 2, "phone": 3}
        agent.call_tool("remember", {"text": TEXT})
        agent.call_tool("update_plan", {"steps": [TEXT]})
        assert [each.content for each in agent.messages().messages][:1] == [
            "Write to [EMAIL_1] or call [PHONE_1]."
        ]
    check_hidden(server)
    assert EMAIL not in str(logged())
    metrics = httpx.get(f"{server.url}/metrics").text
    assert 'memci_redacted_total{kind="email"} 2.0' in metrics


def test_nothing_is_redacted_unless_it_is_asked_for(server: Served) -> None:
    with Memci(server.url) as memci:
        answer = memci.agent("ada").remember(TEXT)
    assert answer.redacted == {}
    assert server.messages("ada") == [TEXT]


def test_an_agent_says_otherwise_than_the_server(serve: Serve) -> None:
    server = serve(**REDACT_ALL)
    with Memci(server.url) as memci:
        memci.agent("bo").configure({"redact": ""})
        memci.agent("cy").configure({"redact": "phone"})
        for name in ("ada", "bo", "cy"):
            memci.agent(name).remember(TEXT)
    check_hidden(server)
    assert server.messages("bo") == [TEXT]
    assert server.messages("cy") == [f"Write to {EMAIL} or call [PHONE_1]."]


def test_a_change_holds_at_once_in_every_process(serve: Serve) -> None:
    one, other = serve(), serve()
    with Memci(one.url) as first, Memci(other.url) as second:
        for setting, left in (("", TEXT), ("all", LEFT), ("", TEXT), ("email,phone", LEFT)):
            first.agent("ada").configure({"redact": setting})
            for client in (second, first):
                client.agent("ada").remember(TEXT)
                assert server_last(one) == left


def server_last(server: Served) -> str | None:
    return server.messages("ada")[-1]


def test_a_message_that_is_sent_again_is_the_same_before_and_after_a_change(
    server: Served,
) -> None:
    with Memci(server.url) as memci:
        agent = memci.agent("ada")
        settings = ["", "all", "phone", "", "email"]
        for number, setting in enumerate(settings):
            agent.configure({"redact": setting})
            answer = agent.remember([{"role": "user", "content": TEXT, "id": f"m{number}"}])
            assert answer.accepted == 1
            for earlier in range(number + 1):
                again = agent.remember([{"role": "user", "content": TEXT, "id": f"m{earlier}"}])
                assert (again.duplicates, again.redacted) == (1, {})
            with pytest.raises(ConflictError):
                other = TEXT.replace("Write", "Send")
                agent.remember([{"role": "user", "content": other, "id": f"m{number}"}])
    assert len(server.messages("ada")) == len(settings)


def test_messages_of_celery_producers_are_redacted_and_bad_ones_leave_no_bytes(
    serve: Serve,
) -> None:
    server = serve()
    limits = AppendLimits(1_000_000, redact="all")
    said = {"role": "user", "content": TEXT}
    good = encode(CREATE_TASK, "1", {"agent_id": "ada", "messages": [said]})
    bad = encode(CREATE_TASK, "2", {"agent_id": "ada", "messages": [said], "more": 1})
    broken = f'{{"broken": "{EMAIL}"'.encode()
    for raw in (good, bad, bad, broken):
        with server.runtime.database.agent_transaction("ada") as connection:
            mailbox.lock_lane(connection, "ada")
            take_in(connection, "ada", raw, limits)
    check_hidden(server)
    with server.runtime.database.agent_snapshot("ada") as connection:
        dead = connection.exec_driver_sql("SELECT count(*) FROM job WHERE state = 'dead'")
        assert dead.scalar_one() == 2
        assert connection.exec_driver_sql("SELECT count(*) FROM dead_letter").scalar_one() == 0


def test_a_chat_of_the_proxy_is_recorded_once(serve: Serve, upstream: ModelServer) -> None:
    proxy = serve(proxy_upstream_url=upstream.url, proxy_budget_tokens=0, **REDACT_ALL)
    upstream.script = [says(f"I wrote to {EMAIL}."), says("You are welcome.")]
    history: list[dict[str, Any]] = []
    with chatting(proxy, "ada") as client:
        for turn in (TEXT, "Thanks."):
            history.append(user(turn))
            history.append(assistant(ask(client, *history).choices[0].message.content))
            recorded(proxy, len(history), "ada")
    contents = [content for _, content in recorded(proxy, 4, "ada")]
    assert contents == [LEFT, "I wrote to [EMAIL_1].", "Thanks.", "You are welcome."]
    assert upstream.requests[0].body["messages"][-1]["content"] == TEXT
    check_hidden(proxy)


def test_notes_and_pins_are_redacted(serve: Serve) -> None:
    server = serve(**REDACT_ALL)
    with Memci(server.url) as memci:
        agent = memci.agent("ada")
        agent.remember("Hello.")
        agent.pin(text=TEXT)
    check_hidden(server)


def test_added_and_corrected_memories_and_focus_points_are_redacted(serve: Serve) -> None:
    server = serve(**REDACT_ALL)
    fill_with_origin(server.runtime.database, "ada")
    with Memci(server.url) as memci:
        agent = memci.agent("ada")
        assert agent.add_memory(TEXT).redacted == {"email": 1, "phone": 1}
        assert 'memci_redacted_total{kind="email"} 1.0' in httpx.get(f"{server.url}/metrics").text
        agent.correct_memory(ORIGIN_NODE, TEXT)
        agent.mention(EMAIL)
    check_hidden(server)
    assert server.messages("ada")[-2:] == [LEFT, LEFT]


def test_items_are_redacted_and_json_in_them_stays_json(serve: Serve) -> None:
    server = serve(**REDACT_ALL)
    value = {"said": TEXT, "called": [{"arguments": f'{{"to": {PHONE}}}'}], EMAIL: 1}
    item = {"namespace": ["a"], "key": "b", "value": value, "text": TEXT}
    with Memci(server.url) as memci:
        agent = memci.agent("ada")
        send = {"json": {"items": [item]}}
        httpx.put(f"{server.url}/v1/agents/ada/items", **send).raise_for_status()
        place = {"items": [{"namespace": ["a"], "key": "b"}]}
        found = httpx.post(f"{server.url}/v1/agents/ada/items/get", json=place).json()["items"][0]
        assert found["value"] == {
            "said": LEFT, "called": [{"arguments": '{"to": "[PHONE_1]"}'}], "[EMAIL_1]": 1,
        }  # fmt: skip
        check_hidden(server)
        agent.configure({"redact": ""})
        httpx.put(f"{server.url}/v1/agents/ada/items", **send).raise_for_status()
    assert EMAIL in rows(server, "ada")


def test_an_archive_with_values_is_refused(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    path = tmp_path / "ada.zip"
    with Memci(server.url) as memci:
        memci.agent("ada").remember(TEXT)
        memci.agent("ada").export(path)
    strict = serve(**REDACT_ALL)
    with Memci(strict.url) as memci:
        with pytest.raises(InvalidInputError, match=r"email 1, phone 1|phone 1, email 1"):
            memci.agent("bo").import_(path)
        assert memci.agents().agents[0].agent_id == "ada"
        assert len(memci.agents().agents) == 1
