"""Recalls on a real database (M20, M23)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.domain.memory.recall import Miss
from memci.reading.recall import Recall
from memci.schemas.reads import RecallAnswer, RecallRequest, RecallText
from tests.support.stored import BEGIN, Reader, Stored


def recall(reader: Reader, *keywords: str, agent_id: str = "alice", **fields: Any) -> RecallAnswer:
    request = RecallRequest(keywords=keywords, format="structured", **fields)
    answer = Recall(*reader.parts).run(agent_id, request)
    assert isinstance(answer, RecallAnswer)
    return answer


def text(reader: Reader, *keywords: str, **fields: Any) -> str:
    answer = Recall(*reader.parts).run("alice", RecallRequest(keywords=keywords, **fields))
    assert isinstance(answer, RecallText)
    return answer.text


@pytest.fixture
def travel(alice: Stored) -> Stored:
    """The links: focus Lisbon - trip (layer 1) - packing - shoes (layer 3); Lisbon - food."""
    seq = alice.say("We fly to Lisbon in May.")
    lisbon = alice.entity("Lisbon")
    trip = alice.remember("We fly to Lisbon in May.", [seq])
    food = alice.remember("The custard tarts are best near the river.")
    packing = alice.remember("Pack the blue suitcase before May.")
    shoes = alice.remember("Walking shoes are in the suitcase.")
    alice.link(lisbon, trip, "about", 0.9)
    alice.link(food, lisbon, "tastes of", 0.4)
    alice.link(trip, packing, "next", 0.5)
    alice.link(shoes, packing, "part of", 0.5)
    return alice


def test_links_are_followed_both_ways_layer_by_layer(reader: Reader, travel: Stored):
    found = recall(reader, depth=3).memories
    assert [(each.node_id, each.layer) for each in found] == [(2, 1), (3, 1), (4, 2), (5, 3)]
    assert [each.strength for each in found] == pytest.approx([0.9, 0.4, 0.45, 0.225])


def test_depth_limits_the_layers(reader: Reader, travel: Stored):
    assert [each.node_id for each in recall(reader, depth=1).memories] == [2, 3]
    assert all(each.out_of_reach for each in recall(reader, depth=0).memories)


def test_depth_defaults_to_the_agents_own_parameter(reader: Reader, travel: Stored):
    assert len(recall(reader).memories) == 3
    travel.execute(
        "INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s)",
        '{"default_search_depth": 1}',
    )
    assert len(recall(reader).memories) == 2


def test_only_links_with_the_requested_relations_are_followed(reader: Reader, travel: Stored):
    found = recall(reader, relations=["about", "next"], depth=3).memories
    assert [each.node_id for each in found] == [2, 4]


def test_keywords_match_as_tokens_by_stem_and_name_their_messages(reader: Reader, travel: Stored):
    found = recall(reader, "flying", depth=3)
    assert [each.content for each in found.memories] == ["We fly to Lisbon in May."]
    assert found.memories[0].message_ids == ["m1"]
    assert found.memories[0].match == 1.0
    assert found.miss is None


def test_a_keyword_of_two_words_needs_both(reader: Reader, travel: Stored):
    assert [each.node_id for each in recall(reader, "blue suitcase", depth=3).memories] == [4]


def test_keywords_match_by_cosine(reader: Reader, travel: Stored):
    reader.embedder.requests.clear()
    found = recall(reader, "walking shoes suitcase lost", depth=3).memories
    assert [each.node_id for each in found] == [5]
    assert 0.5 <= found[0].match < 1
    assert reader.embedder.requests == ["walking shoes suitcase lost"]


def test_chinese_words_and_single_characters_match(reader: Reader, alice: Stored):
    focus = alice.entity("北京")
    cat = alice.remember("我在北京养了一只猫。", language="zh")
    alice.link(focus, cat, "关于")
    assert [each.node_id for each in recall(reader, "猫").memories] == [cat]
    assert [each.node_id for each in recall(reader, "北京").memories] == [cat]
    assert recall(reader, "狗").miss is Miss.NEVER_KNOWN


def test_limit_keeps_the_nearest(reader: Reader, travel: Stored):
    assert [each.node_id for each in recall(reader, depth=3, limit=2).memories] == [2, 3]


def test_the_text_form_marks_and_separates_memories(reader: Reader, travel: Stored):
    chinese = travel.remember("我们五月去里斯本。", language="zh")
    travel.link(1, chinese, "关于", 0.8)
    assert text(reader, depth=1) == (
        "[memory] We fly to Lisbon in May.\n---\n"
        "[记忆] 我们五月去里斯本。\n---\n"
        "[memory] The custard tarts are best near the river."
    )


def test_the_text_does_not_exceed_its_budget(reader: Reader, travel: Stored):
    count = reader.models.tokenizers.count("o200k_base")
    whole = count(text(reader, depth=3))
    for budget in range(1, whole + 1, 4):
        assert count(text(reader, depth=3, budget_tokens=budget)) <= budget
    assert count(text(reader, depth=3, budget_tokens=whole)) == whole


class TestForgotten:
    def test_a_dangling_link_gives_relation_and_hint(self, reader: Reader, travel: Stored):
        travel.link(2, 4242, "plans", 0.3, hint="hotel by the river")
        found = recall(reader, "hotel")
        assert found.memories == []
        assert found.miss is Miss.FORGOTTEN
        assert [(each.relation, each.hint) for each in found.forgotten] == [
            ("plans", "hotel by the river")
        ]
        assert text(reader, "hotel") == "[forgotten] plans: hotel by the river"

    def test_chinese_hints_are_reported_in_chinese(self, reader: Reader, alice: Stored):
        alice.link(alice.entity("北京"), 99, "关于", hint="旅行计划")
        assert text(reader, "旅行") == "[遗忘] 关于：旅行计划"

    def test_it_has_the_time_of_forgetting(self, reader: Reader, travel: Stored):
        node = travel.remember("The hotel by the sea has a pool.", [1])
        lisbon = travel.entity("Sintra")
        travel.link(lisbon, node, hint="the hotel by the sea")
        travel.forget(node)
        travel.execute(
            "UPDATE trail SET at = '2026-05-01T09:00:00Z' WHERE agent_id = %s AND node_id = %s"
            " AND event = 'forgotten'",
            node,
        )
        (forgotten,) = recall(reader, "hotel").forgotten
        assert forgotten.forgotten_at == datetime(2026, 5, 1, 9, tzinfo=UTC)

    def test_it_is_restorable_while_its_messages_are_stored(self, reader: Reader, travel: Stored):
        seqs = [travel.say("The hotel is booked."), travel.say("Room with a view.")]
        hotel = travel.remember("The hotel is booked, room with a view.", seqs)
        travel.link(1, hotel, "about", hint="hotel booking")
        travel.forget(hotel)
        assert [each.restorable for each in recall(reader, "hotel").forgotten] == [True]
        travel.delete_message(seqs[1])
        assert [each.restorable for each in recall(reader, "hotel").forgotten] == [False]

    def test_a_forgotten_node_beyond_the_depth_counts_as_forgotten(
        self, reader: Reader, travel: Stored
    ):
        travel.link(5, 4242, "about", hint="hotel")
        assert recall(reader, "hotel", depth=1).miss is Miss.FORGOTTEN

    def test_the_strongest_link_to_a_node_is_reported(self, reader: Reader, travel: Stored):
        travel.link(1, 4242, "weakly", 0.1, hint="hotel")
        travel.link(2, 4242, "strongly", 0.9, hint="hotel")
        assert [each.relation for each in recall(reader, "hotel").forgotten] == ["strongly"]

    def test_memories_and_forgotten_nodes_are_in_one_text(self, reader: Reader, travel: Stored):
        travel.link(1, 4242, "about", hint="the flight to Porto")
        assert text(reader, "fly", "flight", depth=1) == (
            "[memory] We fly to Lisbon in May.\n---\n[forgotten] about: the flight to Porto"
        )


class TestMisses:
    def test_never_known(self, reader: Reader, travel: Stored):
        found = recall(reader, "submarine")
        assert (found.memories, found.forgotten, found.miss) == ([], [], Miss.NEVER_KNOWN)
        assert text(reader, "submarine").startswith("[never known] ")
        assert text(reader, "潜水艇").startswith("[从未知晓] ")

    def test_an_agent_without_messages_never_knew(self, reader: Reader):
        found = recall(reader, "anything", agent_id="nobody")
        assert (found.miss, found.seq, found.pending) == (Miss.NEVER_KNOWN, 0, 0)

    def test_pending_while_its_message_waits(self, reader: Reader, travel: Stored):
        seq = travel.say("The submarine museum opens at nine.", indexed=False, state="pending")
        job = travel.queue(seq, seq)
        found = recall(reader, "submarine")
        assert (found.miss, found.seq, found.pending) == (Miss.PENDING, seq - 1, 1)
        travel.finish(job)
        assert recall(reader, "submarine").miss is Miss.NEVER_KNOWN

    def test_without_links_messages_show_what_was_known(self, reader: Reader, travel: Stored):
        """Messages match by stem, by all words of a keyword, or by characters."""
        boat = travel.remember("Grace sailed.", [travel.say("Grace sailed to the red island.")])
        travel.remember("养猫。", [travel.say("我在北京养了一只猫。")], language="zh")
        travel.say("The volcano is loud.", state="filtered")
        travel.forget(boat)
        for keyword in ("sailing", "red island", "只", "北京"):
            found = recall(reader, keyword)
            assert (found.memories, found.forgotten) == ([], [])
            assert found.miss is Miss.FORGOTTEN, keyword
        for keyword in ("red volcano", "volcano", "狗", "   "):
            assert recall(reader, keyword).miss is Miss.NEVER_KNOWN, keyword
        assert text(reader, "sailing") == "[forgotten] this was known once"
        assert text(reader, "北京") == "[遗忘] 曾经知道此事"

    def test_messages_of_other_viewers_do_not_count(self, reader: Reader, alice: Stored):
        alice.say("The safe opens with a lullaby.", session="s1", user="ann")
        alice.say("Tulips.", session="s2", user="bob")
        until = BEGIN + timedelta(seconds=1)
        assert recall(reader, "lullaby", user_id="ann").miss is Miss.FORGOTTEN
        assert recall(reader, "lullaby", user_id="bob").miss is Miss.NEVER_KNOWN
        assert recall(reader, "lullaby", user_id="bob", session_id="s1").miss is Miss.NEVER_KNOWN
        assert recall(reader, "lullaby", as_of=until).miss is Miss.NEVER_KNOWN
        Stored(reader, "bob")
        assert recall(reader, "lullaby", agent_id="bob").miss is Miss.NEVER_KNOWN

    def test_a_short_term_memory_of_another_session_is_not_forgotten(
        self, reader: Reader, alice: Stored
    ):
        short = alice.remember("Tulips for Grace.", [alice.say("Tulips for Grace.")])
        alice.execute("UPDATE node SET tier = 'short' WHERE agent_id = %s AND id = %s", short)
        assert recall(reader, "tulips", session_id="s2").miss is Miss.NEVER_KNOWN
        assert recall(reader, "tulips", session_id="s1").miss is Miss.OUT_OF_REACH

    def test_without_keywords_any_message_of_a_memory_counts(self, reader: Reader, alice: Stored):
        alice.say("Tulips.", state="filtered")
        assert recall(reader).miss is Miss.NEVER_KNOWN
        alice.say("Tulips for Grace.")
        assert recall(reader).miss is Miss.FORGOTTEN

    def test_out_of_reach_is_shown_and_marked(self, reader: Reader, travel: Stored):
        found = recall(reader, "shoes", depth=1)
        assert found.miss is Miss.OUT_OF_REACH
        nearer = recall(reader, "shoes", depth=3)
        assert nearer.miss is None
        assert [each.node_id for each in found.memories] == [
            each.node_id for each in nearer.memories
        ]
        assert {each.out_of_reach for each in found.memories} == {True}
        assert {each.out_of_reach for each in nearer.memories} == {False}
        said = text(reader, "shoes", depth=1)
        assert said.startswith("[memory] (out of reach) ")
        assert "far from" not in said

    def test_a_memory_without_a_way_to_it_is_shown_last(self, reader: Reader, alice: Stored):
        far = alice.remember("Tulips and roses for Grace.")
        near = alice.remember("Tulips from Oslo.")
        entity = alice.entity("Oslo")
        alice.link(entity, near)
        found = recall(reader, "tulips", depth=0).memories
        assert [(each.node_id, each.layer) for each in found] == [(near, 1), (far, None)]
        assert [each.node_id for each in recall(reader, depth=0).memories] == [near, far]


def test_memories_of_other_agents_are_not_recalled(reader: Reader, travel: Stored):
    bob = Stored(reader, "bob")
    bob.link(bob.entity("Lisbon"), bob.remember("Bob was in Lisbon."))
    assert len(recall(reader, "Lisbon").memories) == 1
    assert [each.content for each in recall(reader, "Lisbon", agent_id="bob").memories] == [
        "Bob was in Lisbon."
    ]


@pytest.mark.parametrize("keyword", ["x" * 1_000_000, "猫" * 100_000, "   ", "the", "%_'\\"])
def test_odd_keywords_find_nothing_and_raise_no_error(reader: Reader, travel: Stored, keyword: str):
    assert recall(reader, keyword).miss is Miss.NEVER_KNOWN
