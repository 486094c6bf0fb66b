"""Which facts contradict each other, in English and Chinese (R6)."""

from __future__ import annotations

import pytest

from memci.language.claims.reader import claims_in
from tests.support.facts import supersedes
from tests.support.facts_chinese import COMPATIBLE_CHINESE, CONTRADICT_CHINESE
from tests.support.facts_english import COMPATIBLE_ENGLISH, CONTRADICT_ENGLISH


@pytest.mark.parametrize(("older", "newer"), CONTRADICT_ENGLISH + CONTRADICT_CHINESE)
def test_a_new_value_supersedes_the_old_one(older: str, newer: str):
    assert supersedes(older, newer)


@pytest.mark.parametrize(("older", "newer"), COMPATIBLE_ENGLISH + COMPATIBLE_CHINESE)
def test_compatible_facts_supersede_nothing(older: str, newer: str):
    assert not supersedes(older, newer)


@pytest.mark.parametrize(("older", "newer"), CONTRADICT_ENGLISH[:4] + CONTRADICT_CHINESE[:3])
def test_a_fact_about_another_speaker_supersedes_nothing(older: str, newer: str):
    assert not supersedes(older, newer, ("user:ann", "user:bob"))


def test_a_speaker_is_recognised_by_name():
    assert supersedes("Anna lives in Paris", "I moved to Rome", ("Bob", "Anna"))
    assert not supersedes("Anna lives in Paris", "I moved to Rome", ("Bob", "Bob"))


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "我叫李晓燕，住在杭州，在一家叫云溪科技的公司做产品经理。",
            [("name", "李晓燕"), ("lives in/town", "杭州"), ("works at", "云溪科技")],
        ),
        ("我叫王芳，今年30岁，现在住在上海市徐汇区",
            [("name", "王芳"), ("age", "30"), ("lives in/town", "上海徐汇区")]),
        ("我是护士，在人民医院上班", [("works at", "人民医院")]),
        ("我叫王芳，儿子八岁了，在人民医院上班", [("name", "王芳")]),
        ("我是说小王，住在重庆", []),
        ("I've started at St. Mary's on Monday. We moved to Leeds",
            [("works at", "St. Mary's"), ("lives in/town", "Leeds")]),
    ],
)  # fmt: skip
def test_a_clause_without_a_subject_has_the_subject_before(
    text: str, claims: list[tuple[str, str]]
):
    assert [(claim.attribute, claim.value) for claim in claims_in(text, "user:")] == claims


@pytest.mark.parametrize(
    "words",
    ["刚", "刚刚又", "上周", "最近", "今天", "now ", "just last week ", "and now ", "back "],
)
@pytest.mark.parametrize("begin", ["我", "I ", "I moved ", ""])
def test_repeated_words_are_read_quickly(begin: str, words: str):
    """The text has the maximum length of a sentence; the time must not grow exponentially."""
    assert claims_in(begin + words * (290 // len(words)), "user:") == []
