"""Random messages to an assistant, combined from parts: each run has other texts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from memci.message import NewMessage, Role

_PEOPLE = ("Marta", "Jonas", "Priya", "my brother Tom", "Dr. Okafor", "our neighbour Elif", "Sven")
_PLACES = ("Lisbon", "the office in Ghent", "Kyoto", "the allotment", "Tromsø", "the old harbour")
_THINGS = ("the sourdough starter", "a second-hand cello", "the quarterly report", "my bike",
           "the telescope", "a visa form", "the garden shed", "the onboarding guide")  # fmt: skip
_WHEN = ("on Tuesday", "last weekend", "at half past six", "in early March", "after the holidays",
         "the day before yesterday", "next month")  # fmt: skip
_USER = (
    "{who} finally called me {when} about {what}, and we agreed to meet in {where}.",
    "I can't remember whether I told you that {what} is still with {who} in {where}.",
    "Could you help me plan {when}? I want to take {what} to {where} with {who}.",
    "Honestly, {where} was a disappointment: {n} euros for a room, and {who} fell ill {when}.",
    "My doctor says no more than {n} milligrams a day, so please don't suggest coffee again.",
    "Since {who} moved to {where}, {what} needs a new home, and I promised to decide {when}.",
    "The deadline for {what} moved to {when}; {who} wants {n} pages and two figures by then.",
)
_ASSISTANT = (
    "That sounds good. I would ask {who} first whether {when} suits, and set aside {n} euros.",
    "Noted: {what} stays with {who} until you are back from {where}. Shall I remind you {when}?",
    "Here is a plan for {where}: arrive {when}, give {who} a call, and keep the evening free.",
    "I'm sorry to hear that. For {what} you might try the repair café near {where} {when}.",
)
_PEOPLE_ZH = ("小雨", "我的同事老陈", "表姐", "李医生", "邻居王阿姨")
_PLACES_ZH = ("杭州", "外滩的办公室", "成都", "奶奶家", "图书馆")
_THINGS_ZH = ("那把二手小提琴", "季度报告", "新买的相机", "签证材料", "阳台上的番茄")
_WHEN_ZH = ("上周末", "星期二下午", "三月初", "下个月", "昨天晚上")
_USER_ZH = (
    "{when}{who}给我打电话说起{what}，我们约好在{where}见面。",
    "我想{when}带着{what}去{where}，{who}也会来，你能帮我安排一下吗？",
    "{where}的房间要{n}块钱一晚，{who}还生病了，真是有点失望。",
)
_ASSISTANT_ZH = (
    "好的，我记下了：{what}先放在{who}那里，{when}提醒你去{where}。",
    "建议先问问{who}{when}有没有空，再准备{n}块钱左右的预算。",
)
_CHINESE_SHARE = 0.2
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def conversation(seed: int) -> Iterator[NewMessage]:
    """Yield endless turns of a user and an assistant; a topic lasts for a few turns."""
    random = Random(seed)
    at = _START
    while True:
        chinese = random.random() < _CHINESE_SHARE
        lasting = {**_topic(random, chinese=chinese)}
        for _ in range(random.randint(2, 6)):
            for role in (Role.USER, Role.ASSISTANT):
                at += timedelta(minutes=random.randint(1, 90))
                text = _say(random, role, lasting, chinese=chinese)
                yield NewMessage(role, text, said_at=at)


def _say(random: Random, role: Role, topic: dict[str, object], *, chinese: bool) -> str:
    english = _USER if role is Role.USER else _ASSISTANT
    patterns = english if not chinese else _USER_ZH if role is Role.USER else _ASSISTANT_ZH
    # Within a topic, two of the four parts stay and the others change.
    parts = {**_topic(random, chinese=chinese), "who": topic["who"], "what": topic["what"]}
    return " ".join(random.choice(patterns).format(**parts) for _ in range(random.randint(1, 3)))


def _topic(random: Random, *, chinese: bool) -> dict[str, object]:
    return {
        "who": random.choice(_PEOPLE_ZH if chinese else _PEOPLE),
        "what": random.choice(_THINGS_ZH if chinese else _THINGS),
        "where": random.choice(_PLACES_ZH if chinese else _PLACES),
        "when": random.choice(_WHEN_ZH if chinese else _WHEN),
        "n": random.randint(20, 950),
    }
