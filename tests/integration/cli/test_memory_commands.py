"""Commands about single memories and sessions, against the real API."""

from __future__ import annotations

import re

import pytest

from memci import Memci
from tests.integration.http.serving import Served
from tests.support.command_line import run, run_json
from tests.support.network import AgentUnderTest


@pytest.fixture
def ada(server: Served) -> AgentUnderTest:
    made = AgentUnderTest(server.runtime.database)
    made.remember("A [Grace] walks in Oslo", "B [Oslo] has a harbour")
    return made


def forget(ada: AgentUnderTest) -> int:
    """Let a pass forget the second memory; return its id."""
    node = ada.nodes("memory")[1].id
    ada.execute("DELETE FROM focus WHERE agent_id = %s")
    ada.execute("UPDATE link SET strength = 0.001 WHERE agent_id = %s AND source = %s", node)
    ada.compress()
    return int(node)


def output(*arguments: str, settings: dict[str, str]) -> str:
    done = run(*arguments, "--agent", "ada", settings=settings)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_memory_is_printed_with_its_events(ada: AgentUnderTest, settings: dict[str, str]):
    node = str(ada.nodes("memory")[0].id)
    ada.compress()
    printed = output("memory", "nodes", node, settings=settings)
    assert printed.startswith("A [Grace] walks in Oslo\n")
    assert re.search(r"kind +memory, ", printed)
    assert re.search(r"scanned +1 times, last in pass 1", printed)
    assert re.search(r"created", printed)
    versions = output("memory", "history", node, settings=settings)
    assert "A [Grace] walks in Oslo" in versions
    as_json = run_json("memory", "nodes", node, "--agent", "ada", settings=settings)
    assert str(as_json["node"]["id"]) == node


def test_a_forgotten_memory_has_events_and_can_be_restored(
    ada: AgentUnderTest, settings: dict[str, str]
):
    node = str(forget(ada))
    printed = output("memory", "nodes", node, settings=settings)
    assert printed.startswith(f"node {node} no longer exists; its history:")
    assert "forgotten" in printed
    requested = output("memory", "restore", node, settings=settings)
    assert requested.startswith(f"node {node} is to be restored (job ")


def test_a_second_request_of_the_same_work_says_so(ada: AgentUnderTest, settings: dict[str, str]):
    # The new memories have requested a pass.
    assert output("memory", "compress", settings=settings).startswith(
        "compression was already requested (pass 1)"
    )
    first, second = (output("memory", "consolidate", settings=settings) for _ in range(2))
    assert (first, second) == (
        "consolidation is queued\n",
        "consolidation is already queued\n",
    )
    assert "Oslo" in output("memory", "focus", settings=settings)


def test_sessions_are_listed_and_ended(server: Served, settings: dict[str, str]):
    with Memci(server.url) as memci:
        memci.agent("ada").remember(
            [{"role": "user", "content": "The ferry leaves at nine."}], session_id="s1"
        )
    listed = output("sessions", "list", settings=settings)
    assert re.search(r"s1 +1 +1-1 ", listed)
    assert output("sessions", "end", "s1", settings=settings).startswith("session s1 has ended")
    (session,) = run_json("sessions", "list", "--agent", "ada", settings=settings)["sessions"]
    assert session["ended_at"] is not None


def test_single_memories_are_added_corrected_pinned_and_deleted(
    ada: AgentUnderTest, settings: dict[str, str]
):
    first, second = (str(node.id) for node in ada.nodes("memory"))
    assert output("memory", "pin", first, second, settings=settings) == "pinned 2 memories\n"
    assert output("memory", "unpin", second, settings=settings) == "unpinned 1 memory\n"
    listed = output("memory", "nodes", "--pinned", "--text", "walks oslo", settings=settings)
    assert "A [Grace] walks in Oslo" in listed
    assert "harbour" not in listed
    corrected = output("memory", "correct", first, "A runs in Oslo [Grace]", settings=settings)
    assert corrected == f"memory {first} is corrected\n"
    assert output("memory", "delete", second, settings=settings) == "deleted 1 memory\n"
    again = output("memory", "delete", second, settings=settings)
    assert again == f"deleted 0 memories; deleted before: {second}\n"
    added = output("memory", "add", "C sails [Ann]", "--worth", "9", settings=settings)
    assert re.fullmatch(r"stored as message \w+; search finds it\n", added)
    done = run("memory", "delete", "999", "--agent", "ada", settings=settings)
    assert done.returncode == 1
    assert "there never was a node 999" in done.stderr
