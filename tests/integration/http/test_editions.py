"""Restores, mentions and rebuilds by client and command, with real workers and quick models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from memci import Memci
from memci.client import Agent
from memci.domain.memory.compression_scan import Forgetting
from memci.embedded import Postgres, Redis
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.storage.network.nodes import forget_nodes
from tests.integration.http.exploring import explore
from tests.integration.http.serving import Served, served_by_workers
from tests.support.command_line import run, run_json

QUICK = "tests.support.network_worker_app"
TEXTS = ["Dinner with [Grace] in [Oslo]", "The ferry leaves at eight", "[Luigi] sings"]


@pytest.fixture(scope="module")
def server(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("editions")
    queues = ("memci.lane", "memci.read", "memci.compress")
    with served_by_workers(servers, folder, *queues, app=QUICK) as (running, workers):
        # Wakeups may be lost: the sweep publishes them again.
        workers.start("memci.upkeep", ready=False)
        workers.start_beat()
        yield running


@pytest.fixture
def memory(server: Served) -> Iterator[Agent]:
    """An agent that remembers three things."""
    with Memci(server.url) as memci:
        agent = memci.agent(f"ann-{uuid4().hex}")
        agent.remember([{"role": "user", "content": text} for text in TEXTS])
        agent.wait_idle()
        yield agent


def name_of(memory: Agent) -> str:
    return memory.id


def forget(server: Served, memory: Agent, text: str) -> int:
    nodes = memory.nodes(kind="memory").nodes
    node = next(each.id for each in nodes if each.content == text)
    with server.runtime.database.agent_transaction(name_of(memory)) as connection:
        forget_nodes(connection, name_of(memory), {node: Forgetting.TOO_SHORT}, 1)
    return node


def contents(memory: Agent) -> list[str]:
    return sorted(each.content for each in memory.nodes(kind="memory").nodes)


@pytest.mark.timeout(120)
def test_a_network_is_rebuilt_compared_and_switched_to(memory: Agent) -> None:
    before = memory.nodes().nodes
    assert memory.rebuild().state == "building"
    with pytest.raises(ConflictError):
        memory.rebuild()
    memory.pause()
    memory.drop_rebuilt()
    memory.rebuild()
    with pytest.raises(ConflictError, match="still being made"):
        memory.switch_rebuilt()
    memory.resume()
    ready = memory.wait_rebuilt()
    assert (ready.state, ready.replayed) == ("ready", ready.events)
    found = memory.compare_rebuilt([["ferry"]])
    assert (found.same_texts, found.only_current, found.only_rebuilt) == (3, 0, 0)
    assert found.probes[0].both == 1
    memory.remember([{"role": "user", "content": "Later [Luigi] left"}])
    memory.switch_rebuilt()
    assert memory.wait_rebuilt().state == "switched"
    memory.wait_idle()
    assert contents(memory) == sorted([*TEXTS, "Later [Luigi] left"])
    old = {each.id for each in before}
    assert not old & {each.id for each in memory.nodes().nodes}
    for node in old:
        assert [each.event for each in memory.trail(node).events][-1] == "forgotten"
    assert memory.recall(["ferry"]).memories[0].content == "The ferry leaves at eight"


@pytest.mark.timeout(120)
def test_a_rebuilt_network_is_dropped(memory: Agent) -> None:
    with pytest.raises(NotFoundError):
        memory.rebuilt()
    memory.rebuild(up_to_seq=2)
    memory.wait_rebuilt()
    assert memory.compare_rebuilt().only_current == 1
    dropped = memory.drop_rebuilt()
    assert (dropped.state, dropped.up_to_seq, dropped.job) == ("dropped", 2, None)
    for command in (memory.switch_rebuilt, memory.drop_rebuilt, memory.compare_rebuilt):
        with pytest.raises(NotFoundError):
            command()
    with pytest.raises(InvalidInputError):
        memory.rebuild(up_to_seq=0)


@pytest.mark.timeout(120)
def test_a_forgotten_memory_is_restored(server: Served, memory: Agent) -> None:
    node = forget(server, memory, TEXTS[1])
    assert contents(memory) == sorted([TEXTS[0], TEXTS[2]])
    forgotten = memory.recall([]).forgotten
    assert {(each.node_id, each.restorable) for each in forgotten} == {(node, True)}
    job_id = memory.restore(forgotten[0].node_id).job_id
    assert memory.restore(node).job_id == job_id
    memory.wait(job_id)
    again = memory.restore(node)
    assert again.job_id == job_id
    assert again.restored_as
    assert memory.node(again.restored_as).content == TEXTS[1]
    assert memory.recall([]).forgotten == []
    with pytest.raises(ConflictError):
        memory.restore(again.restored_as)


@pytest.mark.timeout(120)
def test_a_mentioned_entity_is_in_the_focus(memory: Agent) -> None:
    assert memory.mention("小明").focus[0].name == "小明"
    assert [point.name for point in memory.mention("grace").focus][:2] == ["Grace", "小明"]
    with pytest.raises(InvalidInputError):
        memory.mention("it")


@pytest.mark.timeout(180)
def test_restore_focus_and_rebuild_on_the_command_line(server: Served, memory: Agent) -> None:
    agent, settings = name_of(memory), {"MEMCI_API_URL": server.url}
    node = forget(server, memory, TEXTS[1])
    restored = run("memory", "restore", str(node), "--agent", agent, "--wait", settings=settings)
    assert (restored.returncode, restored.stderr) == (0, "")
    assert restored.stdout.startswith("restored as node ")
    printed = run("memory", "focus", "小明", "--agent", agent, settings=settings)
    assert "小明" in printed.stdout.splitlines()[1]
    for option in ("--switch", "--drop"):
        refused = run("memory", "rebuild", "--agent", agent, option, settings=settings)
        assert refused.returncode == 1
        assert "there is no rebuilt network: begin a rebuild first" in refused.stderr
    assert (
        run(
            "memory", "rebuild", "--agent", agent, "--up-to", "1", "--switch", settings=settings
        ).returncode
        == 2
    )
    with pytest.raises(NotFoundError):
        memory.rebuilt()
    far = run("recall", "ferry", "--depth", "0", "--agent", agent, settings=settings)
    assert "farther than --depth 0" in far.stdout
    assert "try --depth 1, or `memci memory focus NAME" in far.stderr
    others = run("recall", "ferry", "--user", "x", "--session", "y", "-a", agent, settings=settings)
    assert others.returncode == 0, others.stderr
    assert TEXTS[1] not in others.stdout
    found = run("search", "ferry", "-k", "1", "--agent", agent, settings=settings)
    assert " 1. " in found.stdout, found.stderr
    assert " 2. " not in found.stdout
    compared = run(
        "memory", "rebuild", "--agent", agent, "--compare", "--probe", "ferry", settings=settings
    )
    assert compared.returncode == 0, compared.stderr
    assert "3 memories in both, 3 with the same text; 0 only current" in compared.stdout
    assert "recall ferry: 1 in both" in compared.stdout
    assert run_json("memory", "rebuild", "--agent", agent, settings=settings)["state"] == "ready"
    refused = run("memory", "rebuild", "--agent", agent, "--up-to", "1", settings=settings)
    assert (refused.returncode, "--drop it first" in refused.stderr) == (2, True)
    switched = run("memory", "rebuild", "--agent", agent, "--switch", settings=settings)
    assert switched.stdout == "edition 1 was switched to\n", switched.stderr
    waited = run("memory", "rebuild", "--agent", agent, "--up-to", "1", "--wait", settings=settings)
    assert waited.stdout.startswith("edition 2 is ready up to message 1: "), waited.stderr
    lost = run("memory", "rebuild", "--agent", agent, "--compare", settings=settings)
    assert "only current:" in lost.stdout
    assert (
        run("memory", "rebuild", "--agent", agent, "--drop", settings=settings).stdout
        == "edition 2 was dropped\n"
    )
    beyond = run("memory", "rebuild", "--agent", agent, "--up-to", "99", settings=settings)
    assert beyond.returncode == 2
    assert "there is no message 99: the last one is 3" in beyond.stderr
    assert (
        run(
            "memory", "rebuild", "--agent", agent, "--drop", "--switch", settings=settings
        ).returncode
        == 2
    )


@pytest.mark.timeout(180)
def test_a_switch_that_loses_memories_asks_for_yes(server: Served, memory: Agent) -> None:
    agent, settings = name_of(memory), {"MEMCI_API_URL": server.url}
    node = next(each.id for each in memory.nodes(kind="memory").nodes if each.content == TEXTS[1])
    memory.compress()
    memory.wait_idle()
    memory.rebuild(up_to_seq=1)
    memory.wait_rebuilt()
    refused = run("memory", "rebuild", "--agent", agent, "--switch", settings=settings)
    assert refused.returncode == 2
    warning = "up to message 1 of 3: 2 memories of the current network are not in it"
    assert warning in refused.stdout
    assert f"  node {node}, importance" in refused.stdout
    assert "use --yes to switch to it" in refused.stderr
    assert len(contents(memory)) == 3
    switched = run("memory", "rebuild", "--agent", agent, "--switch", "--yes", settings=settings)
    assert switched.stdout.endswith("edition 1 was switched to\n"), switched.stderr
    assert f"`memci memory restore ID --agent {agent}`" in switched.stderr
    printed = run("memory", "nodes", "--agent", agent, "--graph", "--pass", "1", settings=settings)
    assert "(switched in pass " in printed.stdout
    assert "(forgotten in pass " not in printed.stdout
    assert memory.recall(["ferry"]).miss == "forgotten"
    again = run("memory", "restore", str(node), "--agent", agent, "--wait", settings=settings)
    assert again.stdout.startswith("restored as node "), again.stderr
    repeated = run("memory", "restore", str(node), "--agent", agent, "--wait", settings=settings)
    assert repeated.stdout.startswith("restored before, as node ")
    assert TEXTS[1] in contents(memory)


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.examples
def test_schemathesis_finds_no_error_in_comparisons(
    server: Served, memory: Agent, tmp_path: Path
) -> None:
    explore(server, tmp_path, "--include-path-regex", "compare$")
