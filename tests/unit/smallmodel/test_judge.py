"""Which texts the offline judge keeps as long-term memories (R3), in English and Chinese."""

from __future__ import annotations

import pytest

from memci.smallmodel.offline.annotator import OfflineJudge

KEPT = [
    "We decided to move the billing service to Postgres.",
    "My daughter Lin is allergic to peanuts.",
    "I prefer the aisle seat on long flights.",
    "Next month we plan to visit Oslo.",
    "Lesson: the outage was caused by a full disk.",
    "Actually, I no longer work at Acme.",
    "我们决定把订单服务迁到自建机房，由李明负责。",
    "我女儿对花生过敏。",
    "我喜欢靠过道的座位。",
    "我们打算下个月去上海。",
    "更正：我不再在那家公司工作了。",
]
NOT_KEPT = [
    "Hi there!",
    "Thanks a lot!",
    "ok",
    "How are you?",
    "你好！",
    "谢谢",
    "哈哈",
    "你叫什么名字？",
]


@pytest.mark.parametrize("text", KEPT)
def test_facts_plans_and_decisions_are_eligible(judge: OfflineJudge, text: str):
    (judged,) = judge.judge([text])
    assert judged.eligible
    assert judged.worth > judge.judge(["ok"])[0].worth


@pytest.mark.parametrize("text", NOT_KEPT)
def test_small_talk_is_not_eligible(judge: OfflineJudge, text: str):
    (judged,) = judge.judge([text])
    assert not judged.eligible
    assert judged.worth < 6


@pytest.mark.parametrize("text", KEPT + NOT_KEPT)
def test_summaries_are_not_judged(judge: OfflineJudge, text: str):
    assert judge.judge([text], [KEPT[0]]) == judge.judge([text])


@pytest.mark.parametrize(
    ("worthy", "chatter"),
    [
        ("Dana owns the migration, we decided.", "Thanks a lot! Have a nice day."),
        ("I'm allergic to peanuts, and my birthday is on 4 May.", "How are you? What's up?"),
        ("我们决定下周三迁移，由李明负责。", "谢谢你！好的，再见。"),
        ("我对花生过敏，女儿今年五岁，我们住在杭州。", "哈哈，真好！听起来不错。"),
    ],
)
def test_facts_have_more_worth_than_small_talk(judge: OfflineJudge, worthy: str, chatter: str):
    keep, drop = judge.judge([worthy, chatter])
    assert keep.worth >= 6
    assert drop.worth < 3


def test_each_text_has_an_answer_in_order(judge: OfflineJudge):
    one, other = judge.judge([KEPT[0], NOT_KEPT[0]])
    assert (one.eligible, other.eligible) == (True, False)
    assert judge.judge([]) == []


def test_a_text_of_which_no_sentences_are_known_is_read(judge: OfflineJudge):
    known = [[], []]
    first, second = judge.judge(["Thanks a lot!", "I'm allergic to nuts."], [], known)
    assert not first.eligible
    assert second.eligible
