"""Memory creation on a real database (M1 to M10)."""

from __future__ import annotations

import pytest

from memci.domain.memory.node import NodeType
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.search.passages import passages_of
from memci.errors import SmallModelAnswerError, SmallModelUnavailableError
from memci.language.detection import Language
from memci.smallmodel.ports import Annotation, Judgement, TopicSegment
from tests.support.network import AgentUnderTest


def test_a_new_agent_has_nothing(ada: AgentUnderTest) -> None:
    assert ada.nodes() == []
    assert ada.links() == {}
    assert ada.focus() == []


def test_entities_become_focus_points_before_the_memory_is_linked_to_them(
    ada: AgentUnderTest,
) -> None:
    result = ada.remember("Dinner with [Grace] at [Luigi's]")
    grace, luigi = sorted(ada.nodes("entity"), key=lambda node: node.content)
    (memory,) = ada.nodes("memory")
    assert ada.focus() == ["Luigi's", "Grace"]  # the best one is the newest
    links = ada.links()
    assert set(links) == {
        pair
        for entity in (grace.id, luigi.id)
        for pair in ((memory.id, entity), (entity, memory.id))
    }
    assert {(link.relation, link.strength) for link in links.values()} == {("about", 1.0)}
    assert links[memory.id, grace.id].hint == "Grace"
    assert links[grace.id, memory.id].hint == memory.phrase
    assert result == {
        "messages": 1,
        "filtered": 0,
        "indexed": 1,
        "segments": 1,
        "memories": 1,
        "entities": 2,
        "links": 4,
        "nodes": [1, 2, 3],
        "superseded": 0,
    }


def test_the_focus_is_carried_over_to_the_next_segments(ada: AgentUnderTest) -> None:
    ada.remember("A of [Grace]", "B of [Luigi]")
    entities = {node.content: node.id for node in ada.nodes("entity")}
    second = ada.memories()["B"].id
    assert (second, entities["Grace"]) in ada.links()
    assert (second, entities["Luigi"]) in ada.links()


def test_segments_of_a_job_are_joined_in_order(ada: AgentUnderTest) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    nodes = {name: node.id for name, node in ada.memories().items()}
    links = ada.links()
    for one, other in (("A", "B"), ("B", "C")):
        forward, back = links[nodes[one], nodes[other]], links[nodes[other], nodes[one]]
        assert (forward.relation, back.relation) == ("next", "previous")
        assert forward.strength == back.strength == 0.5
    assert (nodes["A"], nodes["C"]) not in links


def test_a_job_is_joined_to_the_last_segment_of_its_session(ada: AgentUnderTest) -> None:
    ada.remember("A [Grace]", session="one")
    ada.remember("B [Luigi]", session="two")
    ada.remember("C [Oslo]", session="one")
    nodes = {name: node.id for name, node in ada.memories().items()}
    links = ada.links()
    assert links[nodes["A"], nodes["C"]].relation == "next"
    assert links[nodes["C"], nodes["A"]].relation == "previous"
    assert (nodes["B"], nodes["C"]) not in links
    assert (nodes["A"], nodes["B"]) not in links


def test_chinese_memories_have_chinese_relations(ada: AgentUnderTest) -> None:
    ada.remember("一 昨天和[小明]去公园看花", "二 今天[小明]去图书馆借书")
    nodes = {name: node.id for name, node in ada.memories().items()}
    (entity,) = ada.nodes("entity")
    links = ada.links()
    assert links[nodes["一"], nodes["二"]].relation == "下文"
    assert links[nodes["二"], nodes["一"]].relation == "上文"
    assert links[nodes["一"], entity.id].relation == "关于"
    assert ada.focus() == ["小明"]


def test_similar_older_memories_are_related(ada: AgentUnderTest) -> None:
    ada.remember("tomato soup recipe basil [Kitchen]", session="one")
    ada.remember("quarterly tax return filing [Office]", session="two")
    ada.remember("basil recipe tomato soup [Garden]", session="three")
    old, tax, new = (node.id for node in ada.nodes("memory"))
    links = ada.links()
    assert links[new, old].relation == links[old, new].relation == "related"
    assert links[new, old].strength == 0.5
    assert (new, tax) not in links


def test_the_same_thing_said_twice_makes_two_memories(ada: AgentUnderTest) -> None:
    ada.remember("I like [apples]", session="monday")
    ada.remember("I like [apples]", session="tuesday")
    one, other = ada.nodes("memory")
    (apples,) = ada.nodes("entity")
    assert one.content == other.content
    assert (one.id, apples.id) in ada.links()
    assert (other.id, apples.id) in ada.links()


def test_a_known_entity_moves_to_the_newest_place_and_the_oldest_is_evicted(
    ada: AgentUnderTest,
) -> None:
    ada.parameters = MemoryParameters(focus_limit=2)
    ada.remember("A [Grace]", "B [Luigi]", "C [grace]", "D [Oslo]")
    assert ada.focus() == ["Grace", "Oslo"]
    assert len(ada.nodes("entity")) == 3


