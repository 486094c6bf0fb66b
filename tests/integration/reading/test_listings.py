"""Lists of agents, messages, nodes, links, jobs and receipts."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from memci.domain.job import JobState
from memci.errors import InvalidInputError, NotFoundError
from memci.reading.lists.listings import Listings
from tests.support.stored import Reader, Stored


@pytest.fixture
def listings(reader: Reader) -> Listings:
    return Listings(reader.database)


def pages(listing: Any, field: str, **filters: Any) -> list[list[Any]]:
    """Return all pages of a list, two items each."""
    found, cursor = [], None
    while True:
        page = listing(cursor=cursor, limit=2, **filters)
        found.append(list(getattr(page, field)))
        cursor = page.next_cursor
        if cursor is None:
            return found


class TestAgents:
    def test_agents_are_paged_by_id(self, listings: Listings, reader: Reader):
        for name in ["b", "a", "d", "c"]:
            Stored(reader, name)
        found = pages(listings.agents, "agents", pattern="*")
        assert [[each.agent_id for each in page] for page in found] == [["a", "b"], ["c", "d"]]

    @pytest.mark.parametrize(
        ("pattern", "found"),
        [
            ("*", ["a%c", "a_c", "abc", "xyz"]),
            ("a?c", ["a%c", "a_c", "abc"]),
            ("a_c", ["a_c"]),
            ("a%c", ["a%c"]),
            ("a*", ["a%c", "a_c", "abc"]),
            ("\\*", []),
            ("", []),
        ],
    )
    def test_only_agents_that_match_the_pattern_are_listed(
        self, listings: Listings, reader: Reader, pattern: str, found: list[str]
    ):
        for name in ["abc", "a_c", "a%c", "xyz"]:
            Stored(reader, name)
        agents = listings.agents(pattern=pattern, cursor=None, limit=10).agents
        assert [each.agent_id for each in agents] == found

    def test_each_agent_has_its_queued_and_dead_jobs(
        self, listings: Listings, reader: Reader, alice: Stored
    ):
        bob = Stored(reader, "bob")
        for agent, dead in ((alice, 2), (bob, 0)):
            jobs = [agent.queue(seq, seq) for seq in (1, 2, 3)]
            for job in jobs[:dead]:
                agent.execute(f"UPDATE job SET state = 'dead' WHERE agent_id = %s AND id = '{job}'")
        listed = listings.agents(pattern="*", cursor=None, limit=10).agents
        assert [(each.agent_id, each.queued, each.dead) for each in listed] == [
            ("alice", 1, 2), ("bob", 3, 0),
        ]  # fmt: skip

    @pytest.mark.parametrize("cursor", ["", "alice", "zzz", "5", "after/", "after/a b", "x/alice"])
    def test_an_invalid_cursor_is_refused(self, listings: Listings, alice: Stored, cursor: str):
        with pytest.raises(InvalidInputError, match="not a cursor of this list") as refused:
            listings.agents(pattern="*", cursor=cursor, limit=5)
        assert refused.value.field == "cursor"

    def test_an_agent_has_the_counts_of_its_rows(self, listings: Listings, alice: Stored):
        alice.say("hello")
        entity, memory = alice.entity("Lisbon"), alice.remember("We fly.", [1])
        alice.link(entity, memory)
        alice.link(memory, 99, hint="gone")
        info = listings.agent("alice")
        assert (info.messages, info.nodes, info.links, info.dangling) == (1, 2, 2, 1)
        assert info.focus == ["Lisbon"]
        assert (info.seq, info.pending, info.queued, info.dead, info.passes) == (1, 0, 0, 0, 0)
        assert (info.lease, info.pass_progress, info.paused, info.idle) == (None, None, False, True)

    def test_an_agent_without_work_and_lease_is_idle(self, listings: Listings, alice: Stored):
        job = alice.queue(1, 1)
        assert not listings.agent("alice").idle
        alice.finish(job)
        assert listings.agent("alice").idle
        alice.execute("UPDATE lane SET compress_req = 1 WHERE agent_id = %s")
        assert not listings.agent("alice").idle
        alice.execute(
            "UPDATE lane SET compress_req = 0, lease_owner = gen_random_uuid(),"
            " lease_until = now() + interval '1 minute' WHERE agent_id = %s"
        )
        info = listings.agent("alice")
        assert info.lease is not None
        assert not info.idle

    def test_a_running_pass_has_its_progress(self, listings: Listings, alice: Stored):
        alice.remember("one")
        alice.remember("two")
        alice.execute("UPDATE node SET last_pass = 3 WHERE agent_id = %s AND id = 1")
        alice.execute(
            "INSERT INTO pass_log (agent_id, number, message_seq, scanned) VALUES (%s, 3, 0, 7)"
        )
        alice.execute("""UPDATE lane SET compress_cursor = '{"pass": 3}' WHERE agent_id = %s""")
        progress = listings.agent("alice").pass_progress
        assert progress is not None
        assert (progress.number, progress.scanned, progress.left) == (3, 7, 1)

    def test_an_agent_without_messages_is_not_found(self, listings: Listings):
        with pytest.raises(NotFoundError):
            listings.agent("nobody")


class TestMessages:
    def test_messages_are_paged_by_seq(self, listings: Listings, alice: Stored):
        for number in range(3):
            alice.say(f"message {number}", session="s1")
        alice.say("elsewhere", session="s2")
        found = pages(lambda **only: listings.messages("alice", **only), "messages",
                      session_id="s1")  # fmt: skip
        assert [[each.seq for each in page] for page in found] == [[1, 2], [3]]
        assert len(pages(lambda **only: listings.messages("alice", **only), "messages",
                         session_id=None)) == 2  # fmt: skip

    def test_a_message_is_listed_as_it_was_stored(self, listings: Listings, alice: Stored):
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        alice.say(None, "assistant", calls=[call], user="u1")
        (message,) = listings.messages("alice", session_id=None, cursor=None, limit=5).messages
        assert message.tool_calls is not None
        assert message.tool_calls[0].model_dump() == call
        assert (message.id, message.content, message.user_id) == ("m1", None, "u1")
        assert (message.memory_state, message.memory_reason) == ("made", None)

    def test_a_filtered_message_has_its_reason(self, listings: Listings, alice: Stored):
        alice.say("Thanks!", state="filtered", reason="trivial")
        (message,) = listings.messages("alice", session_id=None, cursor=None, limit=5).messages
        assert (message.memory_state, message.memory_reason) == ("filtered", "trivial")


class TestNodes:
    def test_nodes_are_paged_by_id_and_filtered(self, listings: Listings, alice: Stored):
        alice.entity("Lisbon")
        for number in range(3):
            alice.remember(f"memory {number}", type_="semantic" if number else "episodic")

        def ids(**only: Any) -> list[list[int]]:
            found = pages(partial(listings.nodes, "alice", only), "nodes")
            return [[each.id for each in page] for page in found]

        assert ids() == [[1, 2], [3, 4]]
        assert ids(kind="memory") == [[2, 3], [4]]
        assert ids(kind="memory", type="episodic") == [[2]]
        assert ids(type="semantic") == [[3, 4]], "without the entity"

    def test_a_node_has_its_importance_links_and_messages(self, listings: Listings, alice: Stored):
        alice.say("We fly.")
        entity, memory = alice.entity("Lisbon"), alice.remember("We fly.", [1])
        alice.link(memory, entity, strength=0.75)
        alice.link(memory, 99, strength=1.0)
        node = listings.node("alice", memory)
        assert (node.importance, node.links, node.focus) == (0.75, 2, False)
        assert (node.message_ids, node.length, node.original_length) == (["m1"], 7, 7)
        assert listings.node("alice", entity).focus

    def test_a_forgotten_node_has_only_its_trail(self, listings: Listings, alice: Stored):
        node_id = alice.remember("We fly.", [1])
        alice.forget(node_id)
        with pytest.raises(NotFoundError):
            listings.node("alice", node_id)
        created, forgotten = listings.trail("alice", node_id, cursor=None, limit=5).events
        assert (created.event, created.details["messages"]) == ("created", [1])
        assert forgotten.event == "forgotten"
        with pytest.raises(NotFoundError):
            listings.trail("alice", 4242, cursor=None, limit=5)

    def test_links_are_sorted_by_source_and_target(self, listings: Listings, alice: Stored):
        for source, target in [(2, 1), (1, 3), (1, 2), (3, 9), (2, 3)]:
            alice.link(source, target)
        alice.remember("one")

        def ends(**only: Any) -> list[list[tuple[int, int, bool]]]:
            found = pages(lambda **page: listings.links("alice", **page), "links", **only)
            return [[(each.source, each.target, each.dangling) for each in page] for page in found]

        assert ends(node_id=None) == [
            [(1, 2, True), (1, 3, True)], [(2, 1, False), (2, 3, True)], [(3, 9, True)],
        ]  # fmt: skip
        assert ends(node_id=3) == [[(1, 3, True), (2, 3, True)], [(3, 9, True)]]

    def test_focus_points_come_latest_first(self, listings: Listings, alice: Stored):
        alice.entity("Lisbon")
        alice.entity("Porto")
        assert [each.name for each in listings.focus("alice").focus] == ["Porto", "Lisbon"]


class TestJobsAndReceipts:
    def test_jobs_are_in_the_order_of_the_mailbox(self, listings: Listings, alice: Stored):
        jobs = [alice.queue(seq, seq) for seq in (1, 2, 3)]
        alice.finish(jobs[0])

        def ids(state: JobState | None) -> list[list[Any]]:
            found = pages(lambda **page: listings.jobs("alice", **page), "jobs", state=state)
            return [[each.id for each in page] for page in found]

        assert ids(None) == [jobs[:2], jobs[2:]]
        assert ids(JobState.QUEUED) == [jobs[1:]]
        one = listings.job("alice", jobs[0])
        assert (one.state, one.first_seq, one.kind) == (JobState.DONE, 1, "memci.memory.create")

    def test_an_unknown_job_or_receipt_is_not_found(self, listings: Listings, alice: Stored):
        with pytest.raises(NotFoundError):
            listings.job("alice", uuid4())
        with pytest.raises(NotFoundError):
            listings.receipt("alice", uuid4())


def test_rows_of_other_agents_are_not_listed(listings: Listings, reader: Reader, alice: Stored):
    Stored(reader, "bob")
    alice.say("secret")
    alice.link(alice.entity("Lisbon"), alice.remember("secret"))
    job = alice.queue(1, 1)
    page = {"cursor": None, "limit": 5}
    assert listings.messages("bob", session_id=None, **page).messages == []
    assert listings.nodes("bob", {}, **page).nodes == []
    assert listings.links("bob", node_id=None, **page).links == []
    assert listings.jobs("bob", state=None, **page).jobs == []
    assert listings.focus("bob").focus == []
    with pytest.raises(NotFoundError):
        listings.node("bob", 1)
    with pytest.raises(NotFoundError):
        listings.job("bob", job)


@pytest.mark.parametrize("cursor", ["", "x", "1.2", "-1", "9" * 30, "1;DROP", "٣"])
def test_an_invalid_cursor_is_refused(listings: Listings, alice: Stored, cursor: str):
    with pytest.raises(InvalidInputError) as refused:
        listings.messages("alice", session_id=None, cursor=cursor, limit=5)
    assert refused.value.field == "cursor"
