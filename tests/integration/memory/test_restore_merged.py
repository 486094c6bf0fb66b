"""A forgotten memory that was merged is restored with the texts of its parts (M24, R5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import event

from memci.domain.job import JobKind
from memci.domain.memory.compression_scan import Forgetting
from memci.smallmodel.ports import Judgement
from memci.storage.network.nodes import forget_nodes
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.short_term import consolidate, consolidation

# Different words, or the texts would be filtered as repeated.
STRESSED = {
    "pump": "really", "fan": "very", "roof": "actually", "cellar": "truly", "stove": "totally",
    "door": "absolutely", "lamp": "extremely",
}  # fmt: skip


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    ada.models.judge.rest = Judgement(eligible=True, worth=3.0)  # all short-term
    return Rebuilding(ada)


def merge(ada: AgentUnderTest) -> int:
    (node,) = consolidate(ada)["nodes"]
    return int(node)


def restored(ada: AgentUnderTest, rebuilding: Rebuilding, node: int) -> tuple[str, list[int]]:
    """Forget a memory, restore it, and return its text and messages."""
    with ada.database.agent_transaction(ada.agent_id) as connection:
        forget_nodes(connection, ada.agent_id, {node: Forgetting.TOO_SHORT}, 1)
    rebuilding.restore(node)
    while rebuilding.waiting():
        rebuilding.step()
    new = ada.nodes("memory")[-1]
    assert new.id > node
    return new.content, new.message_seqs


@pytest.mark.parametrize(
    ("other", "text", "repeated"),
    [
        ("A fan is loud [Luigi]", "The pump is old [Oslo]", "Well, the pump is very old [Oslo]"),
        ("风扇很吵 [Luigi]", "水泵已经很旧 [奥斯陆]", "水泵确实已经很旧啊 [奥斯陆]"),
    ],
    ids=["en", "zh"],
)  # fmt: skip
def test_only_the_merged_parts_of_the_messages_are_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding, other: str, text: str, repeated: str
) -> None:
    ada.remember(f"{other}\n\n{text}", f"{repeated}\n\n{other} 2")
    old = merge(ada)
    assert next(node.content for node in ada.nodes() if node.id == old) == repeated
    for _ in range(2):  # the restored one can be forgotten and restored, too
        assert restored(ada, rebuilding, old) == (repeated, [1, 2])
        old = ada.nodes("memory")[-1].id
    assert len(ada.nodes("memory")) == 3


def test_two_merges_of_the_same_messages_are_distinguished(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(
        "The pump is broken [Oslo]\n\nA fan is loud [Luigi]",
        "The pump is really broken [Oslo]\n\nA fan is very loud [Luigi]",
    )
    first, second = consolidate(ada)["nodes"]
    texts = {node.id: node.content for node in ada.nodes()}
    for node in (first, second):  # the other one still exists
        assert restored(ada, rebuilding, node) == (texts[node], [1, 2])


def test_texts_shortened_before_a_merge_are_restored_whole(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """Texts that differed before they were shortened are all restored; repeated ones once."""
    ada.remember(
        "The pump is broken and Bob mends it on Friday [Oslo]",
        "The pump is broken on the hill [Oslo]",
        "The pump is really broken on the hill [Oslo]",
    )
    nodes = [node.id for node in ada.nodes("memory")]
    ada.execute(
        "UPDATE node SET content = 'The pump is broken' WHERE agent_id = %s AND id = ANY(%s)",
        nodes,
    )
    ada.execute(
        "UPDATE node_vector SET embedding = one.embedding FROM node_vector AS one"
        " WHERE node_vector.agent_id = %s AND one.node_id = %s AND one.agent_id = 'ada'",
        nodes[1],
    )
    text, seqs = restored(ada, rebuilding, merge(ada))
    assert text == (
        "The pump is broken and Bob mends it on Friday [Oslo]\n"
        "The pump is really broken on the hill [Oslo]"
    )
    assert seqs == [1, 2, 3]


def test_different_texts_that_an_older_rule_merged_are_both_restored(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """An added word can change the meaning, so neither text replaces the other."""
    ada.remember("My brother is a doctor [Oslo]", "My brother is a former doctor [Oslo]")
    ada.execute(
        "UPDATE node SET content = 'My brother is a doctor' WHERE agent_id = %s AND kind = %s",
        "memory",
    )
    ada.execute(
        "UPDATE node_vector SET embedding = one.embedding FROM node_vector AS one"
        " WHERE node_vector.agent_id = %s AND one.agent_id = 'ada' AND one.node_id = %s",
        ada.nodes("memory")[0].id,
    )
    assert restored(ada, rebuilding, merge(ada)) == (
        "My brother is a doctor [Oslo]\nMy brother is a former doctor [Oslo]",
        [1, 2],
    )


def test_a_memory_that_was_merged_twice_has_all_its_parts(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("The pump is broken [Oslo]", "The pump is really broken [Oslo]")
    merge(ada)
    ada.remember("The pump is really very broken [Oslo]")
    old = merge(ada)
    details = ada.row(
        "SELECT details FROM trail WHERE agent_id = %s AND node_id = %s AND event = 'created'", old
    ).details
    assert [part["seqs"] for part in details["parts"]] == [[1], [2], [3]]
    assert restored(ada, rebuilding, old) == (
        "The pump is really very broken [Oslo]",
        [1, 2, 3],
    )


def test_a_job_merges_a_limited_number_of_groups_and_the_next_the_rest(
    ada: AgentUnderTest, rebuilding: Rebuilding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.jobs.consolidate.MAX_MERGED", 2)
    for name, stress in list(STRESSED.items())[:5]:
        ada.remember(f"The {name} is broken [Oslo]", f"The {name} is {stress} broken [Oslo]")
    assert consolidate(ada)["merged"] == 4
    assert ada.lane().new_memories == 6
    for count in (4, 2):
        (job,) = rebuilding.waiting()
        assert job.kind == JobKind.CONSOLIDATE
        ada.execute("UPDATE job SET started = 1 WHERE agent_id = %s AND id = %s", job.id)
        assert rebuilding.step()["merged"] == count
    assert rebuilding.waiting() == []
    assert len(ada.nodes("memory")) == 5
    monkeypatch.setattr("memci.jobs.consolidate.MAX_MERGED", 100)
    assert is_same(rebuilding.rebuilt())


def test_many_merges_take_as_many_statements_as_one(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    del rebuilding  # only its judge is needed
    counts = []
    for names in (["pump"], list(STRESSED)[1:]):
        for name in names:
            longer = f"The {name} is {STRESSED[name]} broken [Oslo]"
            ada.remember(f"The {name} is broken [Oslo]", longer)
        job = replace(ada.job(0, 0), kind=JobKind.CONSOLIDATE, first_seq=None, last_seq=None)
        effect = consolidation(ada).prepare(job)
        with ada.lease().effect() as connection:
            statements: list[str] = []
            event.listen(connection, "before_cursor_execute", _recorder(statements))
            assert effect(connection)["merged"] == 2 * len(names)
        counts.append(len(statements))
    assert counts[0] == counts[1]


def _recorder(statements: list[str]) -> Callable[..., None]:
    def record(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    return record
