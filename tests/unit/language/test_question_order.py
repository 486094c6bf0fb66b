"""Questions for the latest of several occasions, or for the earliest (R10)."""

from __future__ import annotations

import pytest

from memci.language.question.analysis import analyse
from memci.language.question.intent import Order
from tests.support.question_times import NOW

LATEST = [
    "When did I last go for a run?",
    "When was I at the dentist last?",
    "When was the last time I went to the dentist?",
    "What happened at my latest dentist appointment?",
    "What did Ann and I do the last time we met?",
    "Where did I most recently meet Ann?",
    "What is the last book that I finished?",
    "Where was my last holiday?",
    "What is the latest on the heating?",
    "最近一次跑步是什么时候？",
    "我上次去看牙是什么时候？",
    "最新的报告在哪？",
    "最近的一次体检怎么样？",
    "How long ago did I last see Ann?",
    "Tell me when I last went for a run.",
    "Who visited me last?",
]
EARLIEST = [
    "When did I first go for a run?",
    "Which book did I finish first?",
    "When did John have his first call-out?",
    "What did I cook for the first time in May?",
    "第一次见安娜是什么时候？",
    "最初是谁提出的？",
]
NEITHER = [
    "What is Ann's last name?",
    "How long did the concert last?",
    "How much longer does the battery last?",
    "Did the milk last until Friday?",
    "What did I do last week?",
    "What did Ann do last summer?",
    "How did John overcome his injury from last season?",
    "What did I say at last?",
    "What is on the first floor?",
    "Who came on the first of May?",
    "最近我做了什么？",
    "When did I first meet Ann, and when did I last see her?",
    "Compare my first run with my last run.",
    "Where is the first aid kit?",
    "What is Ann's first language?",
    "What are my last four digits?",
    "Did the snow last?",
    "At the earliest, when can I retire?",
    "By when at the latest do I have to pay?",
    "When is the last bus home?",
    "What was my second-to-last trip?",
    "最早的航班是几点？",
    "晚上次要任务是什么？",
    "第一次世界大战是哪年？",
    "",
]


@pytest.mark.parametrize("question", LATEST)
def test_questions_for_the_latest(question: str) -> None:
    assert analyse(question, NOW).order is Order.LATEST


@pytest.mark.parametrize("question", EARLIEST)
def test_questions_for_the_earliest(question: str) -> None:
    assert analyse(question, NOW).order is Order.EARLIEST


@pytest.mark.parametrize("question", NEITHER)
def test_questions_without_an_order(question: str) -> None:
    assert analyse(question, NOW).order is None