def test_entering_the_focus_again_sets_all_links_of_the_entity_to_one(
    ada: AgentUnderTest,
) -> None:
    ada.parameters = MemoryParameters(focus_limit=1)
    ada.remember("A long talk about everything with [Grace]")
    ada.remember("B [Luigi]", session="other")
    ada.compress(passes=3)
    grace = next(node.id for node in ada.nodes("entity") if node.content == "Grace")
    faded = [link for pair, link in ada.links().items() if grace in pair]
    assert faded
    assert all(link.strength == pytest.approx(0.97**3) for link in faded)
    ada.remember("C [Grace]", session="third")
    assert all(link.strength == 1.0 for pair, link in ada.links().items() if grace in pair)


def test_a_first_message_that_names_nothing_still_gets_a_link(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(simplemem_enabled=False)
    ada.remember("!!!")
    (memory,) = ada.nodes("memory")
    assert any(source == memory.id for source, _ in ada.links())


def test_without_focus_there_are_no_entities(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(focus_limit=0)
    ada.remember("A [Grace]", "B [Luigi]")
    assert ada.nodes("entity") == []
    assert len(ada.links()) == 2


def test_memories_keep_the_session_user_and_messages_they_came_from(ada: AgentUnderTest) -> None:
    ada.remember("A [Grace]\n\nB [Grace] again", session="s9", user="u1")
    for node in ada.nodes("memory"):
        assert (node.session_id, node.user_id, list(node.message_seqs)) == ("s9", "u1", [1])
        assert node.said_at is not None
        assert node.original_length == len(node.content)
        assert ada.trail(node.id) == ["created"]


def test_sessions_and_users_in_one_job_share_no_chain(ada: AgentUnderTest) -> None:
    ada.say("A [Grace]", session="one", remember="auto")
    ada.say("B [Luigi]", session="two", remember="auto")
    ada.say("C [Oslo]", session="one", remember="auto")
    ada.create(ada.job(1, 3, {"remember": "auto"}))
    nodes = {name: node.id for name, node in ada.memories().items()}
    assert nodes["A"] < nodes["B"] < nodes["C"]
    assert ada.links()[nodes["A"], nodes["C"]].relation == "next"
    assert (nodes["A"], nodes["B"]) not in ada.links()


def test_filtered_messages_are_indexed_with_a_reason(ada: AgentUnderTest) -> None:
    ada.say("You are a helpful assistant", role="system")
    ada.say("   ", role="user")
    ada.say("A [Grace]", role="user")
    ada.say("secret", role="user", remember="never")
    result = ada.create(ada.job(1, 4))
    states = ada.rows(
        "SELECT memory_state, memory_reason, indexed FROM message WHERE agent_id = %s ORDER BY seq"
    )
    assert [tuple(row) for row in states] == [
        ("filtered", "system", True),
        ("filtered", "empty", True),
        ("made", None, True),
        ("none", None, False),
    ]
    assert result["memories"] == 1
    assert [row.seq for row in ada.rows("SELECT seq FROM message_vector WHERE agent_id = %s")] == [
        1,
        3,
    ]
    assert (ada.lane().indexed_messages, ada.lane().indexed_terms) == (2, 7)


def test_a_repeated_create_changes_nothing(ada: AgentUnderTest) -> None:
    job = ada.say("A [Grace]", "B [Luigi]")
    late = ada.creation().prepare(job)  # a second delivery, prepared before the first wrote
    ada.create(job)
    before = (ada.nodes(), ada.links(), ada.focus(), ada.lane().indexed_terms)
    with ada.lease().effect() as connection:
        late(connection)
    ada.create(job)
    assert (ada.nodes(), ada.links(), ada.focus(), ada.lane().indexed_terms) == before


def test_an_effect_that_was_rolled_back_can_run_again(ada: AgentUnderTest) -> None:
    effect = ada.creation().prepare(ada.say("A [Grace]", "B [Luigi]"))

    def fails_at_the_end() -> None:
        with ada.lease().effect() as connection:
            effect(connection)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails_at_the_end()
    assert ada.nodes() == []
    with ada.lease().effect() as connection:
        effect(connection)
    assert [node.id for node in ada.nodes()] == [1, 2, 3, 4]


def test_nothing_is_written_that_refers_to_a_message_erased_meanwhile(
    ada: AgentUnderTest,
) -> None:
    effect = ada.creation().prepare(ada.say("A [Grace]", "B [Luigi]"))
    ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = %s", 1)
    with ada.lease().effect() as connection:
        effect(connection)
    assert [list(node.message_seqs) for node in ada.nodes()] == [[2], [2]]
    assert ada.focus() == ["Luigi"]
    assert [row.seq for row in ada.rows("SELECT seq FROM message_vector WHERE agent_id = %s")] == [
        2
    ]


def test_nothing_is_linked_to_a_node_erased_meanwhile(ada: AgentUnderTest) -> None:
    ada.remember("A tomato soup recipe [Grace]")
    effect = ada.creation().prepare(ada.say("B tomato soup recipe [Grace]"))
    ada.execute("DELETE FROM node WHERE agent_id = %s")
    with ada.lease().effect() as connection:
        effect(connection)
    entity, memory = ada.nodes()
    assert (entity.id, entity.content) == (3, "Grace")  # created again with a new id
    new = {pair for pair in ada.links() if memory.id in pair}
    assert new == {(memory.id, entity.id), (entity.id, memory.id)}


def test_another_agent_is_not_touched(ada: AgentUnderTest) -> None:
    bob = AgentUnderTest(ada.database, "bob")
    ada.remember("tomato soup [Grace]")
    bob.remember("tomato soup [Grace]")
    assert [node.id for node in bob.nodes()] == [1, 2]
    assert len(bob.links()) == 2
    assert len(ada.links()) == 2


# Answers of small models are checked.


@pytest.mark.parametrize(
    "cut",
    [
        [TopicSegment("A [Grace]", (1, 99), Language.ENGLISH)],
        [TopicSegment("A [Grace]", (), Language.ENGLISH)],
        [TopicSegment("A", (1,), Language.ENGLISH)],
        [TopicSegment("A [Grace] and more", (1,), Language.ENGLISH)],
        [
            TopicSegment("A [Grace]", (1,), Language.ENGLISH),
            TopicSegment(" ", (1,), Language.ENGLISH),
        ],
        [],
    ],
)
def test_a_segmenter_that_loses_or_invents_text_is_refused(
    ada: AgentUnderTest, cut: list[TopicSegment]
) -> None:
    ada.models.segmenter.segment = lambda *_: cut
    with pytest.raises(SmallModelAnswerError):
        ada.creation().prepare(ada.say("A [Grace]"))


def test_an_annotation_is_cut_to_its_limits(ada: AgentUnderTest) -> None:
    wild = Annotation(
        phrase="p\x00hrase\n" * 30,
        keywords=("", "k" * 65, *(f"k{n}\x00" for n in range(20)), "k1"),
        entities=("it", "e" * 65, *(f"E {n}" for n in range(9))),
        type=NodeType.SEMANTIC,
    )
    ada.models.annotator.annotate = lambda texts, _: [wild for _ in texts]
    ada.remember("Apples")
    (memory,) = ada.nodes("memory")
    assert len(memory.phrase) <= 80
    assert "\x00" not in memory.phrase
    assert list(memory.keywords) == [f"k{n}" for n in range(12)]
    assert memory.type == "semantic"
    assert ada.focus() == ["E 2", "E 1", "E 0"]


@pytest.mark.parametrize(("worth", "kept"), [(99.0, 10.0), (-1.0, 0.0), (float("nan"), 0.0)])
def test_a_judgement_is_cut_to_its_limits(ada: AgentUnderTest, worth: float, kept: float) -> None:
    ada.models.judge.rest = Judgement(eligible=True, worth=worth)
    ada.remember("Apples")
    (memory,) = ada.nodes("memory")
    assert memory.worth == kept


@pytest.mark.parametrize("answer", ["", "  ", "x" * 33, "\x00"])
def test_a_useless_relation_name_becomes_the_generic_one(ada: AgentUnderTest, answer: str) -> None:
    ada.models.relation_namer.names = lambda _, focus, __: [answer] * len(focus)
    ada.remember("A [Grace]")
    assert {link.relation for link in ada.links().values()} == {"related"}


def test_a_relation_namer_that_cannot_answer_costs_no_memory(ada: AgentUnderTest) -> None:
    def refuse(*_: object) -> str:
        raise SmallModelAnswerError

    ada.models.relation_namer.names = refuse
    ada.remember("昨天和[小明]去公园")
    assert {link.relation for link in ada.links().values()} == {"相关"}


def test_a_model_that_is_down_writes_nothing(ada: AgentUnderTest) -> None:
    def down(*_: object) -> str:
        raise SmallModelUnavailableError

    ada.models.relation_namer.names = down
    with pytest.raises(SmallModelUnavailableError):
        ada.remember("A [Grace]")
    assert ada.nodes() == []


def test_a_long_message_is_embedded_whole_and_in_parts(ada: AgentUnderTest) -> None:
    parts = [f"part{n} " + "word " * 300 for n in range(5)]
    ada.remember("\n\n".join(parts))
    embedded = [text.strip() for text in ada.models.embedder.embedded]
    whole = "\n\n".join(parts)
    beyond = [whole[slice(*place)].strip() for place in passages_of(whole)]
    assert len(beyond) > 1
    assert embedded == [whole.strip(), *beyond, *(part.strip() for part in parts)]
    assert len(ada.nodes("memory")) == 5
    (row,) = ada.rows("SELECT embedding::real[] AS v FROM message_vector WHERE agent_id = %s")
    assert sum(x * x for x in row.v) == pytest.approx(1, abs=0.01)


def test_a_long_message_in_one_segment_is_embedded_too(ada: AgentUnderTest) -> None:
    ada.remember("word " * 2000)
    (row,) = ada.rows("SELECT embedding::real[] AS v FROM node_vector WHERE agent_id = %s")
    assert sum(x * x for x in row.v) == pytest.approx(1, abs=0.01)
