"""Which sentences are key messages (R7)."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from memci.language.key_messages.detector import LONGEST, key_message_kind, key_sentences
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from tests.support.agent_talk import CHINESE, ENGLISH
from tests.support.everyday_talk import GOALS, NO_KEY_MESSAGES, REQUESTS
from tests.support.key_message_examples import BUDGETS_AND_DEADLINES, REMARKS, STANDING_ORDERS

NOW = datetime(2026, 1, 1, tzinfo=UTC)

SMALL_TALK = (
    "We decided to go camping next weekend.",
    "I prefer tea to coffee, honestly.",
    "Never give up on your dreams!",
    "You must be so proud of her!",
    "Don't worry, it will be fine.",
    "My goal is to run a marathon this year.",
    "Make sure to take care of yourself.",
    "I always walk my dog before work.",
    "I need to buy a new pair of shoes.",
    "Let's go to the beach on Sunday.",
    "We chose an adoption agency last week.",
    "I love spending time with my family.",
    "Should we use Postgres for the database?",
    "I never thought the app would be that good.",
    "我们决定周末去爬山。",
    "我喜欢喝茶，不太喜欢咖啡。",
    "不要放弃，加油！",
    "别担心，一切都会好的。",
    "你一定要来公园走一走。",
    "我的目标是跑完马拉松。",
    "我想买一双新鞋。",
    "要不要用 Redis 做缓存？",
    "你必须照顾好自己。",
)


RULES = (
    ("All endpoints must return JSON.", "constraint"),
    ("The script must not take more than 2 seconds.", "constraint"),
    ("Don\u2019t add new dependencies to the project.", "constraint"),
    ("No external services may be called from the tests.", "constraint"),
    ("Nothing may be written to the production database.", "constraint"),
    ("Keep functions under 30 lines.", "constraint"),
    ("Keep logging minimal in the API.", "constraint"),
    ("We have to support Python 3.9 in the library.", "constraint"),
    ("I can't spend more than $300 on the app.", "constraint"),
    ("I am severely allergic to nuts.", "constraint"),
    ("The team agreed on two-week releases.", "decision"),
    ("I've decided to drop the old schema.", "decision"),
    ("I like my code with type hints everywhere.", "preference"),
    ("I'd rather have one large file than many small files.", "preference"),
    ("我不能用 Docker。", "constraint"),
    ("我的预算最多5000元。", "constraint"),
    ("方案控制在十页以内。", "constraint"),
    ("团队一致决定，接口先不改。", "decision"),
    ("这个方案已经通过评审。", "decision"),
    ("我们决定租下那条船，租金三百欧元，由小李去签合同。", "decision"),
    ("我更喜欢把代码拆成小函数。", "preference"),
    ("我对花生过敏。", "constraint"),
)


@pytest.mark.parametrize("talk", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_key_messages_of_agent_conversations_are_found(talk):
    wanted = [(text, kind) for text, kind in talk if kind]
    detected = [text for text, kind in wanted if key_message_kind(text) == kind]
    assert len(detected) >= 0.9 * len(wanted), [text for text, _ in wanted if text not in detected]


@pytest.mark.parametrize("text", [text for text, kind in (*ENGLISH, *CHINESE) if not kind])
def test_remarks_in_agent_conversations_are_no_key_messages(text):
    assert key_message_kind(text) is None


@pytest.mark.parametrize("text", SMALL_TALK)
def test_small_talk_is_no_key_message(text):
    assert key_message_kind(text) is None


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_is_a_task_with_and_without_a_name(text):
    assert (key_message_kind(text), key_message_kind(text, named=True)) == ("task", "task")


@pytest.mark.parametrize("text", GOALS)
def test_a_goal_is_a_task_unless_the_speaker_has_a_name(text):
    assert (key_message_kind(text), key_message_kind(text, named=True)) == ("task", None)


@pytest.mark.parametrize("text", [*NO_KEY_MESSAGES, *REMARKS])
def test_everyday_sentences_advice_and_stories_are_no_key_messages(text):
    assert (key_message_kind(text), key_message_kind(text, named=True)) == (None, None)


@pytest.mark.parametrize("text", STANDING_ORDERS)
def test_an_order_for_all_answers_is_a_rule_with_and_without_a_name(text):
    assert (key_message_kind(text), key_message_kind(text, named=True)) == (
        "constraint",
        "constraint",
    )


@pytest.mark.parametrize("text", BUDGETS_AND_DEADLINES)
def test_a_budget_or_deadline_is_a_rule_unless_the_speaker_has_a_name(text):
    assert (key_message_kind(text), key_message_kind(text, named=True)) == ("constraint", None)


@pytest.mark.parametrize(
    "text", ["一律始终" * 60, "以后" + "要" * 230, "from now on " * 19, "so " * 79]
)
def test_repeated_first_words_of_an_order_are_read_quickly(text):
    before = time.process_time()
    assert key_message_kind(text) is None
    assert time.process_time() - before < 0.2


@pytest.mark.parametrize(("text", "kind"), RULES)
def test_rules_decisions_and_preferences_count_with_and_without_a_name(text, kind):
    assert (key_message_kind(text), key_message_kind(text, named=True)) == (kind, kind)


def test_a_goal_in_a_message_with_a_name_is_no_task():
    text = "We need a dashboard for the sales team. Help me write a report on it."
    assert found(text) == [
        ("task", "We need a dashboard for the sales team."),
        ("task", "Help me write a report on it."),
    ]
    assert found(text, name="Ann") == [("task", "Help me write a report on it.")]


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_only_users_give_key_messages(role):
    assert found("Never commit to the main branch.", role) == []


@pytest.mark.parametrize(
    "material",
    [
        "```\nNever commit to the main branch.\n```",
        "> Never commit to the main branch.",
        "| Never commit to the main branch. |",
        "Never commit to the main branch" + " of this repository" * (LONGEST // 19) + ".",
    ],
)
def test_code_quotes_tables_and_long_sentences_are_skipped(material):
    assert found(material) == []


@pytest.mark.parametrize(
    "text",
    [
        '"You must use Postgres only."',
        'My boss wrote: "We must ship the app by Friday. All tests must pass. Never deploy."',
        "“You must use Postgres only.”",
        "The wiki says «All endpoints must return JSON», which I never understood.",
        "老板说：「数据库必须用 Postgres。所有接口都必须返回 JSON。」",
        "文档里写着“所有接口的响应时间不超过200毫秒”。",
        'He said "never commit to the main branch" and left.',
        'She said "Please do as I say.\nNever push to the main branch without a review." and left.',
        "Don't order anything yet.",
        "Don't send any more examples, thanks.",
        "Don't accept any of these changes.",
    ],
)
def test_quoted_and_temporary_orders_are_no_rules(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('Never touch the "billing" table in production.', "constraint"),
        ("以后请叫我“小明”，并用“中文”回答我。", "preference"),
        ('Never write "to be done by somebody later" into the code.', "constraint"),
        ('All 5" and 6" tests must pass on the server.', "constraint"),
        ('The 24" screen must run the app at 60 fps and the 27" one too.', "constraint"),
    ],
)
def test_a_rule_with_a_quoted_term_holds_and_is_kept_whole(text, kind):
    assert found(text) == [(kind, text)]


@pytest.mark.parametrize(
    "text",
    [
        "Never book anything on a Sunday.",
        "Please don't schedule meetings before ten in the morning.",
        "Don't ever share any details with the landlord.",
    ],
)
def test_a_ban_on_arrangements_is_a_constraint(text):
    assert found(text) == found(text, name="Ann") == [("constraint", text)]


def test_long_quotes_are_read_quickly():
    for inside in ("a" * 7_900, "中" * 7 + "!" * 7_900, "a b " * 1_900, '"' * 7_900, "“" * 7_900):
        before = time.process_time()
        assert found(f'Never commit to the main branch. "{inside}"') != []
        assert time.process_time() - before < 1


def test_a_listed_sentence_is_returned_without_its_bullet():
    rules = "Rules:\n- Never commit to the main branch.\n2. Always run the tests first."
    assert [text for _, text in found(rules)] == [
        "Never commit to the main branch.",
        "Always run the tests first.",
    ]


def test_a_message_gives_at_most_six_distinct_key_messages():
    rules = [f"Never touch the file number{n}.py again." for n in "abcdefgh"]
    assert len(found("\n".join(rules))) == 6
    assert len(found("\n".join([rules[0], rules[0].upper()]))) == 1


def found(content: str, role: Role = Role.USER, name: str | None = None) -> list[tuple[str, str]]:
    message = Message(1, "m", role, content, NOW, name=name)
    sentences = key_sentences(message, sentence_spans)
    assert all(content[each.start : each.end] == each.text for each in sentences)
    return [(each.kind.value, each.text) for each in sentences]
