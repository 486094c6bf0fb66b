"""The worth of texts (R3): a worth of 6 or more makes a long-term memory."""

from __future__ import annotations

import pytest

from memci.language.worth import judge_worth

WORTH_KEEPING = [
    "We decided to use Postgres.", "We go with the blue one.", "我们决定用Postgres。",
    "I prefer tea.", "I'm vegetarian.", "I don't eat meat.", "我喜欢喝茶。", "我不吃肉。",
    "My name is Zoe.", "He died last week.", "The door code is 4711.", "Ann works at Siemens.",
    "我对花生过敏", "我叫张曼婷", "他上周去世了。", "我换工作了。",
    "I'm moving to Berlin next month.", "The deadline is on Friday.", "下周五交报告。",
    "I learned that retries need a limit.", "The root cause was a full disk.", "原来是磁盘满了。",
    "Actually, the meeting is at six, not at five.", "不对，会议是六点，不是五点。",
    "Always run the tests before you deploy.", "Never call me before nine.",
]  # fmt: skip
TALK = [
    "It was really nice talking to you.", "That sounds like so much fun!", "I love it!",
    "You're so strong, I really admire that.", "That must have been hard for you.",
    "It's always good to hear from you.", "I'm sure you'll do great, don't give up.",
    "Don't worry about the exam!", "The weather is nice.", "How was your day in Oslo?",
    "听起来很有意思。", "我真为你高兴！", "今天天气不错。", "你真是太厉害了，我很佩服你。",
    "我能理解你的感受。",
]  # fmt: skip


def worth_of(text: str, *, named: bool) -> float:
    judged = judge_worth(text, lambda: named)
    assert judged.eligible == (judged.worth >= 6)
    return judged.worth


@pytest.mark.parametrize("text", WORTH_KEEPING)
def test_decisions_preferences_facts_plans_and_lessons_reach_6(text: str) -> None:
    assert 6 <= worth_of(text, named=False) <= 10


def test_an_event_reaches_6_only_with_a_name() -> None:
    text = "Last Friday we signed the lease"
    assert worth_of(text, named=False) < 6 <= worth_of(f"{text} in Oslo.", named=True)


@pytest.mark.parametrize("text", TALK)
def test_small_talk_does_not_reach_6(text: str) -> None:
    assert worth_of(text, named=True) < 6


def test_more_facts_have_more_worth() -> None:
    one = worth_of("I prefer tea.", named=False)
    assert worth_of("I prefer tea. We decided to meet at 5.", named=False) > one
    assert (
        worth_of("I prefer tea. " * 400 + "We decided to move to Oslo in 2027.", named=True) <= 10
    )


def test_questions_have_no_worth() -> None:
    assert worth_of("Do you prefer tea?", named=True) < 1


def test_names_are_searched_only_if_the_text_has_a_statement() -> None:
    asked: list[str] = []

    def names() -> bool:
        asked.append("names")
        return True

    judge_worth("How are you? Thanks a lot!", names)
    assert asked == []
    judge_worth("I prefer tea.", names)
    assert asked == ["names"]


VITAL = [
    "I'm severely allergic to peanuts.", "I can't eat peanuts.", "Dana is lactose intolerant.",
    "I have type 1 diabetes.", "My blood type is O negative.", "She is deaf in one ear.",
    "My emergency contact is Dana.", "My partner is pregnant!", "我对花生过敏。", "我有糖尿病。",
    "我的血型是O型。", "我不能吃花生。", "她一只耳朵听不见。", "紧急联系人是李明。",
    "我每天打胰岛素。",
]  # fmt: skip
LIFE = [
    "I have a sister in Oslo.", "We have two kids.", "My husband's name is Piotr.",
    "My daughter turned 5.", "I live in Oslo.", "I moved to Bergen last week.",
    "I work as a nurse.", "I started a new job at Acme.", "I was born on 4 May 1990.",
    "My birthday is on 4 May.", "I promised Anna to water the plants.", "I hate coriander.",
    "I'll never eat meat again.", "My dog died.", "我老公叫王峰。", "我们有两个孩子。",
    "我住在杭州。", "我换了新工作。", "我在一家医院当护士。", "我的生日是5月4日。",
    "我答应周五给你打电话。", "我讨厌香菜。", "我再也不吃肉了。", "去年我戒烟了。",
]  # fmt: skip
TRIFLES = [
    "I had coffee in the morning.", "Yesterday I watched a movie.",
    "I'm going to grab a coffee now.", "I finally finished my lunch.",
    "I went for a walk today and it was sunny.", "I love that song.", "I really like your idea.",
    "I'm so tired today.", "Yesterday I had pizza with Tom at 8.", "昨天我看了一部电影。",
    "我准备去吃晚饭了。", "我今天去散步了，天气很好。", "我喜欢你的主意！", "我今天好累啊。",
    "最近天气不错，因为没下雨。",
]  # fmt: skip
# Texts that only sound important.
NOT_WEIGHTY = [
    "We ran for cancer awareness.", "I like the Kingkiller Chronicles.",
    "It was a stroke of luck.", "My kids are so excited about summer.", "I hate being late.",
    "最近发生了一些开心的事。",
]  # fmt: skip


@pytest.mark.parametrize("text", VITAL)
def test_health_and_safety_have_the_highest_worth(text: str) -> None:
    assert worth_of(text, named=False) >= 8


@pytest.mark.parametrize("text", LIFE)
def test_family_home_work_promises_and_aversions_have_high_worth(text: str) -> None:
    assert 7 <= worth_of(text, named=False) <= 10


@pytest.mark.parametrize("text", TRIFLES)
def test_trifles_do_not_reach_6(text: str) -> None:
    assert worth_of(text, named=True) < 6


@pytest.mark.parametrize("text", NOT_WEIGHTY)
def test_texts_that_only_sound_important_have_no_high_worth(text: str) -> None:
    assert worth_of(text, named=False) < 7
