"""Single memories that people add, correct, pin and delete."""

from __future__ import annotations

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError, NotFoundError
from memci.jobs.restore_memory import _Whole
from memci.storage.messages import read_messages
from memci.storage.network.network_editions import open_edition
from memci.storage.reading.messages import list_messages
from tests.support.archives import export_agent, import_agent
from tests.support.models import OneSegmentAMessage
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same

FADING = MemoryParameters(focus_limit=1, decay_rate=0.1, min_shrink=0)


def shown(ada: AgentUnderTest) -> list[str]:
    """The messages as reads show them."""
    seqs = [row.seq for row in ada.rows("SELECT seq FROM message WHERE agent_id = %s")]
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        return [each.text for each in read_messages(connection, ada.agent_id, seqs)]


def stored(ada: AgentUnderTest) -> list[str | None]:
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        listed = list_messages(connection, ada.agent_id, session_id=None, after=0, limit=99)
    return [message.content for message, *_ in listed]


def test_an_added_fact_is_one_pinned_memory(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    text = "Ann likes tea [Ann].\n\nBob likes cake [Bob]."
    rebuilding.add(text, "Rex is a dog [Rex]")
    rebuilding.run()
    both = ada.nodes("memory")
    assert [(each.content, each.pinned, each.tier) for each in both] == [
        (text, True, "long"), ("Rex is a dog [Rex]", True, "long"),
    ]  # fmt: skip


def test_a_pinned_memory_does_not_fade(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.parameters = FADING
    ada.remember("A story of [Grace] and the sea", "B story of [Ann] and the hill", session="one")
    a, b = (ada.memories()[name].id for name in "AB")
    rebuilding.edit(a, pinned=True)
    ada.remember("C [Oslo]", session="two")
    ada.compress(9)
    assert ada.memories().keys() == {"A"} | (ada.memories().keys() & {"C"})
    assert ada.memories()["A"].content == "A story of [Grace] and the sea"
    assert ada.trail(b)[-1] == "forgotten"
    rebuilding.edit(a, pinned=False)
    ada.compress(3)
    assert "A" not in ada.memories()
    assert ada.trail(a)[1:] == ["edited", "edited", "forgotten"]


def test_a_correction_replaces_a_memory_at_once(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I was born in Rome [Rome].\n\nI have a dog [Rex].", user="ann")
    old, dog = ada.nodes("memory")
    rebuilding.edit(old.id, text="I was born in Bonn [Bonn]", worth=9)
    assert [each.id for each in ada.nodes("memory")] == [dog.id]
    assert shown(ada)[0] == "… I have a dog [Rex]."
    assert stored(ada)[0] == "I was born in Rome [Rome].\n\nI have a dog [Rex]."
    with pytest.raises(ConflictError, match="wait until its new text is a memory"):
        rebuilding.edit(old.id, pinned=False)
    rebuilding.run()
    new = ada.nodes("memory")[-1]
    assert (new.content, new.pinned, new.user_id) == ("I was born in Bonn [Bonn]", True, "ann")
    assert (new.worth, new.type, new.said_at) == (9, old.type, old.said_at)
    with pytest.raises(ConflictError, match=f"is memory {new.id} now"):
        rebuilding.edit(old.id, text="I was born in Oslo")
    (version,) = ada.rows("SELECT * FROM node_version WHERE agent_id = %s")
    assert (version.node_id, version.replaced_by, version.reason) == (old.id, new.id, "corrected")
    assert version.content == old.content
    rebuilding.edit(new.id, text="I was born in Oslo [Oslo]")
    rebuilding.run()
    assert shown(ada)[1:] == ["…", "I was born in Oslo [Oslo]"]


def test_a_deleted_memory_stays_deleted(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("I was born in Rome [Rome].\n\nI have a dog [Rex].")
    rome, dog = ada.nodes("memory")
    rebuilding.delete(rome.id)
    rebuilding.delete(rome.id)  # again
    assert shown(ada) == ["… I have a dog [Rex]."]
    assert not [link for link in ada.links() if rome.id in link], "no hint tells it"
    assert ada.trail(rome.id) == ["created", "deleted"]
    with pytest.raises(ConflictError, match="was deleted: add what holds"):
        rebuilding.restore(rome.id)
    assert is_same(rebuilding.rebuilt())
    rebuilding.switch()
    rebuilding.run()
    assert [each.content for each in ada.nodes("memory")] == [dog.content]
    # Other models cut elsewhere: one memory tells both.
    ada.models.segmenter = _Whole()
    rebuilding.rebuilt()
    assert rebuilding.on_edition().nodes("memory") == []
    rebuilding.drop()
    # A network of the messages up to one before the deletion.
    ada.models.segmenter = OneSegmentAMessage()
    ada.remember("Later [Luigi]")
    rebuilding.rebuilt(up_to_seq=1)
    assert [each.content for each in rebuilding.on_edition().nodes("memory")] == [dog.content]


def test_edits_are_moved_with_their_agent(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    a, b, c = (ada.memories()[name].id for name in "ABC")
    rebuilding.delete(a)
    rebuilding.edit(b, text="D [Luigi]")
    rebuilding.edit(c, pinned=True)
    rebuilding.run()
    archive = export_agent(ada.database, ada.agent_id)
    import_agent(ada.database, archive, "bea")
    bea = AgentUnderTest(ada.database, "bea", models=ada.models, known=True)
    assert shown(bea) == shown(ada) == ["…", "…", "C [Oslo]", "D [Luigi]"]
    assert [(n.content, n.pinned) for n in bea.nodes("memory")] == [
        ("C [Oslo]", True), ("D [Luigi]", True),
    ]  # fmt: skip
    assert is_same(Rebuilding(bea).rebuilt())


def test_what_is_no_living_memory_cannot_be_edited(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    grace = next(node.id for node in ada.nodes("entity") if node.content == "Grace")
    a, b = (ada.memories()[name].id for name in "AB")
    for change in (rebuilding.delete, lambda node: rebuilding.edit(node, pinned=True)):
        with pytest.raises(NotFoundError, match="never was a node 99"):
            change(99)
        with pytest.raises(ConflictError, match="is an entity"):
            change(grace)
    with pytest.raises(ConflictError, match="is an entity"):
        rebuilding.delete(a, grace)
    assert len(ada.nodes("memory")) == 2, "all or nothing"
    rebuilding.delete(b)
    with pytest.raises(ConflictError, match="is deleted: add what holds"):
        rebuilding.edit(b, text="B again")
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        assert open_edition(connection, ada.agent_id) is None


def test_an_edit_during_a_pass_makes_it_scan_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = MemoryParameters(focus_limit=1, decay_rate=0.6, min_shrink=0)
    ada.remember("A story of [Grace] and the sea", "B story of [Ann] and the hill", session="one")
    ada.remember("C [Oslo]", session="two")
    a, b = (ada.memories()[name].id for name in "AB")
    compressor = ada.models.compressor

    class Edits:
        """Pins one memory and deletes the other while the pass shortens them."""

        at_once = compressor.at_once
        edits = 0

        def compress(self, text: str, target: int) -> str:
            if not self.edits:
                rebuilding.edit(a, pinned=True)
                rebuilding.delete(b)
            self.edits += 1
            return str(compressor.compress(text, target))

    ada.models.compressor = Edits()
    ada.compress(8)
    assert ada.models.compressor.edits
    assert ada.memories()["A"].content == "A story of [Grace] and the sea"
    assert ada.trail(b)[-1] == "deleted"
    assert b not in {r[0] for r in ada.rows("SELECT node_id FROM node_vector WHERE agent_id = %s")}
