"""Which sentences must stay in sight (R7)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.domain.context.key_messages import LONGEST, key_sentences, kind_of
from memci.domain.message import Message, Role
from memci.smallmodel.offline.sentences import sentence_spans
from tests.support.agent_talk import CHINESE, ENGLISH

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


@pytest.mark.parametrize("talk", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_what_is_said_to_who_works_is_found(talk):
    wanted = [(said, kind) for said, kind in talk if kind]
    found = [said for said, kind in wanted if kind_of(said) == kind]
    assert len(found) >= 0.9 * len(wanted), [said for said, _ in wanted if said not in found]


@pytest.mark.parametrize("said", [said for said, kind in (*ENGLISH, *CHINESE) if not kind])
def test_what_is_said_in_passing_is_not(said):
    assert kind_of(said) is None


@pytest.mark.parametrize("said", SMALL_TALK)
def test_small_talk_is_not(said):
    assert kind_of(said) is None


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_users_alone_are_listened_to(role):
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
def test_material_is_passed_over(material):
    assert found(material) == []


def test_a_listed_sentence_is_without_its_mark():
    said = "Rules:\n- Never commit to the main branch.\n2. Always run the tests first."
    assert [text for _, text in found(said)] == [
        "Never commit to the main branch.",
        "Always run the tests first.",
    ]


def test_one_message_gives_six_at_most_and_none_twice():
    rules = [f"Never touch the file number{n}.py again." for n in "abcdefgh"]
    assert len(found("\n".join(rules))) == 6
    assert len(found("\n".join([rules[0], rules[0].upper()]))) == 1


def found(content: str, role: Role = Role.USER) -> list[tuple[str, str]]:
    message = Message(1, "m", role, content, NOW)
    sentences = key_sentences(message, sentence_spans)
    assert all(content[each.start : each.end] == each.text for each in sentences)
    return [(each.kind.value, each.text) for each in sentences]
