"""Questions about the conversation before this one (R10)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memci.domain.context.query import last_session_in
from memci.domain.context.query.last_session import Talk, talk_before
from tests.support.asked_times import NOW

HOUR = timedelta(hours=1)
ASKED = [
    ("What did we talk about last time?", "last time"),
    ("What did you recommend last time?", "last time"),
    ("Let us continue from last time.", "last time"),
    ("What did we discuss in our last session?", "our last session"),
    ("Which pump did we choose in our previous conversation?", "our previous conversation"),
    ("Summarize the most recent chat, please.", "the most recent chat"),
    ("What did my last conversation with you cover?", "last conversation"),
    ("When was the last time we spoke?", "the last time we spoke"),
    ("Where did we leave off?", "Where did we leave off"),
    ("Let's pick up where we left off.", "where we left off"),
    ("我们上次聊了什么？", "上次"),
    ("上次说到哪里了？", "上次"),
    ("上一次对话我们讨论了哪台水泵？", "上一次对话"),
    ("总结一下我们上次的谈话。", "上次的谈话"),
]
OTHERS = [
    "When was the last time I went to the dentist?",
    "What did I order last time?",
    "What was the last time we talked about the garden?",
    "What was my last conversation with Ann about?",
    "What did Ann say in her last session?",
    "What was said in Ann's last session?",
    "Was the last chat show funny?",
    "Where did we leave the car?",
    "What did we talk about?",
    "我上次去看牙是什么时候？",
    "上次说的那本书叫什么？",
    "上次聊天窗口在哪？",
    "",
]


@pytest.mark.parametrize(("question", "words"), ASKED)
def test_what_names_the_conversation_before(question: str, words: str) -> None:
    place = last_session_in(question)
    assert place is not None
    assert question[slice(*place)] == words


@pytest.mark.parametrize("question", OTHERS)
def test_what_only_looks_like_it(question: str) -> None:
    assert last_session_in(question) is None


@pytest.mark.parametrize(
    ("hours_ago", "expected"),
    [
        ((), None),
        ((7,), (7, 7)),
        ((5,), None),  # it goes on
        ((1, 4, 8, 15, 16), (16, 15)),
        ((7, 8, 12, 30), (12, 7)),
        ((7, 13), (7, 7)),  # six hours end one
    ],
)
def test_silences_cut_what_was_said_in_no_session(
    hours_ago: tuple[int, ...], expected: tuple[int, int] | None
) -> None:
    def at(hours: int) -> datetime:
        return NOW - hours * HOUR

    found = talk_before(map(at, hours_ago), NOW)
    assert found == (expected and Talk(*map(at, expected)))


def test_what_was_said_at_its_ends_is_of_it() -> None:
    time = Talk(NOW - 2 * HOUR, NOW - HOUR).time()
    assert time.fit(NOW - 2 * HOUR) == time.fit(NOW - HOUR) == 1
    assert time.fit(NOW) == pytest.approx(0.5)
    assert Talk(NOW, NOW).time().fit(NOW - HOUR) == 0.5
