"""Single memories over HTTP, by the client and as tools of an agent, with real workers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memci import Memci
from memci.client import Agent
from memci.domain.pages.permission import Actor
from memci.embedded import Postgres, Redis
from memci.errors import ConflictError, NotFoundError
from tests.integration.http.serving import Served, served_by_workers

QUICK = "tests.support.network_worker_app"


@pytest.fixture(scope="module")
def working(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("edits")
    with served_by_workers(servers, folder, "memci.read,memci.lane", app="workers") as (running, _):
        yield running


def read(memory: Agent, query: str) -> str:
    """All that reads give for a query."""
    found = memory.search(query, k=20)
    context = memory.context(query, budget_tokens=1_000)
    recalled = memory.recall(query.split(), depth=10)
    return "\n".join(
        [
            *(hit.text for hit in found.hits),
            *(each.text for each in context.items),
            *(each.content for each in recalled.memories),
            *(each.hint for each in recalled.forgotten),
        ]
    )


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("agent", "said", "old", "kept", "new", "query"),
    [
        ("ada", "My sister Ann was born in Rome. I also have a dog named Rex.", "Rome", "Rex",
         "My sister Ann was born in Bonn.", "Where was Ann born?"),
        ("ming", "我妹妹小红出生在上海。我还养了一条叫旺财的狗。", "上海", "旺财",
         "我妹妹小红出生在北京。", "小红出生在哪里？"),
    ],
)  # fmt: skip
def test_reads_show_the_correction_and_not_what_was_deleted(
    working: Served, agent: str, said: str, old: str, kept: str, new: str, query: str
) -> None:
    with Memci(working.url, wait_ms=30_000) as memci:
        memory = memci.agent(agent)
        memory.wait(memory.remember(said, session_id="s1", user_id="u1").job_id)
        assert old in read(memory, query)
        wrong = memory.nodes(kind="memory", text=old).nodes
        changed = [{"node_id": each.id, "text": new} for each in wrong]
        answer = memory.edit_memories(changed)
        assert answer.corrected == [each.id for each in wrong]
        shown = read(memory, query)
        assert new in shown
        assert old not in shown
        for job_id in answer.job_ids:
            memory.wait(job_id)
        (right,) = memory.nodes(pinned=True, user_id="u1").nodes[:1]
        assert right.content == new
        states = {v.state: v.content for v in memory.history(wrong[0].id).versions}
        assert old in str(states["corrected"])
        assert states["current"] == new
        memory.delete_memories([each.id for each in memory.nodes(kind="memory", text=new).nodes])
        shown = read(memory, query)
        assert new not in shown
        assert old not in shown
        if len(memory.nodes(kind="memory").nodes):  # the dog has a memory of its own
            assert kept in read(memory, kept)
        assert said in [each.content for each in memory.messages().messages]
        page = memory.window(budget_tokens=2_000, session_id="s1")
        assert old not in str(page)


@pytest.mark.timeout(180)
def test_deleted_words_do_not_find_the_messages_beside_them(working: Served) -> None:
    with Memci(working.url, wait_ms=30_000) as memci:
        memory = memci.agent("beside")
        for said in ("My boss Priyanka hates olives.", "I own a red bicycle."):
            memory.wait(memory.remember(said).job_id)
        assert memory.search("Priyanka", channels=["lexical"]).hits
        boss = memory.nodes(kind="memory", text="Priyanka").nodes
        memory.delete_memories([each.id for each in boss])
        assert memory.search("Priyanka", channels=["lexical"]).hits == []
        assert memory.search("bicycle", channels=["lexical"]).hits


@pytest.mark.timeout(180)
def test_an_added_fact_is_found_at_once(working: Served) -> None:
    async def found() -> list[str]:
        async with Memci(working.url).aio as memci:
            memory = memci.agent("nina")
            await memory.add_memories(
                [{"text": "The spare key is under the blue pot.", "said_at": "2026-03-01"},
                 {"text": "Nina plays chess.", "pinned": False, "worth": 7}]
            )  # fmt: skip
            hits = (await memory.search("Where is the spare key?", min_seq=0, wait_ms=0)).hits
            return [hit.text for hit in hits]

    assert "The spare key is under the blue pot." in asyncio.run(found())


@pytest.mark.timeout(180)
def test_an_agent_forgets_by_a_tool(working: Served) -> None:
    with Memci(working.url) as memci:
        memory = memci.agent("tool")
        memory.wait(memory.add_memory("The safe opens with 4711.").job_id)
        (safe,) = memory.nodes(kind="memory").nodes
        tools = working.runtime.tools
        answer = tools.run("tool", Actor.AGENT, "forget", {"memory": safe.id})
        assert answer.model_dump() == {"memory": safe.id}
        with pytest.raises(NotFoundError, match="there is no memory"):
            tools.run("tool", Actor.AGENT, "forget", {"memory": safe.id})
        assert memory.nodes(kind="memory").nodes == []
        with pytest.raises(ConflictError, match="was deleted: add what holds"):
            memory.restore(safe.id)


@pytest.mark.timeout(180)
def test_edits_beside_jobs_and_passes(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> None:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("race")
    queues = ("memci.lane", "memci.compress")
    with (
        served_by_workers(servers, folder, *queues, app=QUICK) as (running, _),
        Memci(running.url) as memci,
    ):
        memory = memci.agent("race")
        memory.configure({"decay_rate": 0.5})
        pinned, corrected, deleted = set[int](), set[str](), set[int]()
        for turn in range(12):
            job = memory.remember([f"Fact {turn}-{n} is about [Ann{turn}]" for n in range(4)])
            memory.compress()
            memory.wait(job.job_id)
            nodes = memory.nodes(kind="memory", text=f"{turn}-").nodes
            if len(nodes) < 3:
                continue
            one, two, three = (each.id for each in nodes[:3])
            memory.compress()
            memory.pin_memory(one)
            memory.delete_memory(two)
            try:
                memory.correct_memory(three, f"Truth {turn} of [Ann{turn}]")
            except ConflictError:  # a pass has forgotten it
                continue
            finally:
                pinned.add(one)
                deleted.add(two)
            corrected.add(f"Truth {turn} of [Ann{turn}]")
        memory.wait_idle(timeout_s=120)
        left = {each.id: each for each in memory.nodes(kind="memory", limit=500).nodes}
        assert corrected <= {each.content for each in left.values()}
        assert pinned <= left.keys()
        assert not deleted & left.keys()
        assert memory.jobs(state="dead").jobs == []
        with running.runtime.database.agent_transaction("race") as connection:
            for table, key in (("node_vector", "node_id"), ("node_term", "node_id"),
                               ("link", "source")):  # fmt: skip
                orphans = connection.exec_driver_sql(
                    f"SELECT {key} FROM {table} t WHERE NOT EXISTS"
                    f" (SELECT FROM node n WHERE n.id = t.{key})"
                ).all()
                assert orphans == [], table


BAD: list[tuple[str, str, Any, int]] = [
    ("POST", "nodes", {"memories": []}, 422),
    ("POST", "nodes", {"memories": [{"text": " "}]}, 422),
    ("POST", "nodes", {"memories": [{"text": "a\x00b"}]}, 422),
    ("POST", "nodes", {"memories": [{"text": "x" * 1024**2}]}, 422),
    ("POST", "nodes", {"memories": [{"text": "a", "worth": 11}]}, 422),
    ("POST", "nodes", {"memories": [{"text": "a", "type": "lie"}]}, 422),
    ("POST", "nodes", {"memories": [{"text": "a", "pinned": "yes"}]}, 422),
    ("POST", "nodes", {"memories": [{"text": "a"}] * 101}, 422),
    ("PATCH", "nodes/1", {}, 422),
    ("PATCH", "nodes/1", {"text": None}, 422),
    ("PATCH", "nodes/1", {"text": "a", "content": "b"}, 422),
    ("PATCH", "nodes/1", {"node_id": 2, "text": "b"}, 422),
    ("PATCH", "nodes/x", {"text": "a"}, 422),
    ("PATCH", "nodes/1", {"text": "a"}, 404),
    ("PATCH", "nodes", {"memories": [{"text": "a"}]}, 422),
    ("PATCH", "nodes", {"memories": [{"node_id": 2**63, "text": "a"}]}, 422),
    ("DELETE", "nodes/1", None, 404),
    ("DELETE", "nodes", None, 422),
    ("DELETE", "nodes?id=1&id=9223372036854775808", None, 422),
    ("GET", "nodes?pinned=perhaps", None, 422),
    ("GET", "nodes?since=someday", None, 422),
    ("GET", "nodes?text=%00", None, 422),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), BAD)
def test_bad_input_is_refused(
    one_server: Served, method: str, path: str, body: Any, status: int
) -> None:
    url = f"{one_server.url}/v1/agents/alice/{path}"
    answer = httpx.request(method, url, json=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]


def test_half_a_character_is_refused(one_server: Served) -> None:
    url, headers = f"{one_server.url}/v1/agents/alice/nodes", {"content-type": "application/json"}
    half = httpx.post(url, headers=headers, content=b'{"memories": [{"text": "\\ud800"}]}')
    assert half.status_code == 422


def test_another_agents_memory_cannot_be_changed(server: Served) -> None:
    with Memci(server.url) as memci:
        for agent in ("alice", "bob"):
            memci.agent(agent).remember("hello")
        with server.runtime.database.agent_transaction("alice") as connection:
            connection.exec_driver_sql(
                "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
                " VALUES ('alice', 7, 'created', 0, '{\"messages\": [1]}')"
            )
        for change in (memci.agent("bob").delete_memory, memci.agent("bob").pin_memory):
            with pytest.raises(NotFoundError, match="never was a node 7"):
                change(7)


def test_a_repeated_request_adds_once(server: Served) -> None:
    url, key = f"{server.url}/v1/agents/alice/nodes", {"Idempotency-Key": "k1"}
    body = {"memories": [{"text": "The door is green."}]}
    first, again = (httpx.post(url, json=body, headers=key).json() for _ in range(2))
    assert (first["accepted"], again["accepted"], again["duplicates"]) == (1, 0, 1)
    assert first["message_ids"] == again["message_ids"]
