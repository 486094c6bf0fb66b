"""Questions about the conversation before this one (R10).

Sessions and silences separate conversations.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memci.language.question.last_session import (
    Conversation,
    find_last_session,
    previous_conversation,
)
from tests.support.question_times import NOW

ASKED = [
    ("What did we talk about last time?", "last time"),
    ("What did you recommend last time?", "last time"),
    ("Let us continue from last time.", "last time"),
    ("What did we discuss in our last session?", "our last session"),
    ("Which pump did we choose in our previous conversation?", "our previous conversation"),
    ("Summarize the most recent chat, please.", "the most recent chat"),
    ("What did we say in the last session?", "the last session"),
    ("What did my last conversation with you cover?", "my last conversation with you"),
    ("When was the last time we spoke?", "the last time we spoke"),
    ("Where did we leave off?", "Where did we leave off"),
    ("Where did we leave off with the budget?", "Where did we leave off"),
    ("Let's pick up where we left off.", "where we left off"),
    ("What was our last conversation about?", "our last conversation"),
    ("What was I saying last time?", "last time"),
    ("上次我问了你什么？", "上次"),
    ("So, where did we stop?", "So, where did we stop"),
    ("我们上次聊了什么？", "上次"),
    ("上次说到哪里了？", "上次"),
    ("上一次对话我们讨论了哪台水泵？", "上一次对话"),
    ("总结一下我们上次的谈话。", "上次的谈话"),
    ("上一轮对话的结论是什么？", "上一轮对话"),
]
OTHERS = [
    "When was the last time I went to the dentist?",
    "What did I order last time?",
    "What did she say last time?",
    "Who was there last time?",
    "When was last time?",
    "What was the last time we talked about the garden?",
    "When was the last time we spoke to Ann?",
    "What was my last conversation with Ann about?",
    "What was the last chat I had with Ann?",
    "What did Ann say in her last session?",
    "What was said in Ann's last session?",
    "What did the students' last session cover?",
    "What did parliament decide in its last session?",
    "What weights did I lift in my last session?",
    "How much was the last session at the gym?",
    "Was the last chat show funny?",
    "What is the latest chat model of OpenAI?",
    "How do I restore my last session in Chrome?",
    "Which previous session token expired?",
    "What did my therapist tell me in our last session?",
    "Did Ann say that she liked our last chat with her?",
    "When was the last time we spoke French?",
    "他在上次谈话中说了什么？",
    "上次讨论会谁来了？",
    "Where did we leave the car?",
    "Show me the hotel where we stopped.",
    "Where did we leave it? I can't find my umbrella.",
    "Before our last session, what did we talk about?",
    "What has been said since our last conversation?",
    "What about the second-to-last session that we had?",
    "Not our last chat but the one before, what was it about?",
    "What did we talk about?",
    "上上次我们聊了什么？",
    "上上个会话里我们决定了什么？",
    "我上次去看牙是什么时候？",
    "上次去是什么时候？",
    "上次会上说了什么？",
    "她上次说了什么？",
    "上次说的那本书叫什么？",
    "上次聊天窗口在哪？",
    "上一个聊天软件叫什么？",
    "我和李明上次的聊天内容是什么？",
    "客户上次的对话是什么？",
    "上次对话之前我们聊了什么？",
    "",
]


@pytest.mark.parametrize(("question", "words"), ASKED)
def test_expressions_for_the_last_session_are_found(question: str, words: str) -> None:
    place = find_last_session(question)
    assert place is not None
    assert question[slice(*place)] == words


@pytest.mark.parametrize("question", OTHERS)
def test_other_questions_name_no_last_session(question: str) -> None:
    assert find_last_session(question) is None


HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def last(*turns: tuple[str | None, float], here: str | None = None) -> tuple[object, ...] | None:
    """Return the session of the last conversation, and how many hours ago it began and ended."""
    by_time = sorted(turns, key=lambda each: each[1])
    found = previous_conversation(
        ((session, NOW - ago * HOUR) for session, ago in by_time), here, NOW
    )
    return found and (found[0], *((NOW - at) / HOUR for at in found[1:]))


@pytest.mark.parametrize(
    ("hours_ago", "expected"),
    [
        ((), None),
        ((7,), (None, 7, 7)),
        ((5,), None),  # it still goes on
        ((1, 4, 8, 15, 16), (None, 16, 15)),
        ((7, 8, 12, 30), (None, 12, 7)),
        ((7, 13), (None, 7, 7)),  # six hours of silence end a conversation
    ],
)
def test_silences_separate_messages_without_a_session(
    hours_ago: tuple[int, ...], expected: tuple[object, ...] | None
) -> None:
    assert last(*((None, ago) for ago in hours_ago)) == expected


def test_the_current_conversation_is_not_the_last_one() -> None:
    assert last(("a", 1), ("a", 2), ("b", 30), here="a") == ("b", 30, 30)
    assert last(("a", 1), ("a", 2), ("a", 40), ("b", 50), here="a") == ("a", 40, 40)
    assert last(("a", 20), ("b", 30), here="a") == ("a", 20, 20)
    assert last(("a", 1), here="a") is None


def test_another_session_counts_as_ended_after_an_hour() -> None:
    assert last(("a", 1), ("b", 30), here="new") == ("a", 1, 1)
    assert last((None, 1), ("b", 30), here="new") == (None, 1, 1)
    assert last(("a", 1), ("b", 30)) == ("a", 1, 1)


def test_without_a_session_the_newest_one_counts_as_current() -> None:
    assert last(("now", 0), ("a", 1)) == ("a", 1, 1)


def test_the_conversation_that_ended_last_counts() -> None:
    assert last(("a", 10), ("b", 11), ("a", 12), ("b", 13)) == ("a", 12, 10)
    assert last(("trip", 50), ("garden", 200), ("trip", 400)) == ("trip", 50, 50)
    assert last((None, 1), ("letter", 150), (None, 1_200)) == ("letter", 150, 150)


def test_messages_at_both_ends_belong_to_the_conversation() -> None:
    time = Conversation("a", NOW - 2 * HOUR, NOW - HOUR).time()
    assert time.fit(NOW - 2 * HOUR, "a") == time.fit(NOW - HOUR, "a") == 1
    assert time.fit(NOW, "a") == pytest.approx(0.5)
    assert Conversation("a", NOW, NOW).time().fit(NOW - HOUR, "a") == 0.5


def test_messages_of_another_session_do_not_belong_to_it() -> None:
    time, loose = (Conversation(each, NOW - HOUR, NOW).time() for each in ("a", None))
    assert time.fit(NOW, "b") == time.fit(NOW) == loose.fit(NOW, "a") == 0
    assert loose.fit(NOW) == 1


def test_a_conversation_may_end_on_the_last_day_of_the_calendar() -> None:
    end = datetime.max.replace(tzinfo=UTC)
    assert Conversation("a", end - MINUTE, end).time().fit(end, "a") == 1
