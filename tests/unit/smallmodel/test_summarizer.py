"""What the offline summarizer keeps (R8), and the law of its length."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.note import note_metadata
from memci.domain.message import Message, Role
from memci.smallmodel.offline.summarizer import OfflineSummarizer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SUMMARIZER = OfflineSummarizer()


def say(text: str | None, role: Role = Role.USER, seq: int = 1, **more: object) -> Message:
    return Message(seq, f"m{seq}", role, text, NOW, **more)  # type: ignore[arg-type]


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/tmp"}'}}
TALK = [
    say("Hello! The weather in Bergen is grey again and it rains most of the day."),
    say("We decided to keep Postgres. The grass is green near the old harbour."),
    say(None, Role.ASSISTANT, tool_calls=(CALL,)),
    say("a.txt\nb.txt\nc.txt", Role.TOOL, tool_call_id="c1"),
    say("I prefer short answers.", name="Ada"),
    say("You are a helpful assistant.", Role.SYSTEM),
]


def test_decisions_wishes_and_a_line_for_each_tool_result_are_kept():
    summary = SUMMARIZER.summarize(TALK, "", 130).splitlines()
    assert "user: We decided to keep Postgres." in summary
    assert "Ada: I prefer short answers." in summary
    assert [line for line in summary if line.startswith('ls({"path": "/tmp"}) → ')]
    assert not [line for line in summary if "Hello" in line or "helpful" in line]


def test_with_little_room_the_decision_stays():
    assert SUMMARIZER.summarize(TALK, "", 40) == "user: We decided to keep Postgres."


def test_lines_stand_in_the_order_in_which_they_were_said():
    summary = SUMMARIZER.summarize(TALK, "", 2_000)
    places = [summary.index(each) for each in ("Bergen", "Postgres", "ls(", "short answers")]
    assert places == sorted(places)


def test_what_an_agent_noted_is_no_line_of_the_talk():
    note = say("The user likes green tea.", Role.ASSISTANT, metadata=note_metadata())
    summary = SUMMARIZER.summarize([*TALK[:2], note], "", 2_000).splitlines()
    assert summary[-1] == "The user likes green tea."


def test_the_summary_before_is_gone_on_with_and_not_repeated():
    before = SUMMARIZER.summarize(TALK, "", 2_000)
    after = SUMMARIZER.summarize([say("We agreed on Oslo."), *TALK[1:2]], before, 2_000)
    assert after.count("Postgres") == 1
    assert after.endswith("user: We agreed on Oslo.")
    assert SUMMARIZER.summarize([], before, 2_000) == before


def test_chinese():
    talk = [say("你好！"), say("我们决定把订单服务迁到上海。今天的天气很好。"), say("我不吃辣。")]
    assert SUMMARIZER.summarize(talk, "", 45) == (
        "2026-01-01\n用户：我们决定把订单服务迁到上海。\n用户：我不吃辣。"
    )


@pytest.mark.parametrize(
    "summary", ["2026-01-01", "2026-01-01\nuser: a", "2026-01-01\n2026-01-02\nuser: a"]
)
def test_a_day_of_which_nothing_else_is_left_stays(summary: str):
    assert SUMMARIZER.summarize([], summary, 100) == summary


def test_nothing_to_sum_up():
    assert SUMMARIZER.summarize([], "", 100) == ""
    assert SUMMARIZER.summarize([say(None), say("  ")], "", 100) == ""
    assert SUMMARIZER.summarize(TALK, "", 0) == ""


MESSAGES = st.lists(
    st.builds(
        say,
        st.one_of(st.none(), st.text(max_size=300), st.sampled_from([m.text for m in TALK])),
        st.sampled_from(list(Role)),
    ),
    max_size=8,
)


@settings(max_examples=500, deadline=None)
@given(MESSAGES, st.text(max_size=200), st.integers(0, 400))
def test_a_summary_is_never_longer_than_it_may_be(
    messages: list[Message], previous: str, target: int
):
    summary = SUMMARIZER.summarize(messages, previous, target)
    assert len(summary) <= target
    assert SUMMARIZER.summarize(messages, previous, target) == summary
