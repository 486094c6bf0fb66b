"""The messages from which a network is rebuilt (M24)."""

from __future__ import annotations

import pytest

from memci.errors import InvalidInputError
from memci.storage.reading.recall import EVERYTHING, was_known
from memci.storage.search.find import Restriction
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def test_messages_that_arrive_during_a_rebuild_are_in_the_network_once(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    for day in range(4):
        ada.remember(f"day{day} [Grace]")
        ada.compress()
    rebuilding.begin()
    rebuilding.step()
    ada.remember("between [Luigi]")
    rebuilding.run()
    assert rebuilding.show().state == "ready"
    ada.remember("afterwards [Oslo]")
    ada.compress()
    found = rebuilding.show()
    assert (found.events or 0) > (found.replayed or 0)
    rebuilding.switch()
    rebuilding.step()
    ada.remember("during [Oslo]")
    rebuilding.mention("Late")
    rebuilding.run()
    assert sorted(ada.memories()) == ["afterwards", "between", "day0", "day1", "day2", "day3",
                                      "during"]  # fmt: skip
    assert len(ada.nodes("memory")) == 7
    assert ada.focus()[-1] == "Late"
    assert is_same(rebuilding.rebuilt())


def test_a_rebuild_can_end_at_a_seq(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    ada.compress(2)
    expected = [(node.content, node.scan_count) for node in ada.nodes()]
    ada.remember("B [Luigi]", "C [Oslo]")
    ada.compress(2)
    rebuilding.begin(up_to_seq=1)
    rebuilding.run()
    assert [(node.content, node.scan_count) for node in rebuilding.on_edition().nodes()] == expected
    ada.remember("D [Luigi]")
    rebuilding.switch()
    rebuilding.run()
    # Of the later messages it has only those after the rebuild began.
    assert set(ada.memories()) == {"A", "D"}
    states = ada.rows("SELECT memory_state, remember FROM message WHERE agent_id = %s ORDER BY seq")
    assert [tuple(row) for row in states] == [
        ("made", "now"), ("none", "never"), ("none", "never"), ("made", "now"),
    ]  # fmt: skip
    assert is_same(rebuilding.rebuilt())


def test_a_memory_that_a_switch_left_out_was_known_and_can_be_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("heron [Grace]")
    ada.remember("kestrel [Luigi]")
    ada.say("osprey", remember="never")
    lost = ada.memories()["kestrel"].id
    rebuilding.begin(up_to_seq=1)
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    assert set(ada.memories()) == {"heron"}

    def known(word: str, sight: Restriction = EVERYTHING) -> bool:
        with ada.database.agent_snapshot(ada.agent_id) as connection:
            return was_known(connection, ada.agent_id, [], [word], sight)

    assert known("kestrel")
    assert not known("osprey")  # no memory was made of it
    assert not known("kestrel", Restriction(user_id="somebody else"))
    # The restored memory is in the next rebuilt network too.
    rebuilding.restore(lost)
    rebuilding.run()
    assert set(ada.memories()) == {"heron", "kestrel"}
    assert is_same(rebuilding.rebuilt())


def test_a_rebuild_up_to_an_unknown_message_is_refused(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    with pytest.raises(InvalidInputError, match="no message 3: the last one is 2") as refused:
        rebuilding.begin(up_to_seq=3)
    assert refused.value.field == "up_to_seq"
    assert rebuilding.begin(up_to_seq=2).up_to_seq == 2


def test_a_rebuild_up_to_a_seq_can_take_part_of_an_append(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    rebuilding.begin(up_to_seq=2)
    rebuilding.run()
    assert set(rebuilding.on_edition().memories()) == {"A", "B"}


def test_erased_messages_are_not_rebuilt(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.remember("C [Oslo]")
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq IN (1, 3)")
    rebuilding.begin()
    rebuilding.run()
    assert set(rebuilding.on_edition().memories()) == {"B"}
