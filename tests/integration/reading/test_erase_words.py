"""A query proposes indexed messages to erase (M25)."""

from __future__ import annotations

import json

import pytest

from memci.commands.erase_search import Words, excerpt, find_messages
from tests.support.stored import Reader, Stored


def proposed(reader: Reader, query: str, most: int = 20) -> list[str]:
    words = Words.of(query, reader.models.lexicon)
    return find_messages(reader.database, "alice", words, most=most)


@pytest.fixture
def stored(alice: Stored) -> Stored:
    """Similar messages, linked by one memory; one of them is not indexed."""
    seqs = [
        alice.say("My phone number is 555 0199."),
        alice.say("My phone is broken."),
        alice.say("Number nine is the best house."),
        alice.say("我的电话号码变了，猫也搬家了。"),
        alice.say("Numbers of phones are secret.", indexed=False),
    ]
    alice.link(alice.entity("phone"), alice.remember("The phone number is 555 0199.", seqs))
    return alice


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("phone number", ["m1", "m5"]),
        ("phone phone NUMBERS", ["m1", "m5"]),
        ("submarine quantum", []),
        ("phone quantum", []),
        ("电话号码", ["m4"]),
        ("电话 猫", ["m4"]),
        ("电话 狗", []),
        ("猫", ["m4"]),
        ("...", []),
    ],
)
def test_all_words_must_match(reader: Reader, stored: Stored, query: str, found: list[str]):
    assert proposed(reader, query) == found


@pytest.mark.parametrize("query", ["雪", "雪 鸮", "雪鸮"])
def test_messages_with_json_escapes_are_proposed_too(reader: Reader, alice: Stored, query: str):
    arguments = json.dumps({"name": "雪鸮"})
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": arguments}}
    alice.say(None, "assistant", calls=[call])
    alice.say(json.dumps({"booked": "雪鸮"}).upper().replace("\\U", "\\u"), "tool", answers="c1")
    alice.say(r"An escape such as \u96ea \u9e2e is only talked of.")
    assert proposed(reader, query) == ["m1", "m2"]


def test_the_newest_messages_are_proposed(reader: Reader, stored: Stored):
    assert proposed(reader, "number", most=2) == ["m3", "m5"]


def test_messages_of_other_agents_are_not_proposed(reader: Reader, stored: Stored):
    Stored(reader, "bob").say("Bob has a phone number.")
    assert proposed(reader, "phone number") == ["m1", "m5"]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("reactor", "The reactor is ours.", "The reactor is ours."),
        ("reactor", f"{'word ' * 40}The reactor is ours.", "…word word word The reactor is ours."),
        ("red cat", f"red {'x ' * 50}a red cat", "…x x x x x x x x x x a red cat"),
        ("猫", f"{'我' * 100}猫很好", f"…{'我' * 24}猫很好"),
        ("nothing", "The reactor is ours.", "The reactor is ours."),
    ],
)
def test_excerpts_begin_just_before_the_words(reader: Reader, query: str, text: str, expected: str):
    assert excerpt(text, Words.of(query, reader.models.lexicon), 240) == expected
