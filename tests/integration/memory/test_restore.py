"""Forgotten memories are made again from their messages (M24)."""

from __future__ import annotations

import pytest

from memci.domain.memory.compression_scan import Forgetting
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError, NotFoundError
from memci.queue.sweep import request_due_consolidations
from memci.smallmodel.offline.segmenter import OfflineSegmenter
from memci.smallmodel.vector_space import VectorSpace
from memci.storage.network.nodes import forget_nodes
from memci.storage.reading.recall import restorable
from tests.support.models import ScriptedCompressor, built_in_reader
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding
from tests.support.short_term import consolidate

# A memory that leaves the focus is shortened in pass 2 and forgotten in pass 3.
FADING = MemoryParameters(focus_limit=1, decay_rate=0.1, min_shrink=0)


def forget(ada: AgentUnderTest, *nodes: int) -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        forget_nodes(connection, ada.agent_id, dict.fromkeys(nodes, Forgetting.TOO_SHORT), 1)


def test_a_restored_memory_is_a_new_node_with_its_whole_text(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = FADING
    ada.remember("A story of [Grace] and the sea", session="one")
    old = ada.memories()["A"].id
    ada.remember("B [Oslo]", session="two")
    ada.compress(3)
    assert "A" not in ada.memories()
    job_id = rebuilding.restore(old)
    rebuilding.run()
    new = ada.memories()["A"]
    assert new.id > old
    assert new.content == "A story of [Grace] and the sea"
    assert new.message_seqs == [1]
    assert ada.focus() == ["Oslo"], "what is talked about today stays in the focus"
    entities = {node.content: node.id for node in ada.nodes("entity")}
    for name in ("Oslo", "Grace"):
        for ends in ((new.id, entities[name]), (entities[name], new.id)):
            assert ada.links()[ends].strength == 1.0
            assert ada.links()[ends].relation == "about"
    assert ada.trail(old)[-1] == "restored"
    assert ada.trail(new.id) == ["created", "restored"]
    details = ada.rows(
        "SELECT details FROM trail WHERE agent_id = %s AND event = 'restored' ORDER BY node_id"
    )
    assert [row.details for row in details] == [
        {"as": new.id, "job": str(job_id)},
        {"of": old, "job": str(job_id)},
    ]
    assert ada.row("SELECT memory_state FROM message WHERE agent_id = %s AND seq = 1")[0] == "made"


def test_only_the_forgotten_one_of_several_memories_is_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("One [Grace]\n\nTwo  of\tit [Luigi]\n\nThree [Oslo]")
    before = {name: node.id for name, node in ada.memories().items()}
    forget(ada, before["Two"])
    rebuilding.restore(before["Two"])
    rebuilding.run()
    after = ada.memories()
    assert set(after) == {"One", "Two", "Three"}
    assert after["Two"].content == "Two  of\tit [Luigi]"
    assert after["Two"].original_length == len("Two  of\tit [Luigi]")
    assert [after[name].id for name in ("One", "Three")] == [before["One"], before["Three"]]


def test_a_second_request_adds_no_job(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]")
    old = ada.memories()["A"].id
    forget(ada, old)
    assert rebuilding.restore(old) == rebuilding.restore(old)
    assert rebuilding.run() == 1
    (node,) = ada.nodes("memory")
    rebuilding.restore(old)  # it is restored already
    assert rebuilding.run() == 0
    forget(ada, node.id)
    with pytest.raises(ConflictError, match=f"restored as node {node.id}.*restore that one"):
        rebuilding.restore(old)
    rebuilding.restore(node.id)
    rebuilding.run()
    assert len(ada.nodes("memory")) == 1


def test_an_impossible_restore_is_refused_with_a_reason(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    nodes = {name: node.id for name, node in ada.memories().items()}
    grace = next(node.id for node in ada.nodes("entity") if node.content == "Grace")
    with pytest.raises(NotFoundError, match="never was"):
        rebuilding.restore(999)
    with pytest.raises(ConflictError, match="is not forgotten"):
        rebuilding.restore(nodes["A"])
    forget(ada, nodes["A"], grace)
    with pytest.raises(ConflictError, match="was an entity: mention it"):
        rebuilding.restore(grace)
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = 1")
    with pytest.raises(ConflictError, match="erased"):
        rebuilding.restore(nodes["A"])
    assert rebuilding.waiting() == []


def test_messages_erased_before_the_job_runs_make_nothing(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]")
    old = ada.memories()["A"].id
    forget(ada, old)
    rebuilding.restore(old)
    ada.execute("DELETE FROM message WHERE agent_id = %s")
    done = rebuilding.step()
    assert done["node"] is None
    assert ada.nodes("memory") == []
    assert ada.trail(old) == ["created", "forgotten"]


def test_only_forgotten_memories_with_messages_can_be_restored(
    ada: AgentUnderTest,
) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    nodes = {name: node.id for name, node in ada.memories().items()}
    grace = next(node.id for node in ada.nodes("entity") if node.content == "Grace")
    forget(ada, nodes["A"], nodes["B"], grace)
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = 2")
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        found = restorable(connection, ada.agent_id, [nodes["A"], nodes["B"], grace])
    assert found == {nodes["A"]}


def test_a_memory_without_a_span_is_restored_from_whole_messages(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]")
    old = ada.memories()["A"].id
    ada.execute("UPDATE trail SET details = details - 'span' - 'kind' WHERE agent_id = %s")
    forget(ada, old)
    rebuilding.restore(old)
    rebuilding.run()
    assert ada.memories()["A"].content == "A [Grace]"


def test_a_restored_memory_can_fade_again(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.parameters = FADING
    ada.models.compressor = ScriptedCompressor()
    ada.remember("A story of [Grace] and the sea", session="one")
    old = ada.memories()["A"].id
    forget(ada, old)
    rebuilding.restore(old)
    rebuilding.run()
    ada.remember("B [Oslo]", session="two")
    ada.compress(3)
    assert "A" not in ada.memories()


def test_a_memory_that_a_rebuild_made_again_is_not_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """A switch removes the nodes of the old network, but forgets none of their texts."""
    ada.remember("A [Grace]")
    old = ada.memories()["A"].id
    rebuilding.begin()
    rebuilding.run()
    rebuilding.switch()
    rebuilding.run()
    with pytest.raises(ConflictError, match=f"node {ada.memories()['A'].id} was made of the same"):
        rebuilding.restore(old)


def test_a_restore_that_found_no_slot_can_be_requested_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = MemoryParameters(node_capacity=2, focus_limit=2)
    ada.remember("A [Grace]")
    old = ada.memories()["A"].id
    forget(ada, old)
    rebuilding.mention("Oslo")
    first = rebuilding.restore(old)
    assert rebuilding.step()["node"] is None
    ada.parameters = MemoryParameters(node_capacity=9, focus_limit=2)
    assert rebuilding.restore(old) != first
    rebuilding.run()
    assert "A" in ada.memories()


# Supersession and terms of restored memories.


def beliefs(ada: AgentUnderTest) -> dict[str, int | None]:
    return {node.content: node.superseded_by for node in ada.nodes("memory")}


def test_a_restored_fact_does_not_supersede_a_newer_one(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I live in Paris")
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    ada.execute("UPDATE message SET said_at = '2025-12-31' WHERE agent_id = %s AND seq = 1")
    ada.remember("I moved to Rome")
    (rome,) = ada.nodes("memory")
    assert rome.superseded_by is None
    rebuilding.restore(old.id)
    rebuilding.run()
    assert beliefs(ada) == {"I moved to Rome": None, "I live in Paris": rome.id}


def test_a_restored_memory_is_still_superseded_by_a_forgotten_one(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I live in Paris")
    ada.remember("I moved to Rome")
    paris, rome = ada.nodes("memory")
    forget(ada, paris.id, rome.id)
    rebuilding.restore(paris.id)
    rebuilding.run()
    assert beliefs(ada) == {"I live in Paris": rome.id}
    (restored,) = ada.nodes("memory")
    assert restored.superseded_at == rome.said_at
    rebuilding.restore(rome.id)
    rebuilding.run()
    assert beliefs(ada)["I moved to Rome"] is None
    assert beliefs(ada)["I live in Paris"] == max(node.id for node in ada.nodes("memory"))


def test_a_memory_restored_after_its_term_becomes_long_term(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.clock.now = ada.row("SELECT now() AS now, %s AS agent").now
    ada.remember("A [Grace]")
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    consolidate(ada)
    assert ada.lane().expire_at is None
    ada.execute("UPDATE message SET received_at = now() - interval '30 days' WHERE agent_id = %s")
    new = ada.lane().new_memories
    rebuilding.restore(old.id)
    rebuilding.run()
    assert ada.memories()["A"].tier == "short"
    assert ada.lane().new_memories == new + 1
    assert request_due_consolidations(ada.database) == 1
    rebuilding.run()
    assert ada.memories()["A"].tier == "long"
    assert ada.lane().expire_at is None


def test_restored_memories_do_not_displace_current_focus_points(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = MemoryParameters(focus_limit=3)
    texts = [f"{name} is far away [{name}]" for name in ("Rome", "Lima", "Bonn", "Cairo")]
    ada.remember(*texts, session="long ago")
    old = [node.id for node in ada.nodes("memory")]
    forget(ada, *(node.id for node in ada.nodes()))
    ada.execute("DELETE FROM focus WHERE agent_id = %s")
    ada.remember("A [Grace] and [Luigi]", session="today")
    assert ada.focus() == ["Luigi", "Grace"]
    for node in old:
        rebuilding.restore(node)
    rebuilding.run()
    assert ada.focus() == ["Rome", "Luigi", "Grace"], "it takes what is free, and gives way first"
    assert [node.content for node in ada.nodes("memory")][1:] == texts
    entities = {node.content: node.id for node in ada.nodes("entity")}
    for node, name in zip(ada.nodes("memory")[1:], ("Rome", "Lima", "Bonn", "Cairo"), strict=True):
        joined = {ends[1] for ends in ada.links() if ends[0] == node.id}
        assert joined >= {entities[each] for each in (name, "Rome", "Luigi", "Grace")}
    ada.remember("C [Oslo]", session="today")
    assert ada.focus() == ["Luigi", "Grace", "Oslo"]


def test_a_restored_memory_has_links_in_a_network_without_a_focus(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]")
    (old,) = ada.nodes("memory")
    forget(ada, old.id)
    ada.parameters = MemoryParameters(focus_limit=0)
    rebuilding.restore(old.id)
    rebuilding.run()
    (new,) = ada.nodes("memory")
    assert {ends for ends in ada.links() if ends[0] == new.id}


# Restored texts are the same word for word.


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        (
            "Where did you go last week?",
            "Oslo [Oslo]",
            "[Assistant: Where did you go last week (22–28 December 2025)?]\nUser: Oslo [Oslo]",
        ),
        (
            "你上周五搬到哪里了？",
            "奥斯陆 [奥斯陆]",
            "[助手: 你上周五（2025-12-26）搬到哪里了？]\n用户: 奥斯陆 [奥斯陆]",
        ),
    ],
    ids=["en", "zh"],
)
def test_a_memory_that_quotes_a_question_is_restored_word_for_word(
    ada: AgentUnderTest, rebuilding: Rebuilding, question: str, answer: str, text: str
) -> None:
    ada.create(ada.say(question, role="assistant", remember="auto"))
    ada.execute("UPDATE message SET memory_state = 'filtered' WHERE agent_id = %s")
    ada.say("and what somebody else has said since", remember="auto", session="s2")
    ada.remember(answer)
    old = ada.nodes("memory")[-1]
    assert old.content == text
    for _ in range(2):  # restored, it can be forgotten and restored again
        ada.say("what nobody asked to remember", remember="never")
        forget(ada, old.id)
        rebuilding.restore(old.id)
        rebuilding.run()
        new = ada.nodes("memory")[-1]
        assert new.id > old.id
        assert (new.content, new.message_seqs) == (text, old.message_seqs)
        old = new


def test_every_memory_of_a_long_talk_is_restored_word_for_word(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """Long messages are cut between sentences and short ones are put together."""
    ada.models.segmenter = OfflineSegmenter(VectorSpace, built_in_reader())
    english = [
        f"Sentence {n} is of the mill in Delft, which I saw last Friday. " for n in range(60)
    ]
    chinese = [f"第{n}句话说的是上周五的德尔夫特磨坊和那条河。" for n in range(90)]
    ada.create(ada.say("".join(english), "  Did you like it?", "".join(chinese), name="Ann"))
    ada.create(ada.say("Yes,\n\n very  much", "喜欢", name="Bo"))
    made = ada.nodes("memory")
    assert len(made) > 4
    for old in made:
        forget(ada, old.id)
        rebuilding.restore(old.id)
    rebuilding.run()
    restored = ada.nodes("memory")
    assert [(each.content, each.message_seqs) for each in restored] == [
        (each.content, each.message_seqs) for each in made
    ]
