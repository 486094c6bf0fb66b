"""Searches on a real database (R10b, R11)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memci.domain.search.candidate import DEEPEST, Channel, Source
from memci.reading.search import Search
from memci.schemas.reads import Filters, Hit, SearchAnswer, SearchRequest
from memci.storage.search import find
from memci.storage.search.find import SearchQuery
from tests.support.models import ScriptedPlanner
from tests.support.stored import BEGIN, Reader, Stored


def search(reader: Reader, query: str, agent_id: str = "alice", **fields: Any) -> SearchAnswer:
    return Search(*reader.parts).run(agent_id, SearchRequest(query=query, **fields))


def texts(hits: list[Hit]) -> list[str]:
    return [hit.text for hit in hits]


@pytest.fixture
def talk(alice: Stored) -> Stored:
    alice.say("The harbour ferry leaves at eight.", name="Ann", user="u1")
    alice.say("I will book the ferry tickets tonight.", "assistant", user="u1")
    alice.say("My cat is called Miso.", session="s2", user="u2")
    alice.say("She sleeps on the radiator.", session="s2", user="u2")
    alice.say("明天早上八点坐渡轮去香港。", session="s3")
    return alice


def test_hits_name_their_messages_and_ranks(reader: Reader, talk: Stored):
    best = search(reader, "When does the harbour ferry leave?").hits[0]
    assert best.text == "The harbour ferry leaves at eight."
    assert best.message_ids == ["m1"]
    assert (best.source, best.node_id) == (Source.CHAT, None)
    assert (best.role, best.name) == ("user", "Ann")
    assert best.created_at == BEGIN + timedelta(minutes=1)
    assert best.channels == {"dense": 1, "lexical": 1}
    assert 0 < best.score < 1


def test_memories_are_found_with_messages(reader: Reader, talk: Stored):
    node = talk.remember("Miso the cat is afraid of thunder.", [3, 4], session="s2")
    hits = search(reader, "cat thunder").hits
    assert (hits[0].text, hits[0].source) == ("My cat is called Miso.", Source.CHAT)
    assert (hits[0].message_ids, hits[0].node_id) == (["m3"], node)
    alone = search(reader, "cat thunder", sources=[Source.MEMORY]).hits
    assert [(hit.node_id, hit.message_ids) for hit in alone] == [(node, ["m3", "m4"])]
    assert (hits[0].role, hits[0].name) == ("user", None)
    assert (alone[0].role, alone[0].name) == (None, None)


def test_an_answer_is_found_by_the_words_of_its_question(reader: Reader, talk: Stored):
    talk.say("Where shall we meet for the pangolin workshop?", session="s9")
    answer = talk.say("Behind the old mill at noon.", session="s9")
    talk.say("Nothing of the kind.", session="s10")
    found = [hit.message_ids for hit in search(reader, "pangolin workshop").hits]
    assert [f"m{answer}"] in found[:2]
    assert [f"m{answer + 1}"] not in found


@pytest.mark.parametrize(
    "filters", [{"names": ("Bob",)}, {"roles": ("assistant",)}, {"tags": ("answer",)}]
)
def test_messages_that_filters_exclude_still_lend_their_words(
    reader: Reader, talk: Stored, filters: dict[str, Any]
):
    talk.say("Where shall we meet for the pangolin workshop?", session="s9", name="Ann")
    talk.say("Behind the old mill at noon.", "assistant", session="s9", name="Bob",
             metadata={"tags": ["answer"]})  # fmt: skip
    found = search(reader, "pangolin workshop", channels=["lexical"], filters=Filters(**filters))
    assert texts(found.hits) == ["Behind the old mill at noon."]
    alone = search(reader, "pangolin workshop", channels=["lexical"], user_id="u1",
                   filters=Filters(**filters))  # fmt: skip
    assert alone.hits == []


def test_without_query_analysis_no_questions_are_planned(reader: Reader, talk: Stored):
    planner = ScriptedPlanner([["Who is called Miso?"]])
    reader.models = replace(reader.models, query_planner=planner)
    explain = search(reader, "ferry", explain=True).explain
    assert explain is not None
    assert explain["questions"] == 2
    talk.execute(
        "INSERT INTO agent_setting (agent_id, parameters)"
        " VALUES (%s, '{\"query_analysis_enabled\": false}')"
    )
    explain_after = search(reader, "ferry", explain=True).explain
    assert explain_after is not None
    assert explain_after["questions"] == 1
    assert len(planner.requests) == 1


def test_a_memory_and_its_message_are_one_hit(reader: Reader, talk: Stored):
    talk.remember("My cat is called Miso.", [3])
    assert texts(search(reader, "cat Miso").hits).count("My cat is called Miso.") == 1


def test_k_and_budget_limit_the_hits(reader: Reader, talk: Stored):
    assert len(search(reader, "ferry cat", k=2).hits) == 2
    count = reader.models.tokenizers.count("o200k_base")
    for budget in range(1, 40, 4):
        found = texts(search(reader, "ferry cat harbour", budget_tokens=budget).hits)
        assert count("\n".join(found)) <= budget
    assert len(search(reader, "ferry cat harbour", budget_tokens=40).hits) >= 3


class TestRawTail:
    def test_a_message_that_is_not_indexed_yet_is_found(self, reader: Reader, talk: Stored):
        seq = talk.say("The submarine museum opens at nine.", indexed=False, state="pending")
        talk.queue(seq, seq)
        answer = search(reader, "submarine")
        assert texts(answer.hits) == ["The submarine museum opens at nine."]
        assert answer.hits[0].channels == {"lexical": 1}
        assert (answer.seq, answer.pending) == (seq - 1, 1)

    def test_its_score_is_that_of_an_indexed_message(self, reader: Reader, talk: Stored):
        copy = "The harbour ferry leaves at eight."
        tail = talk.say(copy, indexed=False)
        hits = search(reader, "harbour ferry", channels=[Channel.LEXICAL]).hits
        assert [hit.message_ids for hit in hits[:2]] == [[f"m{tail}"], ["m1"]]

    def test_filters_apply_to_it(self, reader: Reader, talk: Stored):
        talk.say("The ferry again.", user="u3", indexed=False)
        assert texts(search(reader, "ferry", user_id="u3").hits) == ["The ferry again."]
        assert "The ferry again." not in texts(search(reader, "ferry", user_id="u1").hits)


class TestChannelsAndSources:
    def test_each_channel_works_alone(self, reader: Reader, talk: Stored):
        for channel in (Channel.DENSE, Channel.LEXICAL):
            best = search(reader, "harbour ferry", channels=[channel]).hits[0]
            assert best.message_ids == ["m1"]
            assert set(best.channels) == {channel.value}

    def test_each_source_works_alone(self, reader: Reader, talk: Stored):
        talk.remember("The ferry to the islands was late.", [1, 2])
        for source in (Source.CHAT, Source.MEMORY):
            hits = search(reader, "ferry", sources=[source]).hits
            assert {hit.source for hit in hits} == {source}

    def test_vectors_of_another_model_are_not_compared(self, reader: Reader, talk: Stored):
        talk.execute("UPDATE message_vector SET model = 'other' WHERE agent_id = %s")
        assert search(reader, "harbour ferry", channels=[Channel.DENSE]).hits == []
        assert search(reader, "harbour ferry").hits[0].channels == {"lexical": 1}

    def test_entities_are_no_hits(self, reader: Reader, talk: Stored):
        talk.entity("ferry")
        assert all(hit.source is Source.CHAT for hit in search(reader, "ferry").hits)


class TestFilters:
    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({"roles": ["assistant"]}, {"m2"}),
            ({"names": ["Ann"]}, {"m1"}),
            ({"sessions": ["s2"]}, {"m3", "m4"}),
            (
                {"since": BEGIN + timedelta(minutes=2), "until": BEGIN + timedelta(minutes=3)},
                {"m2"},
            ),
            ({"types": ["episodic"]}, set()),
            ({"names": ["ann"]}, set()),  # names are case-sensitive
            # A date covers its whole day.
            (
                {
                    "since": f"{BEGIN:%Y-%m-%d}",
                    "until": f"{BEGIN:%Y-%m-%d}",
                    "sessions": ["s2"],
                },
                {"m3", "m4"},
            ),
            ({"until": f"{BEGIN - timedelta(days=1):%Y-%m-%d}"}, set()),
        ],
    )
    def test_messages(self, reader: Reader, talk: Stored, filters: dict[str, Any], found: set[str]):
        answer = search(reader, "harbour ferry tickets cat radiator sleeps", filters=filters)
        assert {message for hit in answer.hits for message in hit.message_ids} == found

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({"roles": ["assistant"]}, {1}),
            ({"names": ["Ann"]}, {1}),
            ({"sessions": ["s2"]}, {2}),
            ({"since": BEGIN + timedelta(hours=1)}, {2}),
            ({"until": BEGIN + timedelta(hours=1)}, {1}),
            ({"types": ["semantic"]}, {2}),
        ],
    )
    def test_memories(self, reader: Reader, talk: Stored, filters: dict[str, Any], found: set[int]):
        talk.remember("Ferry tickets are booked.", [1, 2])
        talk.remember(
            "Ferry rides scare the cat.", [3], session="s2", type_="semantic",
            said_at=BEGIN + timedelta(days=1),
        )  # fmt: skip
        answer = search(reader, "ferry", filters=filters, sources=[Source.MEMORY])
        assert {hit.node_id for hit in answer.hits} == found

    def test_a_user_sees_their_own_messages(self, reader: Reader, talk: Stored):
        answer = search(reader, "ferry cat", user_id="u2")
        assert {hit.message_ids[0] for hit in answer.hits} == {"m3", "m4"}

    def test_a_session_id_hides_no_messages(self, reader: Reader, talk: Stored):
        here = search(reader, "harbour ferry", session_id="s2").hits
        assert here == search(reader, "harbour ferry").hits

    def test_names_in_filters_are_not_run_as_sql(self, reader: Reader, talk: Stored):
        filters = Filters(names=("x'); DROP TABLE message; --", "%s", "%(agent)s"))
        assert search(reader, "ferry %(terms)s", filters=filters).hits == []


def test_messages_of_other_agents_are_not_found(reader: Reader, talk: Stored):
    Stored(reader, "bob").say("The harbour ferry sank.")
    assert "The harbour ferry sank." not in texts(search(reader, "harbour ferry").hits)
    assert texts(search(reader, "ferry", agent_id="bob").hits) == ["The harbour ferry sank."]


def test_an_agent_without_messages_has_no_hits(reader: Reader):
    answer = search(reader, "anything", agent_id="nobody")
    assert (answer.hits, answer.seq, answer.pending) == ([], 0, 0)


@pytest.mark.parametrize("query", [" . ", "<|endoftext|>", "the", "x" * 65_536, "word " * 13_000])
def test_odd_queries_are_answered(reader: Reader, talk: Stored, query: str):
    assert isinstance(search(reader, query), SearchAnswer)


def test_explain_has_terms_counts_and_timings(reader: Reader, talk: Stored):
    explain = search(reader, "ferry", explain=True, channels=[Channel.LEXICAL]).explain
    assert explain is not None
    assert explain["terms"] == ["ferri"]
    assert explain["candidates"] == {
        "chat": 2, "memory": 0, "document": 0, "code": 0, "raw_tail": 0,
            "page": 0, "summary": 0, "pin": 0, "plan": 0,
    }  # fmt: skip
    assert set(explain["timings_ms"]) == {"wait", "embed", "find", "fuse", "select", "provenance"}


def test_words_of_other_users_are_not_lent_to_a_users_messages(reader: Reader, talk: Stored):
    talk.say("Is the zanzibar parcel here?", session="s9", user="u1")
    talk.say("On the shelf.", session="s9", user="u2")
    assert search(reader, "zanzibar", user_id="u2").hits == []
    own = search(reader, "zanzibar", user_id="u1").hits
    assert texts(own)[0] == "Is the zanzibar parcel here?"


def test_tags_and_metadata_filter_messages(reader: Reader, talk: Stored):
    kept = {"tags": ["urgent", "boat"], "from": {"app": "mail"}}
    seq = talk.say("The ferry is cancelled.", metadata=kept)
    for filters in ({"tags": ["boat", "x"]}, {"metadata": {"from": {"app": "mail"}}}):
        hits = search(reader, "ferry", filters=filters).hits
        assert [hit.message_ids for hit in hits] == [[f"m{seq}"]]
    assert search(reader, "ferry", filters={"tags": ["train"]}).hits == []
    for wrong in ("a\x00b", float("nan")):
        with pytest.raises(ValueError, match="metadata"):
            search(reader, "ferry", filters={"metadata": {"a": wrong}})


def test_a_query_with_many_blanks_is_analysed_quickly(reader: Reader, talk: Stored):
    assert search(reader, "who is a" + " " * 20_000 + "ferry").hits


def test_a_filter_finds_old_messages_with_a_frequent_word(
    reader: Reader, alice: Stored, monkeypatch: pytest.MonkeyPatch
):
    """Newer messages outside the filter do not displace them."""
    monkeypatch.setattr("memci.storage.search.find.FEWEST_POSTINGS", 3)
    monkeypatch.setattr("memci.storage.search.find.MOST_POSTINGS", 3)
    old = [alice.say("The coffee is cold.", session="s1") for _ in range(2)]
    for _ in range(12):
        alice.say("More coffee.", session="s2")
    request = SearchRequest(
        query="coffee", channels=[Channel.LEXICAL], filters=Filters(sessions=["s1"])
    )
    hits = Search(*reader.parts).run("alice", request).hits
    assert {each for hit in hits for each in hit.message_ids} == {f"m{seq}" for seq in old}


def test_how_often_a_frequent_term_occurs_is_estimated_from_its_newest_messages(
    reader: Reader, alice: Stored, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memci.storage.search.find._COUNTED", 5)
    for session in ("s1", "s2", "s3"):
        for _ in range(10):
            alice.say("More coffee.", session=session)
            alice.say("The ferry is late.", session=session)
    (coffee,) = set(reader.models.lexicon.terms("coffee"))
    query = SearchQuery([coffee], None, "words", frozenset({Source.CHAT}))
    with reader.database.agent_snapshot("alice") as connection:
        found = find.search(connection, "alice", query)
    assert found.collected.texts == 60
    assert found.collected.frequency[coffee] == pytest.approx(30, abs=4)


def test_a_neighbour_of_a_hit_is_found_despite_better_hits_outside_the_filter(
    reader: Reader, alice: Stored
):
    for _ in range(DEEPEST):
        alice.say("Ferry, ferry, ferry!", session="s1")
    alice.say("We took the ferry that day, and it was late again.", session="s2")
    neighbour = alice.say("It was painted blue.", session="s2")
    request = SearchRequest(
        query="ferry", channels=[Channel.LEXICAL], filters=Filters(sessions=["s2"])
    )
    hits = Search(*reader.parts).run("alice", request).hits
    assert f"m{neighbour}" in [each for hit in hits for each in hit.message_ids]


def test_tool_messages_with_json_escapes_are_found_by_their_words(reader: Reader, alice: Stored):
    alice.say("好的，我来订。", "user")
    arguments = json.dumps({"城市": "奥斯陆", "酒店": "北极光"})
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": arguments}}
    alice.say(None, "assistant", calls=[call])
    alice.say(json.dumps({"确认号": "雪鸮四二", "price": "1,200 克朗"}), "tool", answers="c1")
    called = search(reader, "奥斯陆的酒店").hits[0]
    assert called.message_ids == ["m2"]
    assert called.text == 'book({"城市": "奥斯陆", "酒店": "北极光"})'
    assert search(reader, "雪鸮").hits[0].text == '{"确认号": "雪鸮四二", "price": "1,200 克朗"}'
