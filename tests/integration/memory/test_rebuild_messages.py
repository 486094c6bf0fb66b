"""Of which messages a rebuilt network is made (M24)."""

from __future__ import annotations

import pytest

from memci.errors import InvalidInputError
from memci.storage.reading.recall import EVERYTHING, Visibility, was_known
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def test_what_happens_meanwhile_is_in_the_switched_network_once(
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


def test_up_to_a_seq_the_network_is_as_it_was(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    ada.compress(2)
    then = [(node.content, node.scan_count) for node in ada.nodes()]
    ada.remember("B [Luigi]", "C [Oslo]")
    ada.compress(2)
    rebuilding.begin(up_to_seq=1)
    rebuilding.run()
    assert [(node.content, node.scan_count) for node in rebuilding.on_edition().nodes()] == then
    ada.remember("D [Luigi]")
    rebuilding.switch()
    rebuilding.run()
    # Of what came later, only what came after the rebuild was begun.
    assert set(ada.memories()) == {"A", "D"}
    states = ada.rows("SELECT memory_state, remember FROM message WHERE agent_id = %s ORDER BY seq")
    assert [tuple(row) for row in states] == [
        ("made", "now"), ("none", "never"), ("none", "never"), ("made", "now"),
    ]  # fmt: skip
    assert is_same(rebuilding.rebuilt())


def test_what_a_switch_has_left_out_was_known_once_and_is_restored(
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

    def known(word: str, sight: Visibility = EVERYTHING) -> bool:
        with ada.database.agent_snapshot(ada.agent_id) as connection:
            return was_known(connection, ada.agent_id, [], [word], sight)

    assert known("kestrel")
    assert not known("osprey")  # of this no memory was ever made
    assert not known("kestrel", Visibility(user_id="somebody else"))
    # Made anew, it is of the network that another rebuild makes too.
    rebuilding.restore(lost)
    rebuilding.run()
    assert set(ada.memories()) == {"heron", "kestrel"}
    assert is_same(rebuilding.rebuilt())


def test_a_network_is_not_made_up_to_a_message_that_is_not_there(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    with pytest.raises(InvalidInputError, match="no message 3: the last one is 2") as refused:
        rebuilding.begin(up_to_seq=3)
    assert refused.value.field == "up_to_seq"
    assert rebuilding.begin(up_to_seq=2).up_to_seq == 2


def test_of_messages_that_came_together_those_up_to_the_seq_are_taken(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    rebuilding.begin(up_to_seq=2)
    rebuilding.run()
    assert set(rebuilding.on_edition().memories()) == {"A", "B"}


def test_erased_messages_are_not_brought_back(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.remember("C [Oslo]")
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq IN (1, 3)")
    rebuilding.begin()
    rebuilding.run()
    assert set(rebuilding.on_edition().memories()) == {"B"}
