"""The audit log: actions of administration and erasure, by whom, and with which outcome."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from memci.api_keys import new_key
from memci.client import Memci
from memci.errors import MemciError
from memci.schemas.audit import AuditRecord
from memci.upkeep.duties import prune_audit
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served
from tests.support.command_line import run
from tests.support.large_agents import ORIGIN_NODE, fill_with_origin

KEYS = {
    "boss": new_key("boss", scope="admin"),
    "lead": new_key("lead", agents="t-*", scope="admin"),
}


@pytest.fixture
def server(serve: Serve) -> Served:
    return serve(api_keys=tuple(entry for _, entry in KEYS.values()))


@pytest.fixture
def boss(server: Served) -> Iterator[Memci]:
    with Memci(server.url, api_key=KEYS["boss"][0]) as client:
        yield client


UPDATE = f"""[tool_call]
status = 'success'
code = '''
update(memory={ORIGIN_NODE + 1}, text="Another fact of mine.")
'''"""


def told(record: AuditRecord) -> tuple[object, ...]:
    return (record.key_name, record.action, record.agent_id, record.subject, record.status)


def test_each_action_is_recorded_with_its_outcome_and_without_content(
    server: Served, boss: Memci
) -> None:
    agent = boss.agent("t-1")
    agent.remember([{"id": "m1", "content": "a word of mine", "role": "user"}])
    agent.configure({"decay_rate": 0.5})
    agent.pause()
    with pytest.raises(MemciError):
        agent.configure({"decay_rate": 5})
    with pytest.raises(MemciError):
        agent.erase(message_ids=["never-sent"])
    agent.call_tool("erase", {"messages": ["m1"]})
    boss.new_key("app")
    agent.erase_agent()
    records = boss.audit().records
    assert [told(each) for each in records] == [
        ("boss", "erase_agent", "t-1", None, 200),
        ("boss", "new_key", None, "app", 201),
        ("boss", "tool_erase", "t-1", None, 200),
        ("boss", "erase_messages", "t-1", None, 404),
        ("boss", "put_settings", "t-1", None, 422),
        ("boss", "pause", "t-1", None, 200),
        ("boss", "put_settings", "t-1", None, 200),
    ]
    assert "word of mine" not in str(records)
    with server.runtime.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql("SELECT audit.*::text FROM audit").all()
    assert "word of mine" not in str(rows)


def test_memories_are_deleted_and_corrected_with_scope_write_and_recorded(serve: Serve) -> None:
    key, entry = new_key("app", agents="t-*", scope="write")
    server = serve(api_keys=(entry, KEYS["boss"][1]))
    fill_with_origin(server.runtime.database, "t-1")
    with Memci(server.url, api_key=key) as app:
        with pytest.raises(MemciError):
            app.agent("t-1").restore(ORIGIN_NODE)
        app.agent("t-1").call_tool("update", {"memory": ORIGIN_NODE + 1, "text": "A fact of mine."})
        app.agent("t-1").attp(UPDATE)
        app.agent("t-1").correct_memory(ORIGIN_NODE, "A fact of mine.")
        app.agent("t-1").call_tool("forget", {"memory": ORIGIN_NODE + 1})
        app.agent("t-1").delete_memory(ORIGIN_NODE + 1)  # again
        with pytest.raises(MemciError):
            app.agent("t-1").call_tool("erase", {"messages": ["m1"]})
    with Memci(server.url, api_key=KEYS["boss"][0]) as boss:
        records = boss.audit().records
    assert [told(each) for each in records] == [
        ("app", "delete_nodes", "t-1", str(ORIGIN_NODE + 1), 200),
        ("app", "delete_nodes", "t-1", str(ORIGIN_NODE + 1), 200),
        ("app", "edit_nodes", "t-1", str(ORIGIN_NODE), 200),
        ("app", "tool_update", "t-1", str(ORIGIN_NODE + 1), 200),
        ("app", "tool_update", "t-1", str(ORIGIN_NODE + 1), 200),
        ("app", "restore_node", "t-1", str(ORIGIN_NODE), 409),
    ]
    assert "fact of mine" not in str(records)


def test_a_key_reads_of_its_own_agents_only(server: Served, boss: Memci) -> None:
    for name in ("t-1", "other"):
        boss.agent(name).configure({"decay_rate": 0.5})
    boss.new_key("app")
    with Memci(server.url, api_key=KEYS["lead"][0]) as lead:
        assert [each.agent_id for each in lead.audit().records] == ["t-1"]
        assert lead.audit(agent_id="other").records == []
    page = boss.audit(limit=2)
    rest = boss.audit(limit=2, cursor=page.next_cursor)
    actions = [each.action for each in (*page.records, *rest.records)]
    assert actions == ["new_key", "put_settings", "put_settings"]
    assert [each.agent_id for each in boss.audit(agent_id="other").records] == ["other"]


def test_the_request_id_of_the_caller_is_kept_if_it_is_one(server: Served, boss: Memci) -> None:
    for given, kept in (("abc-1", True), ("x" * 65, False), ("a b", False)):
        headers = {"Authorization": f"Bearer {KEYS['boss'][0]}", "X-Request-Id": given}
        answer = httpx.put(f"{server.url}/v1/agents/a/settings", json={}, headers=headers)
        latest = boss.audit(limit=1).records[0].request_id
        assert answer.headers["x-request-id"] == latest
        assert (latest == given) == kept


def test_without_keys_nobody_is_named(serve: Serve) -> None:
    with Memci(serve().url) as client:
        client.agent("a").configure({})
        assert [told(each) for each in client.audit().records] == [
            (None, "put_settings", "a", None, 200)
        ]


def test_the_command_line_is_recorded_too(boss: Memci, database_url: str) -> None:
    settings = {"MEMCI_DATABASE_URL": database_url}
    assert run("keys", "revoke", "nobody", settings=settings).returncode == 1
    assert [told(each) for each in boss.audit().records] == [
        ("command line", "revoke_key", None, "nobody", 404)
    ]


def test_old_records_are_removed(server: Served, boss: Memci) -> None:
    with server.runtime.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO audit (at, action, request_id)"
            " VALUES (now() - interval '2 days', 'x', 'x')"
        )
    boss.agent("new").configure({})
    assert prune_audit(server.runtime.database, keep_s=86_400) == 1
    assert [each.agent_id for each in boss.audit().records] == ["new"]
