"""Outlines of interactions by the offline summarizer: names, descriptions, lines (P6, P7)."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.pages.interaction_outline import (
    MOST_DESCRIPTION,
    MOST_ENTRY,
    MOST_NAME,
    Outline,
    fit_line,
    is_valid_outline,
)
from memci.domain.pages.page import LONGEST_DESCRIPTION, LONGEST_ENTRY, LONGEST_NAME
from memci.language.detection import Language, language_of
from memci.message import Message, Role
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.examples import examples
from tests.unit.smallmodel.test_summarizer import CALL, say

COUNT = OfflineTokenCounter().count
SUMMARIZER = OfflineSummarizer()


def outline(*messages: Message) -> Outline:
    language = language_of("\n".join(each.text for each in messages))
    return SUMMARIZER.outline(messages, language, COUNT)


def exchange(question: str, answer: str) -> Outline:
    return outline(say(question), say(answer, Role.ASSISTANT, 2))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        (
            "Hello! Hope you are well. Can you find out why the nightly backup fails? See the log.",
            "Can you find out why the nightly backup fails?",
        ),
        (
            "```python\nimport re\n```\nWhy does this drop umlauts in “Müller”?",
            "Why does this drop umlauts in “Müller”?",
        ),
        ("你好！我上周末去了云台山，风景很美。", "我上周末去了云台山，风景很美"),
        ("你好呀。把昨天的销售额按地区汇总，发给王经理。", "把昨天的销售额按地区汇总，发给王经理"),
    ],
)
def test_the_name_is_the_topic_and_no_greeting(question: str, name: str):
    assert exchange(question, "Done.").name == name


def test_after_a_greeting_the_answer_gives_the_name():
    made = exchange("Hi!", "The rollout to Frankfurt starts on Monday at 9:00. Any questions?")
    assert "Frankfurt" in made.name
    assert exchange("Hi!", "Hello!").name == "Hi!"
    assert exchange("你好", "你好！").description == "你好 → 你好！"


@pytest.mark.parametrize(
    ("question", "name", "answer"),
    [
        ("西湖附近有什么好吃的？", None, "人均一百元左右，周末要提前订位。"),
        ("天气怎么样？", None, "明天杭州多云，最高气温二十五度。"),
        ("你好！天气怎么样？", "天气怎么样？", "明天杭州多云，最高气温二十五度。"),
        ("这部电影好看吗", None, "剧情紧凑，演员表演出色。"),
        ("北京", None, "北京明天晴，最高气温十度。"),
        ("Tokyo?", None, "Tokyo has 14 million people."),
        ("fix this: `retrun x`", None, "You misspelt the keyword: it should be `return x`."),
        (
            "fix this:\n```python\nretrun x\n```",
            "fix this: retrun x",
            "You misspelt the keyword: it should be `return x`.",
        ),
        ("```\nx = 1\n```", "x = 1", "That assigns 1 to x."),
    ],
)
def test_a_short_question_gives_the_name(question: str, name: str | None, answer: str):
    name = name or question
    made = exchange(question, answer)
    assert made.name == name
    asked, arrow, result = made.description.partition(" → ")
    assert name in asked
    assert arrow
    assert result.rstrip("。.") in answer


@pytest.mark.parametrize(
    "instruction",
    [
        "继续",
        "好的，接着说",
        "下一个",
        "谢谢",
        "ok, go on",
        "Please continue",
        "1",
        "👍",
    ],
)
def test_after_a_request_to_continue_the_answer_gives_the_name(instruction: str):
    chinese = "已删除三月的旧备份"
    assert exchange(instruction, f"{chinese}。").name == chinese
    english = "I deleted the old backups of March"
    assert exchange(instruction, f"{english}.").name == english


def test_a_question_without_a_topic_is_in_the_description():
    made = exchange("为什么？", "因为磁盘满了，日志写不进去。")
    assert made.name == "因为磁盘满了，日志写不进去"
    assert made.description == "为什么？ → 因为磁盘满了，日志写不进去。"


def test_a_description_has_the_request_and_the_result():
    made = outline(
        say("Which disk is full?"),
        say(None, Role.ASSISTANT, 2, tool_calls=(CALL,)),
        say("sda 40%\nsdb 99%", Role.TOOL, 3, tool_call_id="c1"),
        say("Disk sdb is full: 99 % are used.", Role.ASSISTANT, 4),
    )
    assert made.description == "Which disk is full? → Disk sdb is full: 99 % are used."
    assert made.entries == (
        "user: Which disk is full?",
        'assistant: ls({"path": "/tmp"})',
        "tool: ls → sda 40% sdb 99%",
        "assistant: Disk sdb is full: 99 % are used.",
    )


def test_the_line_of_a_failed_call_has_the_error():
    result = "start\nreading\nERROR: password authentication failed for user backup\nexit 1"
    made = outline(say("Run it."), say(result, Role.TOOL, 2, name="run"))
    assert made.entries[1].startswith("tool: run → ERROR: password authentication failed")


def test_lists_and_headings_are_joined_to_one_line():
    made = exchange("How?", "# Steps\n\n1. **Stop** the server\n2. Copy the disk\n- Start it again")
    assert made.entries[1] == "assistant: Steps; Stop the server; Copy the disk; Start it again"


def test_roles_are_in_the_language_of_the_window():
    made = SUMMARIZER.outline([say("The log?")], Language.CHINESE, COUNT)
    assert made.entries == ("用户：The log?",)


def test_messages_without_text_have_lines():
    made = outline(say(""), say(None, Role.ASSISTANT, 2, tool_calls=({"id": "x"},)))
    assert made.entries == ("user: –", "assistant: tool()")
    assert made.name == made.description == "(nothing was said)"
    made = SUMMARIZER.outline([say(" \n")], Language.CHINESE, COUNT)
    assert (made.name, made.entries) == ("（没有说什么）", ("用户：–",))


def test_a_very_long_message_is_read_at_both_ends():
    middle = "The rows are listed below, and none of them matters. " * 40_000
    made = exchange("Summarize.", f"All rows were read. {middle} The total is 4711 rows.")
    assert COUNT(made.entries[1]) <= MOST_ENTRY


@pytest.mark.parametrize("sign", [*"-=*#._~ ", "- ", "\u3000", "═", "哈"])
@pytest.mark.parametrize(
    ("most", "longest"),
    [(MOST_NAME, LONGEST_NAME), (MOST_DESCRIPTION, LONGEST_DESCRIPTION),
     (MOST_ENTRY, LONGEST_ENTRY), (0, 1)],
)  # fmt: skip
def test_a_row_of_one_character_is_cut_to_the_longest_line(sign: str, most: int, longest: int):
    """A row of 64 or more hyphens is one token."""
    assert len(fit_line(sign * 3_000, most, COUNT)) <= longest


def test_an_outline_that_no_page_can_hold_is_invalid():
    messages = [say("The log?")]
    for outline in (
        Outline("-" * (LONGEST_NAME + 1), "b", ("c",)),
        Outline("a", "-" * (LONGEST_DESCRIPTION + 1), ("c",)),
        Outline("a", "b", ("-" * (LONGEST_ENTRY + 1),)),
        Outline("a", "b", ("c\nd",)),
        Outline("a", "b", ()),
        Outline("", "b", ("c",)),
    ):
        assert not is_valid_outline(outline, messages)
    longest = Outline("-" * LONGEST_NAME, "-" * LONGEST_DESCRIPTION, ("-" * LONGEST_ENTRY,))
    assert is_valid_outline(longest, messages)


_TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            ["Ada moved to Oslo.", "我们决定周四开会。", "why?", "```x = 1```", "1. a\n", "你好！",
             "http://example.com/a/b?c=d", "🙂🙂🙂", "ERROR: no", "\x00", "word " * 50, "字" * 90,
             "<|endoftext|>", "a" * 400, "-" * 300, "=" * 300]
        ), max_size=12,
    ).map(" ".join),
)  # fmt: skip
_MESSAGES = st.lists(
    st.tuples(st.sampled_from([Role.USER, Role.ASSISTANT, Role.TOOL]), _TEXTS),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples(150))
@given(_MESSAGES, st.sampled_from(list(Language)))
def test_outlines_keep_their_limits(turns: list[tuple[Role, str]], language: Language):
    messages = [say(text, role, seq) for seq, (role, text) in enumerate(turns, 1)]
    made = SUMMARIZER.outline(messages, language, COUNT)
    assert is_valid_outline(made, messages)
    assert COUNT(made.name) <= MOST_NAME
    assert COUNT(made.description) <= MOST_DESCRIPTION
    assert all(COUNT(each) <= MOST_ENTRY for each in made.entries)
    assert len(made.name) <= LONGEST_NAME
    assert len(made.description) <= LONGEST_DESCRIPTION
    assert all(len(each) <= LONGEST_ENTRY for each in made.entries)
    assert made == SUMMARIZER.outline(messages, language, COUNT)


def test_outlines_do_not_import_torch():
    code = (
        "import sys\n"
        "from tests.unit.smallmodel.test_outline import exchange\n"
        "exchange('昨天的销售额是多少？', 'Ada sold 3 cars.')\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
