"""Each message is selected once (R14)."""

from __future__ import annotations

import pytest

from memci.domain.search.duplicates import Selection, best_once, new_lines
from memci.message import Role
from tests.support.talk import in_order, keys, memory, message


class TestEachMessageOnce:
    def test_a_memory_with_the_words_of_a_message_replaces_it(self):
        ranked = in_order(memory(1, 1, 2, text="to be or not"), message(2, "or not"), message(3))
        assert keys(best_once(ranked, 5)) == [("memory", 1), ("chat", 3)]

    def test_a_memory_without_the_words_is_replaced_by_all_its_messages(self):
        ranked = in_order(memory(1, 1, 2, text="gist"), message(1), message(2))
        assert keys(best_once(ranked, 5)) == [("chat", 1), ("chat", 2)]

    def test_a_memory_stays_while_one_of_its_messages_is_missing(self):
        ranked = in_order(memory(1, 1, 2, text="gist"), message(1))
        assert keys(best_once(ranked, 5)) == [("memory", 1), ("chat", 1)]

    def test_a_memory_of_selected_messages_is_dropped(self):
        ranked = in_order(message(1), memory(1, 1), memory(2), message(1))
        assert keys(best_once(ranked, 5)) == [("chat", 1), ("memory", 2)]

    def test_what_the_reader_already_has_is_not_selected(self):
        selection = Selection(messages=[message(1, "We meet at eight.")])
        assert selection.new_in(message(1)) is None
        assert selection.new_in(memory(1, 1)) is None
        assert selection.new_in(memory(2, 1, 2)) == "memory 2"

    def test_only_lines_that_the_reader_does_not_have_are_new(self):
        messages = [message(1, "Well, we will meet at eight, I think."), message(9, "Bring boots.")]
        selection = Selection(messages)
        both = memory(1, 1, 2, text="Meet at eight\nBring boots.")
        assert selection.new_in(both) == "Bring boots."
        assert selection.new_in(memory(2, 1, 2, text="Meet at eight.")) is None

    def test_a_message_removes_its_lines_from_a_memory_selected_before(self):
        selection = Selection()
        (first, second) = in_order(memory(1, 1, 2, text="eight\nboots"), message(1, "at eight"))
        assert selection.take(first) == ([], [])
        change = selection.take(second)
        assert change == ([], [first])
        assert selection.entry(first).candidate.text == "boots"
        (third,) = in_order(message(2, "Bring boots."))
        assert selection.take(third) == ([first], [])

    def test_an_entry_selected_again_at_another_length_is_there_once(self):
        selection = Selection()
        (short, first) = in_order(memory(1, 1, 2, text="boots"), message(1, "at eight"))
        longer = short._replace(candidate=memory(1, 1, 2, text="eight\nboots"))
        assert selection.take(short) == selection.take(longer) == ([], [])
        assert list(selection) == [longer]
        assert selection.take(first) == ([], [longer])

    def test_an_added_date_or_name_does_not_make_words_new(self):
        text = "User: I met Ann yesterday (2026-03-01).\nAssistant: How nice!"
        remembered = memory(1, 1, 2, text=text)
        met = message(1, "I met Ann yesterday.", role=Role.USER)
        assert keys(best_once(in_order(remembered, met), 5)) == [("memory", 1)]
        assert Selection(messages=[met]).new_in(remembered) == "Assistant: How nice!"

    def test_an_added_date_or_name_does_not_make_chinese_words_new(self):
        remembered = memory(1, 1, 2, text="用户: 我昨天（2026-03-01）见了王磊。\n助手: 真好！")
        met = message(1, "我昨天见了王磊。", role=Role.USER)
        assert keys(best_once(in_order(remembered, met), 5)) == [("memory", 1)]
        assert Selection(messages=[met]).new_in(remembered) == "助手: 真好！"

    def test_lines_that_compression_joined_are_found_in_their_message(self):
        remembered = memory(1, 1, 2, text="Ann sails. We leave at eight.\nBring boots.")
        sails = message(1, "Ann sails.\nWe all leave at eight.")
        assert Selection(messages=[sails]).new_in(remembered) == "Bring boots."

    def test_the_limit_counts_the_remaining_entries(self):
        ranked = in_order(memory(1, 1, text="gist"), message(1), message(2), message(3))
        assert keys(best_once(ranked, 2)) == [("chat", 1), ("chat", 2)]


@pytest.mark.parametrize(
    ("text", "message_text", "left"),
    [
        ("We meet at eight.", "We meet at eight.", ""),
        ("Meet: eight!", "Well, we MEET, let me see, at eight.", ""),
        ("Eight we meet.", "We meet at eight.", "Eight we meet."),
        ("Ann sails.\nBob rows.", "Bob rows.", "Ann sails."),
        ("Ann\n---\nBob\n===", "Ann.", "Bob\n==="),
        ("Ann sails at eight.", "Ann sails.\nWe leave at eight.", "Ann sails at eight."),
        ("八点渡轮", "明天早上八点坐渡轮去香港。", ""),
        ("渡轮八点\n带靴子", "明天早上八点坐渡轮去香港。带靴子", "渡轮八点"),
        ("---", "Ann.", ""),
    ],
)
def test_new_lines_are_those_that_no_message_has(text: str, message_text: str, left: str):
    assert new_lines(text, [message(1, message_text)]) == left


@pytest.mark.parametrize(
    ("text", "role", "message_text", "left"),
    [
        ("Assistant: It failed.\nTry more.", Role.ASSISTANT, "It failed.", "Assistant: Try more."),
        ("助手：失败了。\n改用文本。", Role.ASSISTANT, "失败了。", "助手：改用文本。"),
        ("User: Hi.\nAssistant: One.\nTwo.", Role.ASSISTANT, "One.", "User: Hi.\nAssistant: Two."),
        ("Assistant: Stays.\nGoes.", Role.ASSISTANT, "Goes.", "Assistant: Stays."),
        ("Note: goes.\nStays.", Role.USER, "Note: goes.", "Stays."),
        # A word before a colon may be a name: its line stays under the speaker.
        ("User: One.\nNote: two.\nStays.", Role.USER, "One. Note: two.", "User: Stays."),
        ("User: One.\nNote: stays.", Role.USER, "One.", "User:\nNote: stays."),
        ("用户：一。\n备注：二。", Role.USER, "一。", "用户：\n备注：二。"),
    ],
)
def test_remaining_lines_keep_their_speaker(text: str, role: Role, message_text: str, left: str):
    assert new_lines(text, [message(1, message_text, role=role)]) == left
