"""Which facts hold no more, judged on pairs whose writer saw neither the model nor its training.

``training/sentences/guide.md`` says how they are labelled.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memci.smallmodel.offline.change_filter import may_end, news
from memci.smallmodel.offline.change_reader import OfflineChangeReader
from memci.smallmodel.ports import TextPair
from tests.support.models import built_in

JUDGED = Path(__file__).parents[3] / "training" / "sentences"


@cache
def reader() -> OfflineChangeReader:
    return OfflineChangeReader(built_in()[0])


def ended(older: str, newer: str, by: tuple[str, str] = ("User", "User")) -> list[str]:
    """Return the parts of ``older`` that ``newer`` ends."""
    said = f"{by[0]}: {older}"
    both = [[each] for each in bits(older, newer)]
    (spans,) = reader().ended([TextPair(said, f"{by[1]}: {newer}", *both, likely_news(newer))])
    return [said[start:stop] for start, stop in spans]


def bits(*texts: str) -> list[bytes]:
    return built_in()[0].encode(texts)[1]


def judged(language: str) -> list[dict[str, Any]]:
    parts = ("", "_second", "_third", "_fourth")
    files = [JUDGED / f"judged_{language}{part}_changes.jsonl" for part in parts]
    lines = [each for file in files for each in file.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_changed_facts_are_found_in_both_languages(language: str):
    rows = judged(language)
    found = [
        bool(ended(row["older"], row["newer"], (row["by_older"], row["by_newer"]))) for row in rows
    ]
    wanted = [bool(row["ended"]) for row in rows]
    right = sum(one and other for one, other in zip(wanted, found, strict=True))
    assert 2 * right / (sum(wanted) + sum(found)) >= 0.83


@pytest.mark.parametrize(
    ("older", "newer", "parts"),
    [
        (
            "I'm Anna, I'm vegetarian and I live in Bern.",
            "I moved to Zurich last week.",
            ["I live in Bern"],
        ),
        (
            "我叫小雨，对花生过敏，住在苏州。",
            "上个月我搬到杭州了。",
            ["住在苏州"],
        ),
        ("The standup is on Mondays at 9:30.", "Standup moves to Thursdays.", None),
        ("我在一家银行上班。", "我辞职了，下周五是最后一天。", None),
        ("I live in Bern.", "I moved to Zurich last week.", None),
        ("I drive an old Golf.", "I sold the Golf yesterday.", None),
        ("我有一辆自行车。", "我把自行车卖了。", None),
        ("我叫安娜，吃素，住在伯尔尼。", "上周我搬到苏黎世了。", ["住在伯尔尼"]),
        ("I live in Bern.", "My sister moved to Zurich last week.", []),
        ("我住在苏州。", "我周末去杭州玩了两天。", []),
        ("I have a dog called Rex.", "We went to the beach with Rex on Sunday.", []),
    ],
)
def test_only_the_facts_that_changed_end(older: str, newer: str, parts: list[str] | None):
    found = ended(older, newer)
    if parts is None:
        assert found
    else:
        assert [each.removeprefix("and ") for each in found] == parts


def test_each_pair_is_read_by_itself():
    pairs = [
        TextPair("User: I live in Bern.", "User: I moved to Zurich."),
        TextPair("User: Hi.", "User: Hello."),
    ]
    both = reader().ended(pairs)
    assert both == [*reader().ended(pairs[:1]), *reader().ended(pairs[1:])]
    assert reader().ended([]) == []


def test_of_long_texts_the_beginning_is_read():
    older = "I live in Bern. We have a garden with two apple trees. My sister visits at Easter."
    newer = "I moved to Zurich last week."
    assert ended(older, newer) == ["I live in Bern"]
    late = "The weather was fine that day. " * 400
    assert "I live in Bern" not in "".join(ended(late + older, newer))
    assert ended("I like tea.", late) == []


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our plumber is called Viktor.", "Our plumber plays the accordion."),
        ("My niece turns nine on 4 May.", "My niece's birthday is the fourth of May."),
        ("I hiked up the Rigi on Sunday.", "My legs still hurt from the Rigi."),
        ("The choir rehearses in the chapel.", "The choir keeps me sane in winter."),
        ("Petra rang me on Monday about the tent.", "Mr. Novak rang me about the piano."),
        ("我们的房东叫周建国。", "我们的房东是退休老师。"),
        ("我外甥五月四日过生日。", "我外甥的生日是五月四号。"),
        ("星期天我去爬了黄山。", "爬完黄山腿还在疼。"),
        ("我儿子在学游泳。", "我儿子这个月还报了围棋班。"),
    ],
)
def test_ordinary_talk_ends_nothing(older: str, newer: str):
    assert ended(older, newer) == []


def test_a_long_older_text_is_read_around_the_line_most_like_the_newer():
    lines = [
        "Ann: The weather was nice, and we walked along the lake for two hours before dinner.",
        "Bob: My brother came by and fixed the sink in the kitchen on Saturday.",
        "Ann: I live in Bern.",
        "Ann: We take the train to Norway in the summer, with the whole family.",
    ]
    older = "\n".join(lines)
    (spans,) = reader().ended([TextPair(older, "Ann: I moved to Zurich last week.")])
    assert [older[start:stop] for start, stop in spans] == ["I live in Bern"]
    others = TextPair(older, "Ann: My sister has a new bike.")
    assert reader().ended([others, TextPair("", "Ann: Hi")]) == [[], []]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_filter_lets_nearly_every_change_pass(language: str):
    rows = judged(language)
    passed = [may_pass(row["older"], row["newer"]) for row in rows if row["ended"]]
    assert sum(passed) >= 0.95 * len(passed)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Jill: The soup was too salty for me.", "Jill: My cousin plays the drums in Leeds."),
        ("We saw two swans and had an ice cream.", "How was your trip to the mountains?"),
        ("今天的面条有点咸。", "你看过那部新电影吗？"),
    ],
)
def test_the_filter_leaves_out_unrelated_talk(older: str, newer: str):
    assert not may_pass(older, newer)


def may_pass(older: str, newer: str) -> bool:
    return bool(may_end(bits(older), bits(newer), likely_news(newer)))


def likely_news(text: str) -> float:
    return float(news(built_in()[0].sentences([text])[0].features).max())


def test_without_bits_every_pair_is_read():
    known = bits("We saw two swans and had an ice cream.")
    for older, newer in ((known, []), ([], known), ([*known, b""], known), ([b"short"], known)):
        assert may_end(older, newer) is None


MOVED = "Ann: I moved to Zurich last week, into a flat above a florist."
TALK = [
    "Ann: We saw two swans by the lake, and had an ice cream with the children afterwards.",
    "Ben: How lovely, we only went to the shops, and to my aunt, who has a cold again.",
    "Ann: I live in Bern, in the old town, above a bakery.",
    "Ben: My train to work takes forty minutes, so I read many novels.",
]


def test_of_several_messages_the_one_that_may_be_ended_is_read():
    older, newer = bits(*(each.partition(": ")[2] for each in TALK)), bits(MOVED)
    nearest = may_end(older, newer)
    assert nearest is not None
    assert next(iter(nearest)) == 2
    memory = "\n".join(TALK)
    (found,) = reader().ended([TextPair(memory, MOVED, older, newer)])
    assert memory[slice(*found[0])].startswith("I live in Bern")


def test_lines_that_are_no_messages_are_found_by_their_meaning():
    swims = (
        "We like to swim in the lake, early in the morning, before the others come and get loud."
    )
    memory = f"Ann: {swims}\nI live in Bern, in the old town, above a bakery."
    # As of two memories that were merged: the text of one, the messages of both.
    older = bits(memory, "We go swimming in the lake every morning.")
    (found,) = reader().ended([TextPair(memory, MOVED, older, bits(MOVED))])
    assert memory[slice(*found[0])].startswith("I live in Bern")


def test_an_unrelated_message_leaves_a_memory_of_several_messages_alone():
    said = bits(*(each.partition(": ")[2] for each in TALK[:2]))
    assert may_end(said, bits("I moved to Zurich last week.")) == {}


def test_an_answer_can_be_ended_though_its_question_is_more_like_the_new_message():
    older = bits("When is the dentist appointment?", "On Monday at nine.")
    assert 1 in (may_end(older, bits("The dentist appointment was moved to Friday.")) or {})
