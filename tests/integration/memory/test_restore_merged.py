"""A forgotten memory that was merged of several comes back with what they told (M24, R5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import event

from memci.domain.job import JobKind
from memci.domain.memory.compression_scan import Forgetting
from memci.language.worth import Judgement
from memci.storage.network.nodes import forget_nodes
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.short_term import consolidate, consolidation

# With words that nobody said before, or they would be filtered as repeated.
STRESSED = {
    "pump": "really", "fan": "very", "roof": "actually", "cellar": "truly", "stove": "totally",
    "door": "absolutely", "lamp": "extremely",
}  # fmt: skip


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    ada.models.judge.rest = Judgement(eligible=True, worth=3.0)  # all short-term
    return Rebuilding(ada)


def merged(ada: AgentUnderTest) -> int:
    (node,) = consolidate(ada)["nodes"]
    return int(node)


def brought_back(ada: AgentUnderTest, rebuilding: Rebuilding, node: int) -> tuple[str, list[int]]:
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
    ("beside", "said", "again"),
    [
        ("A fan is loud [Luigi]", "The pump is old [Oslo]", "Well, the pump is very old [Oslo]"),
        ("风扇很吵 [Luigi]", "水泵已经很旧 [奥斯陆]", "水泵确实已经很旧啊 [奥斯陆]"),
    ],
    ids=["en", "zh"],
)  # fmt: skip
def test_only_the_part_that_it_told_comes_back(
    ada: AgentUnderTest, rebuilding: Rebuilding, beside: str, said: str, again: str
) -> None:
    ada.remember(f"{beside}\n\n{said}", f"{again}\n\n{beside} 2")
    old = merged(ada)
    assert next(node.content for node in ada.nodes() if node.id == old) == again
    for _ in range(2):  # the restored one can be forgotten and restored, too
        assert brought_back(ada, rebuilding, old) == (again, [1, 2])
        old = ada.nodes("memory")[-1].id
    assert len(ada.nodes("memory")) == 3


def test_two_merges_of_the_same_messages_are_told_apart(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember(
        "The pump is broken [Oslo]\n\nA fan is loud [Luigi]",
        "The pump is really broken [Oslo]\n\nA fan is very loud [Luigi]",
    )
    first, second = consolidate(ada)["nodes"]
    texts = {node.id: node.content for node in ada.nodes()}
    for node in (first, second):  # one lives, which tells something else
        assert brought_back(ada, rebuilding, node) == (texts[node], [1, 2])


def test_what_was_shortened_before_it_was_merged_comes_back_whole(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """What was alike only when it was shortened is all there; what told no more, once."""
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
    text, seqs = brought_back(ada, rebuilding, merged(ada))
    assert text == (
        "The pump is broken and Bob mends it on Friday [Oslo]\n"
        "The pump is really broken on the hill [Oslo]"
    )
    assert seqs == [1, 2, 3]


def test_what_an_older_rule_merged_though_it_differs_comes_back_whole(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    """An added word may turn the rest: neither tells what the other tells."""
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
    assert brought_back(ada, rebuilding, merged(ada)) == (
        "My brother is a doctor [Oslo]\nMy brother is a former doctor [Oslo]",
        [1, 2],
    )


def test_one_that_was_merged_twice_knows_all_its_parts(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("The pump is broken [Oslo]", "The pump is really broken [Oslo]")
    merged(ada)
    ada.remember("The pump is really very broken [Oslo]")
    old = merged(ada)
    details = ada.row(
        "SELECT details FROM trail WHERE agent_id = %s AND node_id = %s AND event = 'created'", old
    ).details
    assert [part["seqs"] for part in details["parts"]] == [[1], [2], [3]]
    assert brought_back(ada, rebuilding, old) == (
        "The pump is really very broken [Oslo]",
        [1, 2, 3],
    )


def test_no_more_groups_than_one_job_may_merge_and_the_rest_in_the_next(
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
    del rebuilding  # for its judge
    taken = []
    for names in (["pump"], list(STRESSED)[1:]):
        for name in names:
            longer = f"The {name} is {STRESSED[name]} broken [Oslo]"
            ada.remember(f"The {name} is broken [Oslo]", longer)
        job = replace(ada.job(0, 0), kind=JobKind.CONSOLIDATE, first_seq=None, last_seq=None)
        effect = consolidation(ada).prepare(job)
        with ada.lease().effect() as connection:
            statements: list[str] = []
            event.listen(connection, "before_cursor_execute", _noting(statements))
            assert effect(connection)["merged"] == 2 * len(names)
        taken.append(len(statements))
    assert taken[0] == taken[1]


def _noting(statements: list[str]) -> Callable[..., None]:
    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    return note
