"""Which of the sentences that a model took for key messages are pinned (R7)."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from memci.domain.pages.key_messages import LONGEST, key_sentences, may_have_keys
from memci.domain.pages.pins import PinKind
from memci.language.sentences import sentence_spans
from memci.message import Message, Role

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULE = "Never commit to the main branch."


def found(content: str) -> list[str]:
    """Return the key sentences if the model takes every sentence for one."""
    message = Message(1, "m", Role.USER, content, NOW)
    read = [(start, stop, PinKind.CONSTRAINT) for start, stop in sentence_spans(content)]
    sentences = key_sentences(message, read)
    assert all(content[each.start : each.end] == each.text for each in sentences)
    return [each.text for each in sentences]


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_only_users_give_key_messages(role: Role):
    assert not may_have_keys(Message(1, "m", role, RULE, NOW))
    assert may_have_keys(Message(1, "m", Role.USER, RULE, NOW))


@pytest.mark.parametrize(
    "material",
    [
        f"```\n{RULE}\n```",
        f"> {RULE}",
        "| Never | commit |",
        '{"rule": "Never commit."}',
        "Never commit " + "to a branch " * (LONGEST // 12),
        '"Never ever commit anything to the main branch."',
        "「绝对不要提交任何东西到主分支」",
    ],
)
def test_material_and_the_words_of_others_are_no_key_messages(material: str):
    assert found(material) == []
    assert found(f"{material}\n{RULE}") == [RULE]


def test_the_middle_of_a_long_message_is_material():
    pasted = "The tenant shall not keep any pets in the flat. " * 60
    assert found(f"{RULE}\n{pasted}\nKeep it short.")[0] == RULE
    clause = "The tenant must never paint the door."
    assert clause not in found(f"{RULE}\n{pasted}{clause} {pasted}")


def test_a_rule_with_a_quoted_term_is_kept_whole():
    for rule in ('Never touch the "billing" table.', "以后请叫我“小明”，并用“中文”回答我。"):
        assert found(rule) == [rule]


def test_long_quotes_are_read_quickly():
    for inside in ("a" * 7_900, "中" * 7 + "!" * 7_900, "a b " * 1_900, '"' * 7_900, "“" * 7_900):
        before = time.process_time()
        assert RULE in found(f'{RULE} "{inside}"')
        assert time.process_time() - before < 1


def test_a_listed_sentence_is_returned_without_its_bullet():
    rules = f"Rules:\n- {RULE}\n2. Always run the tests first."
    assert found(rules) == ["Rules:", RULE, "Always run the tests first."]


def test_a_message_gives_at_most_six_distinct_key_messages():
    rules = [f"Never touch the file number{n}.py again." for n in "abcdefgh"]
    assert len(found("\n".join(rules))) == 6
    assert len(found("\n".join([rules[0], rules[0].upper()]))) == 1
