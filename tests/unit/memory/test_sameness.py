"""What says the same, and what only looks like it (R5)."""

from __future__ import annotations

import pytest

from memci.domain.memory.sameness import same

SAME = [
    ("I bought a new red bicycle yesterday.", "Yesterday I bought a new red bicycle!"),
    ("I'm allergic to peanuts", "I am allergic to peanuts."),
    ("Please remember that my dog is called Rex.", "remember that my dog is called Rex"),
    ("My sister moved to Berlin for her job", "My sister moved to Berlin for her new job"),
    ("The kitchen tap is leaking badly", "THE KITCHEN TAP IS LEAKING BADLY"),
    ("We can't open the garage door", "We cannot open the garage door"),
    ("Tom paid 40 euros for the ticket", "Well, Tom really paid 40 euros for the ticket."),
    ("The report goes to Anna", "the report goes to Anna"),
    ("我昨天买了一辆红色自行车。", "昨天我买了一辆红色的自行车"),
    ("会议室在三楼", "会议室在三楼哦"),
    ("我对花生过敏", "我对花生过敏啊！"),
    ("请把报告发给小王", "把报告发给小王吧"),
]
DIFFERENT = [
    ("The room has 5 seats", "The room has 6 seats"),
    ("The room has five seats", "The room has six seats"),
    ("The room has seats", "The room has 5 seats"),
    ("I met Anna at the zoo", "I met Bob at the zoo"),
    ("I met Anna at the zoo", "I met Anna and Bob at the zoo"),
    ("Tom told Anna to wait", "Anna told Tom to wait"),
    ("the dog chased the cat", "the cat chased the dog"),
    ("I like tea", "I do not like tea"),
    ("I can swim", "I can't swim"),
    ("Nobody likes tea here", "likes tea here"),
    ("The shop is open on Friday", "The shop is open on Monday"),
    ("The shop is open", "The shop is open on Friday"),
    ("Send it from Paris to Rome", "Send it from Rome to Paris"),
    ("I live in Paris", "I lived in Paris"),
    ("He was ill", "He is ill"),
    ("I live in Paris", "You live in Paris"),
    ("Tomorrow I rest and on Friday I work", "On Friday I rest and tomorrow I work"),
    ("The door is open", "The door is closed"),
    ("The meeting is at 10:30", "The meeting is at 11:30"),
    ("It costs $5", "It costs €5"),
    ("I will go to the gym", "I might go to the gym"),
    ("I bought milk", "I bought milk again"),
    ("Is the door locked?", "The door is locked"),
    ("我喜欢茶", "我不喜欢茶"),
    ("明天开会", "后天开会"),
    ("周三交报告", "周四交报告"),
    ("我见了小王", "我见了小李"),
    ("我见了小王", "我见了小王和小李"),
    ("房间有5个座位", "房间有6个座位"),
    ("房间有五个座位", "房间有六个座位"),
    ("把箱子从厨房搬到车库", "把箱子从车库搬到厨房"),
    ("他去过北京", "他没去过北京"),
    ("", ""),
    ("...", "!!!"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same(one: str, other: str):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_what_matters(one: str, other: str):
    assert not same(one, other)
    assert not same(other, one)
