"""A new memory follows the one that was said last in its session, not made last (M7)."""

from __future__ import annotations

from collections.abc import Collection

from memci.storage.messages import COLUMNS, said_before, to_message
from memci.storage.network.nodes import last_memories
from tests.support.network import AgentUnderTest
from tests.support.short_term import consolidate, remember


def last(ada: AgentUnderTest, *sessions: str | None) -> dict[str | None, int]:
    with ada.database.agent_snapshot("ada") as connection:
        return last_memories(connection, "ada", sessions)


def contents(ada: AgentUnderTest, nodes: Collection[int]) -> set[str]:
    return {node.content for node in ada.nodes() if node.id in nodes}


def test_each_session_has_its_own_last_memory_and_so_has_no_session(ada: AgentUnderTest) -> None:
    one, two = remember(ada, "the pump is broken", "the fan is loud")
    (alone,) = remember(ada, "a lamp", session=None)
    (other,) = remember(ada, "a door", session="s2")
    assert last(ada, "s1", "s2", "s3", None) == {"s1": two, "s2": other, None: alone}
    assert last(ada, "s1") == {"s1": two}
    assert last(ada, None) == {None: alone}
    assert last(ada) == {}
    assert one < two


def test_a_merged_memory_of_earlier_words_is_not_the_last(ada: AgentUnderTest) -> None:
    remember(ada, "the pump is broken", "The pump is really broken!", "the fan is loud")
    (merged,) = consolidate(ada)["nodes"]
    (found,) = last(ada, "s1").values()
    assert found < merged
    assert contents(ada, [found]) == {"the fan is loud"}
    (new,) = remember(ada, "a lamp is on", about=())
    assert (new, found) in ada.links()
    assert (new, merged) not in ada.links()


def test_a_merged_memory_of_the_last_words_is_the_last(ada: AgentUnderTest) -> None:
    remember(ada, "the pump is broken", "the fan is loud", "The pump is really broken!")
    (merged,) = consolidate(ada)["nodes"]
    assert last(ada, "s1") == {"s1": merged}


def test_a_restored_memory_of_earlier_words_is_not_the_last(ada: AgentUnderTest) -> None:
    one, two = remember(ada, "the pump is broken", "the fan is loud")
    # A restored memory has a new id and the same messages.
    for table, column in (("node", "id"), ("node_vector", "node_id"), ("node_term", "node_id")):
        ada.execute(f"UPDATE {table} SET {column} = 900 WHERE agent_id = %s AND {column} = %s", one)
    assert last(ada, "s1") == {"s1": two}


def test_earlier_messages_are_found_by_session_and_user(ada: AgentUnderTest) -> None:
    for session, user in (("s1", "u1"), ("s1", "u2"), (None, None), (None, "u1")):
        ada.say("before", "again", session=session, user=user)
    ada.say("hidden", session="s1", user="u1", remember="never")
    with ada.database.agent_snapshot("ada") as connection:
        rows = connection.exec_driver_sql(f"SELECT {COLUMNS} FROM message ORDER BY seq").all()
        messages = [to_message(row) for row in rows]
        asked = [messages[seq - 1] for seq in (2, 4, 6, 8, 9)]
        found = said_before(connection, "ada", asked, 5)
        assert said_before(connection, "ada", [], 5) == {}
    assert {seq: [each.message.seq for each in earlier] for seq, earlier in found.items()} == {
        2: [1], 4: [3], 6: [5], 8: [7], 9: [1, 2],
    }  # fmt: skip
