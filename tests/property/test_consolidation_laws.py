"""Laws of merging (R5): memories that say the same are found, others are never merged."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.consolidation import (
    ShortMemory,
    groups,
    joined_links,
    merged,
)
from memci.domain.memory.node import Link, NodeType
from memci.language.detection import Language
from memci.language.near_duplicates import reduce_text, same_reduced_content
from tests.support.examples import examples

MANY = settings(max_examples=examples(500))
BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# Alternatives for each slot; any two exclude each other.
ENGLISH = {
    "{who}": ["Anna", "Bob", "Mrs Lee", "the landlord"],
    "{number}": ["2", "3", "15", "four", "forty", "1,200"],
    "{day}": ["on Monday", "on Friday", "today", "tomorrow", "in May", "in June"],
    "{may}": ["can", "cannot", "can't", "will", "will not", "might"],
}
CHINESE = {
    "{who}": ["小王", "小李", "张伟", "房东"],
    "{number}": ["2", "3", "15", "四", "四十", "两百"],
    "{day}": ["周一", "周五", "今天", "明天", "五月", "六月"],
    "{may}": ["会", "不会", "没法", "可能会", "必须"],
}
FRAMES = [
    ("{who} {may} bring {number} chairs to the office {day}", ENGLISH),
    ("The plumber says {who} {may} pay {number} euros {day} for the pump", ENGLISH),
    ("{day} {who} {may} send {number} boxes to the old warehouse", ENGLISH),
    ("{who}{day}{may}把{number}把椅子搬到办公室", CHINESE),
    ("{day}{who}{may}付{number}元修水泵", CHINESE),
]


@st.composite
def facts(draw: st.DrawFn) -> tuple[str, dict[str, str], dict[str, list[str]]]:
    """A frame, values for its slots, and the alternatives."""
    frame, choices = draw(st.sampled_from(FRAMES))
    return frame, {slot: draw(st.sampled_from(words)) for slot, words in choices.items()}, choices


def filled(frame: str, values: dict[str, str]) -> str:
    for slot, value in values.items():
        frame = frame.replace(slot, value)
    return frame


@st.composite
def varied(draw: st.DrawFn, text: str, language: Language) -> str:
    """The same text with other blanks, punctuation and fillers."""
    if language is Language.CHINESE:
        text = draw(st.sampled_from(["", "嗯，", "其实", "哦"])) + text
        return text + draw(st.sampled_from(["", "。", "啊！", "嘛", "呢", "的"]))
    text = text.replace("can't", draw(st.sampled_from(["can't", "can’t", "cannot", "can not"])))
    lead = draw(st.sampled_from(["", "Well, ", "Oh, ", "please ", "Hey, actually ", "So "]))
    end = draw(st.sampled_from(["", ".", "!", "...", ", please.", " , ok"]))
    text = text.replace(" ", draw(st.sampled_from([" ", "  ", "\n"])))
    return lead + text + end


def same_content(one: str, other: str) -> bool:
    return same_reduced_content(reduce_text(one), reduce_text(other))


@MANY
@given(st.data(), facts())
def test_variants_of_a_text_have_the_same_content(data, fact):
    frame, values, choices = fact
    language = Language.CHINESE if choices is CHINESE else Language.ENGLISH
    text = filled(frame, values)
    one, other = data.draw(varied(text, language)), data.draw(varied(text, language))
    assert same_content(one, other)
    assert same_content(other, one)


@MANY
@given(st.data(), facts())
def test_one_other_name_number_date_or_negation_is_another_fact(data, fact):
    frame, values, choices = fact
    slot = data.draw(st.sampled_from(sorted(values)))
    canonical = {"can't": "cannot"}
    others = [
        word
        for word in choices[slot]
        if canonical.get(word, word) != canonical.get(values[slot], values[slot])
    ]
    changed = {**values, slot: data.draw(st.sampled_from(others))}
    language = Language.CHINESE if choices is CHINESE else Language.ENGLISH
    one = data.draw(varied(filled(frame, values), language))
    other = data.draw(varied(filled(frame, changed), language))
    assert not same_content(one, other)
    assert not same_content(other, one)


@MANY
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared_and_it_is_symmetrical(one, other):
    assert same_content(one, other) == same_content(other, one)


TEXTS = [
    "the pump is broken", "The pump is broken!", "well, the pump is really broken",
    "the old pump is broken", "the fan is broken", "the pump is not broken",
    "Anna has 2 cats", "Anna has 3 cats", "anna has 2 cats.",
    "我不抽烟", "我抽烟", "我不抽烟啊",
]  # fmt: skip


@st.composite
def memories(draw: st.DrawFn) -> dict[int, ShortMemory]:
    by_id = {}
    for number in range(1, draw(st.integers(2, 8)) + 1):
        text = draw(st.sampled_from(TEXTS))
        by_id[number] = ShortMemory(
            id=number,
            content=text,
            phrase=text[:10],
            keywords=tuple(text.split()[:3]),
            language=Language.ENGLISH,
            type=NodeType.EPISODIC,
            original_length=len(text) + draw(st.integers(0, 5)),
            worth=draw(st.floats(0, 10)),
            seqs=(number,),
            session_id=draw(st.sampled_from([None, "s1", "s2"])),
            user_id=draw(st.sampled_from([None, "u1"])),
            said_at=BEGIN + timedelta(hours=draw(st.sampled_from([0, 1, 20]))),
            expires_at=BEGIN + timedelta(hours=24 + draw(st.integers(0, 3))),
            scan_count=draw(st.integers(0, 5)),
            speakers=frozenset({(draw(st.sampled_from(["user", "assistant"])), None)}),
        )
    return by_id


@MANY
@given(memories(), st.randoms(use_true_random=False))
def test_all_pairs_of_a_group_agree_and_groups_are_disjoint(by_id, random):
    pairs = list(itertools.combinations(by_id, 2))
    random.shuffle(pairs)
    found = groups(by_id, pairs)
    assert found == groups(by_id, sorted(pairs))
    members = [node for group in found for node in group]
    assert len(members) == len(set(members))
    for group in found:
        assert len(group) > 1
        for one, other in itertools.combinations(group, 2):
            assert same_content(by_id[one].content, by_id[other].content)
            assert by_id[one].speakers == by_id[other].speakers
            assert by_id[one].place == by_id[other].place


@MANY
@given(memories())
def test_a_merged_memory_keeps_the_content_seqs_and_worth_of_its_parts(by_id):
    for group in groups(by_id, itertools.combinations(by_id, 2)):
        parts = [by_id[node] for node in group]
        whole, kept_id = merged(parts, 99)
        assert kept_id in group
        assert all(same_content(whole.content, each.content) for each in parts)
        assert set(whole.seqs) == {seq for each in parts for seq in each.seqs}
        assert whole.worth == max(each.worth for each in parts)
        assert whole.said_at == min(each.said_at for each in parts if each.said_at)
        assert whole.expires_at == max(each.expires_at for each in parts if each.expires_at)
        assert groups({99: whole}, []) == []


@st.composite
def links(draw: st.DrawFn) -> list[Link]:
    ends = draw(st.sets(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=12))
    return [
        Link(source, target, f"r{source}", draw(st.floats(0, 1)), f"h{target}")
        for source, target in sorted(ends)
        if source != target
    ]


@MANY
@given(links(), st.sets(st.integers(1, 6), min_size=2))
def test_links_are_joined_and_none_becomes_stronger(original, group):
    joined = joined_links(original, dict.fromkeys(group, 99))
    ends = {(each.source, each.target): each for each in joined}
    assert len(ends) == len(joined)
    assert not any(each.source in group or each.target in group for each in joined)
    for link in original:
        source = 99 if link.source in group else link.source
        target = 99 if link.target in group else link.target
        if source != target:
            assert ends[source, target].strength >= link.strength
    assert {each.strength for each in joined} <= {each.strength for each in original}
