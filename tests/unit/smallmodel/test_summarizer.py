"""What the offline summarizer keeps (R8), within its target length."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.message import Message, Role, note_metadata
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from tests.support.examples import examples

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


def test_decisions_preferences_and_tool_results_are_kept():
    summary = SUMMARIZER.summarize(TALK, "", 130).splitlines()
    assert "user: We decided to keep Postgres." in summary
    assert "Ada: I prefer short answers." in summary
    assert [line for line in summary if line.startswith('ls({"path": "/tmp"}) → ')]
    assert not [line for line in summary if "Hello" in line or "helpful" in line]


def test_with_little_room_the_decision_stays():
    assert SUMMARIZER.summarize(TALK, "", 40) == "user: We decided to keep Postgres."


def test_lines_are_in_the_order_of_the_messages():
    summary = SUMMARIZER.summarize(TALK, "", 2_000)
    places = [summary.index(each) for each in ("Bergen", "Postgres", "ls(", "short answers")]
    assert places == sorted(places)


def test_a_note_of_an_agent_has_no_role():
    note = say("The user likes green tea.", Role.ASSISTANT, metadata=note_metadata())
    summary = SUMMARIZER.summarize([*TALK[:2], note], "", 2_000).splitlines()
    assert summary[-1] == "The user likes green tea."


def test_the_previous_summary_is_continued_without_repetition():
    before = SUMMARIZER.summarize(TALK, "", 2_000)
    after = SUMMARIZER.summarize([say("We agreed on Oslo."), *TALK[1:2]], before, 2_000)
    assert after.count("Postgres") == 1
    assert after.endswith("user: We agreed on Oslo.")
    assert SUMMARIZER.summarize([], before, 2_000) == before


def test_a_chinese_conversation_is_summarised():
    talk = [say("你好！"), say("我们决定把订单服务迁到上海。今天的天气很好。"), say("我不吃辣。")]
    assert SUMMARIZER.summarize(talk, "", 45) == (
        "2026-01-01\n用户：我们决定把订单服务迁到上海。\n用户：我不吃辣。"
    )


@pytest.mark.parametrize(
    "summary", ["2026-01-01", "2026-01-01\nuser: a", "2026-01-01\n2026-01-02\nuser: a"]
)
def test_a_day_without_lines_is_kept(summary: str):
    assert SUMMARIZER.summarize([], summary, 100) == summary


def test_without_text_or_room_the_summary_is_empty():
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


@settings(max_examples=examples(500))
@given(MESSAGES, st.text(max_size=200), st.integers(0, 400))
def test_a_summary_is_never_longer_than_its_target(
    messages: list[Message], previous: str, target: int
):
    summary = SUMMARIZER.summarize(messages, previous, target)
    assert len(summary) <= target
    assert SUMMARIZER.summarize(messages, previous, target) == summary


@pytest.mark.parametrize(
    ("courtesies", "informative"),
    [
        (
            ["Nice to meet you. What are you working on?", "Understood.", "Good.", "Will do.",
             "How can I help you today?", "Hello!"],
            ["Hi Nova, I'm Priya.", "Hello, my name is Ada Berg.", "Good. Never touch the dump."],
        ),
        (
            ["你好林晓！有什么可以帮你的？", "明白。", "好的。", "真好！", "谢谢"],
            ["你好，我叫林晓，在杭州做儿科医生。", "好的，讲座改到12月5日。"],
        ),
    ],
    ids=["en", "zh"],
)  # fmt: skip
def test_courtesy_is_left_out(courtesies: list[str], informative: list[str]):
    assert SUMMARIZER.summarize([say(each) for each in courtesies], "", 500) == ""
    summary = SUMMARIZER.summarize([say(each) for each in (*courtesies, *informative)], "", 800)
    assert len(summary.splitlines()) == 1 + len(informative)
    assert informative[0] in summary


def test_an_introduction_is_kept_in_a_short_summary():
    talk = [say("Hi Nova, I'm Priya."), say("The grass near the harbour is green again this year."),
            say("A boat went by with seven boys on it and a dog.")]  # fmt: skip
    assert "I'm Priya" in SUMMARIZER.summarize(talk, "", 60)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (("The hall has 180 seats.", "Noted: 180 seats."), ("user: ", "assistant: ")),
        (("礼堂有180个座位。", "记住了，一共180个座位。"), ("用户：", "助手：")),
    ],
    ids=["en", "zh"],
)
def test_roles_are_in_the_language_of_the_conversation(
    text: tuple[str, str], labels: tuple[str, str]
):
    talk = [say(text[0]), say(text[1], Role.ASSISTANT)]
    lines = SUMMARIZER.summarize(talk, "", 500).splitlines()
    assert lines == ["2026-01-01", *(a + b for a, b in zip(labels, text, strict=True))]
    again = SUMMARIZER.summarize([say("ok")], "\n".join(lines), 500)
    assert again.splitlines() == lines


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ('{"part": "keel", "price_eur": 184, "note": "' + "lorem ipsum dolor sit amet " * 30 + '"}',
         '"price_eur": 184'),
        ("Lorem ipsum dolor sit amet. " * 20 + "The total is 1,240 euros. " + "Dolor sit. " * 20,
         "The total is 1,240 euros."),
        ("ERROR: value too long at line 1288340\n"
         + "\n".join(f"DETAIL {each}: block {each} skipped after 3 tries" for each in range(60)),
         "ERROR: value too long at line 1288340"),
        ('{"说明": "' + "这里是一段没有内容的说明文字。" * 20 + '", "价格": 184}', '"价格": 184'),
        ("这里是一段没有内容的说明文字。" * 20 + "合计1240元。" + "请稍候再试一下。" * 20,
         "合计1240元。"),
    ],
    ids=["field", "sentence", "error", "field-zh", "sentence-zh"],
)  # fmt: skip
def test_the_line_of_a_tool_call_has_the_important_part_of_its_result(result: str, kept: str):
    called = {"id": "c1", "function": {"name": "ask_price", "arguments": '{"part": "keel"}'}}
    talk = [say(None, Role.ASSISTANT, tool_calls=(called,)),
            say(result, Role.TOOL, tool_call_id="c1")]  # fmt: skip
    line = SUMMARIZER.summarize(talk, "", 500).splitlines()[-1]
    assert line.startswith('ask_price({"part": "keel"}) → ')
    assert kept in line
    assert len(line) <= 160


def test_a_long_sentence_is_summarised_in_neighbouring_clauses():
    text = (
        "Yesterday my uncle Bertil came by the yard, looked at the keel for a long while and told "
        "the old story about the harbour of Marstrand again, where he had sailed as a boy with his "
        "cousins, and how everybody laughed about the 1,240 euros that the harbour master had lost."
    )
    _, *lines = SUMMARIZER.summarize([say(text)], "", 500).splitlines()
    assert [line.removeprefix("user: ").removesuffix(" …") in text for line in lines] == [True] * 2
    assert "1,240 euros" in lines[-1]
    chinese = "他说起了马斯特兰德的港口，" * 20 + "大家都笑了。"
    for line in SUMMARIZER.summarize([say(chinese)], "", 900).splitlines()[1:]:
        assert line.removeprefix("用户：").removesuffix(" …") in chinese
