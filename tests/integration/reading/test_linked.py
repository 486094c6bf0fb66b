"""The channel ``bfs`` finds nodes that links reach from the hits of a question (R11)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memci.domain.search.candidate import Channel, Source
from memci.reading.context import ContextReader
from memci.reading.search import Search
from memci.schemas.reads import ContextRequest, Hit, SearchRequest
from tests.support.stored import BEGIN, Reader, Stored

QUESTION = "Where did the harbour ferry sail?"


def search(reader: Reader, query: str = QUESTION, **fields: Any) -> list[Hit]:
    request = SearchRequest(**{"query": query, "channels": list(Channel), **fields})
    return Search(*reader.parts).run("alice", request).hits


def linked(hits: list[Hit]) -> list[tuple[Source, str]]:
    """Return the hits that only links have found."""
    return [(hit.source, hit.message_ids[0]) for hit in hits if set(hit.channels) == {"bfs"}]


class Network:
    """Memories of a ferry and of a cello, without a common word."""

    def __init__(self, alice: Stored) -> None:
        self.alice = alice
        alice.say("The harbour ferry sailed west.", user="u1")
        self.ferry = alice.remember("The harbour ferry sailed west.", [1], user="u1")
        for _ in range(9):  # more than the messages whose words count for neighbours
            alice.say("Hmm.", session="s2", user="u1")
        seq = alice.say("Granny plays cello.", session="s3", user="u1")
        self.cello = alice.remember("Granny plays cello.", [seq], session="s3", user="u1")
        self.seq = f"m{seq}"

    def join(self, source: int, target: int, strength: float = 1.0) -> None:
        self.alice.link(source, target, strength=strength)
        self.alice.link(target, source, strength=strength)


@pytest.fixture
def network(alice: Stored) -> Network:
    return Network(alice)


def test_a_link_leads_to_a_message_without_a_common_word(reader: Reader, network: Network):
    network.join(network.ferry, network.cello)
    assert linked(search(reader)) == [(Source.CHAT, network.seq)]
    explained = SearchRequest(query=QUESTION, channels=list(Channel), explain=True)
    explain = Search(*reader.parts).run("alice", explained).explain
    assert explain is not None
    assert explain["linked"] == 4, "both memories and their messages: links lead both ways"
    without = [Channel.DENSE, Channel.LEXICAL]
    for channels in ({}, {"channels": without}):
        request = SearchRequest(query=QUESTION, **channels)
        found = Search(*reader.parts).run("alice", request).hits
        assert network.seq not in [each for hit in found for each in hit.message_ids]


def test_without_links_nothing_is_found_by_links(reader: Reader, network: Network):
    assert linked(search(reader)) == []
    assert search(reader) == search(reader, channels=[Channel.DENSE, Channel.LEXICAL])


def test_links_are_followed_through_an_entity(reader: Reader, network: Network):
    entity = network.alice.entity("Zora", focus=False)
    network.join(network.ferry, entity)
    network.join(entity, network.cello)
    assert linked(search(reader)) == [(Source.CHAT, network.seq)]


def test_a_path_of_three_links_is_not_followed(reader: Reader, network: Network):
    alice = network.alice
    entity, between = alice.entity("Zora", focus=False), alice.entity("Zoe", focus=False)
    network.join(network.ferry, entity)
    network.join(entity, between)
    network.join(between, network.cello)
    assert linked(search(reader)) == []


def test_the_stronger_link_counts_more(reader: Reader, network: Network):
    alice = network.alice
    seq = alice.say("Uncle mends kettles.", session="s4", user="u1")
    kettles = alice.remember("Uncle mends kettles.", [seq], session="s4", user="u1")
    for to_cello, to_kettles, first in ((0.2, 0.9, f"m{seq}"), (0.9, 0.2, network.seq)):
        alice.execute("DELETE FROM link WHERE agent_id = %s")
        network.join(network.ferry, network.cello, to_cello)
        network.join(network.ferry, kettles, to_kettles)
        hits = [hit for hit in search(reader) if set(hit.channels) == {"bfs"}]
        assert len(hits) == 2
        nearest = min(hits, key=lambda hit: hit.channels["bfs"])
        assert nearest.message_ids == [first]


@pytest.mark.parametrize(
    "fields",
    [
        {"user_id": "u2"},
        {"as_of": BEGIN + timedelta(minutes=5)},
        {"filters": {"sessions": ["s1"]}},
        {"filters": {"roles": ["assistant"]}},
    ],
    ids=str,
)
def test_no_link_leads_to_hidden_memories(reader: Reader, network: Network, fields: dict[str, Any]):
    alice = network.alice
    network.join(network.ferry, network.cello)
    own = alice.remember("My harbour ferry.", user="u2", said_at=BEGIN)
    network.join(own, network.cello)
    alice.execute("UPDATE node SET said_at = now() WHERE agent_id = %s AND id = %s", network.cello)
    hits = search(reader, **fields)
    assert network.seq not in [each for hit in hits for each in hit.message_ids]


def test_no_link_leads_through_hidden_memories(reader: Reader, network: Network):
    alice = network.alice
    own = alice.remember("My harbour ferry.", user="u2")
    seq = alice.say("Uncle mends kettles.", session="s4", user="u2")
    kettles = alice.remember("Uncle mends kettles.", [seq], session="s4", user="u2")
    network.join(own, network.cello)
    network.join(network.cello, kettles)
    assert linked(search(reader, user_id="u2")) == []
    network.join(own, kettles)
    assert linked(search(reader, user_id="u2")) == [(Source.CHAT, f"m{seq}")]


def test_short_term_memories_of_other_sessions_are_not_followed(reader: Reader, network: Network):
    network.join(network.ferry, network.cello)
    network.alice.execute(
        "UPDATE node SET tier = 'short', expires_at = now() WHERE agent_id = %s AND id = %s",
        network.cello,
    )
    assert linked(search(reader, session_id="s3")) == [(Source.CHAT, network.seq)]
    assert linked(search(reader, session_id="s1")) == []


def test_forgotten_memories_are_not_found_by_links(reader: Reader, network: Network):
    network.join(network.ferry, network.cello)
    network.alice.forget(network.cello)
    assert linked(search(reader)) == []


def test_links_find_only_the_requested_sources(reader: Reader, network: Network):
    network.join(network.ferry, network.cello)
    assert linked(search(reader, sources=[Source.MEMORY])) == [(Source.MEMORY, network.seq)]
    assert linked(search(reader, sources=[Source.CHAT])) == []


def test_links_start_at_the_focus_only_within_a_session(reader: Reader, network: Network):
    entity = network.alice.entity("Zora")
    network.join(entity, network.cello)
    assert linked(search(reader)) == []
    assert linked(search(reader, session_id="s9")) == [(Source.CHAT, network.seq)]
    alone = search(reader, channels=[Channel.BFS])
    assert linked(alone) == [(Source.CHAT, network.seq)]
    assert len(alone) == 1


def test_an_invisible_focus_is_no_start(reader: Reader, network: Network):
    alice = network.alice
    seq = alice.say("Uncle mends kettles.", session="s4", user="u2")
    kettles = alice.remember("Uncle mends kettles.", [seq], session="s4", user="u2")
    network.join(network.cello, kettles)
    alice.execute(
        "INSERT INTO focus (agent_id, node_id, mentioned) VALUES (%s, %s, 1)", network.cello
    )
    fields: dict[str, Any] = {"channels": [Channel.BFS], "session_id": "s9"}
    assert f"m{seq}" in [each for hit in search(reader, **fields) for each in hit.message_ids]
    assert search(reader, user_id="u2", **fields) == []
    assert search(reader, as_of=BEGIN + timedelta(days=900), **fields) == []


def test_a_context_has_messages_that_links_lead_to(reader: Reader, network: Network):
    network.join(network.ferry, network.cello)
    for channels, expected in ((list(Channel), True), ([Channel.DENSE, Channel.LEXICAL], False)):
        request = ContextRequest(query=QUESTION, channels=channels, budget_tokens=500)
        answer = ContextReader(*reader.parts).run("alice", request)
        text = " ".join(each.content or "" for each in answer.messages)
        assert ("Granny plays cello." in text) is expected
