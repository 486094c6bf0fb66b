from __future__ import annotations

from dataclasses import replace

from memci.domain.memory.creation import (
    Creation,
    NetworkState,
    Similarities,
    fallback_entity,
    focus_after,
    plan_creation,
)
from memci.domain.memory.node import Link, NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.language.names import Entity
from tests.support.pure_network import segment

EMPTY = NetworkState((), {}, {}, {}, last_node_id=0, room=100)
GRACE = segment("a talk with Grace", ["Grace"])
OSLO = segment("a trip to Oslo", ["Oslo"])


def plan(
    *segments,
    state: NetworkState = EMPTY,
    likeness: Similarities | None = None,
    relations: dict[str, str] | None = None,
    **values: float,
) -> Creation:
    no_similarities = [{} for _ in segments]
    return plan_creation(
        segments,
        state,
        [relations or {} for _ in segments],
        likeness or Similarities(no_similarities, no_similarities),
        MemoryParameters(**values),
    )


def test_new_ids_follow_the_last_one_and_entities_come_first() -> None:
    creation = plan(GRACE, state=replace(EMPTY, last_node_id=41))
    assert [(node.id, node.kind, node.content) for node in creation.nodes] == [
        (42, NodeKind.ENTITY, "Grace"),
        (43, NodeKind.MEMORY, "a talk with Grace"),
    ]
    assert creation.focus == (42,)


def test_memories_are_linked_to_the_focus_with_the_names_that_were_given() -> None:
    creation = plan(GRACE, relations={"grace": "spoke with"})
    assert creation.links == (
        Link(2, 1, "spoke with", 1.0, "Grace"),
        Link(1, 2, "spoke with", 1.0, "a talk"),
    )


def test_a_link_without_a_named_relation_is_generic() -> None:
    assert {link.relation for link in plan(GRACE).links} == {"related"}


def test_an_existing_entity_is_reused_and_enters_the_focus() -> None:
    state = replace(EMPTY, entities={"grace": 7}, last_node_id=9)
    creation = plan(GRACE, state=state)
    assert [node.id for node in creation.nodes] == [10]
    assert creation.entered == {7}
    assert creation.focus == (7,)


def test_a_focus_point_that_is_mentioned_again_does_not_enter() -> None:
    grace = Entity.named("Grace")
    state = replace(EMPTY, focus=(grace,), entities={"grace": 7}, last_node_id=9)
    assert plan(GRACE, state=state).entered == frozenset()


def test_an_entity_that_leaves_and_comes_back_within_a_job_has_entered() -> None:
    grace = Entity.named("Grace")
    state = replace(EMPTY, focus=(grace,), entities={"grace": 7}, last_node_id=9)
    assert plan(OSLO, GRACE, state=state, focus_limit=1).entered == {7}


def test_the_previous_memory_of_the_session_is_the_neighbour() -> None:
    state = replace(EMPTY, phrases={5: "old"}, previous={"s1": 5, None: 4}, last_node_id=9)
    links = {(link.source, link.target): link for link in plan(GRACE, state=state).links}
    assert links[5, 11] == Link(5, 11, "next", 0.5, "a talk")
    assert links[11, 5] == Link(11, 5, "previous", 0.5, "old")


def test_a_forgotten_neighbour_is_not_linked() -> None:
    state = replace(EMPTY, previous={"s1": 5}, last_node_id=9)
    assert all(5 not in (link.source, link.target) for link in plan(GRACE, state=state).links)


def test_relatives_are_the_most_similar_existing_memories_without_neighbours() -> None:
    state = replace(
        EMPTY, phrases={3: "c", 4: "d", 5: "e", 6: "f"}, previous={"s1": 5}, last_node_id=9
    )
    older = {2: 0.99, 3: 0.7, 4: 0.8, 5: 0.95, 6: 0.6}
    creation = plan(GRACE, state=state, likeness=Similarities([older], [{}]))
    related = [link.target for link in creation.links if link.source == 11 and link.target < 10]
    assert related == [5, 4, 3]  # the neighbour, then relatives; 2 is forgotten, 6 not above 0.6


def test_the_number_of_relatives_is_limited() -> None:
    state = replace(EMPTY, phrases={3: "c", 4: "d"}, last_node_id=9)
    likeness = Similarities([{3: 0.9, 4: 0.8}], [{}])
    links = plan(GRACE, state=state, likeness=likeness, related_links=1).links
    assert {link.target for link in links if link.source == 11} == {10, 3}


def test_earlier_segments_of_the_job_can_be_relatives() -> None:
    likeness = Similarities([{}, {}, {}], [{}, {0: 0.9}, {0: 0.9, 1: 0.9}])
    links = {
        (link.source, link.target): link.relation
        for link in plan(GRACE, OSLO, GRACE, likeness=likeness).links
    }
    a, b, c = 2, 4, 5
    assert links[b, a] == "previous"
    assert links[c, a] == "related"
    assert links[a, c] == "related"
    assert links[c, b] == "previous"


def test_without_room_no_node_and_no_link_to_it_is_created() -> None:
    creation = plan(GRACE, OSLO, state=replace(EMPTY, room=3))
    assert [node.content for node in creation.nodes] == ["Grace", "a talk with Grace", "Oslo"]
    made = {node.id for node in creation.nodes}
    assert all({link.source, link.target} <= made for link in creation.links)
    none = plan(GRACE, state=replace(EMPTY, room=0))
    assert none == Creation((), (), (), frozenset())


def test_a_segment_without_entities_does_not_change_the_focus() -> None:
    grace = Entity.named("Grace")
    assert focus_after((grace,), segment("hm"), 5) == (grace,)
    assert focus_after((), segment("hm"), 5) == (Entity.named("hm"),)


def test_the_text_replaces_a_missing_phrase() -> None:
    assert fallback_entity(replace(segment(" hm"), phrase="")) == Entity.named("hm")
    assert fallback_entity(replace(segment("[ID_CARD_1]"), phrase="")) == Entity.named("id_card")
    cut = replace(segment("a" * 60 + " [EMAIL_1]"), phrase="")
    assert fallback_entity(cut) == Entity.named("a" * 60 + " ema")
