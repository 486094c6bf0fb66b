"""Token counts, interactions, stable prefixes of message lists, and BM25 scores."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memci.domain.context.message_list import pieces, stable_prefix
from memci.domain.search.bm25 import Collected, question_terms, score, scored_terms
from memci.domain.session.interaction import interactions, units_of
from memci.domain.token_counts import Utterance, fitting, tokenizer_of
from memci.message import Message, Role

AT = datetime(2026, 3, 2, tzinfo=UTC)
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def message(seq: int, role: Role, text: str | None = "x", **fields: Any) -> Message:
    return Message(seq, f"m{seq}", role, text, AT, **fields)


def shape(messages: list[Message]) -> list[list[list[int]]]:
    return [[[each.seq for each in unit] for unit in one.units] for one in interactions(messages)]


class TestTokens:
    def test_a_message_costs_its_content_its_calls_and_four(self):
        called = Utterance(Role.ASSISTANT, None, tool_calls=(CALL,))
        assert called.text == (
            '[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]'
        )
        assert called.tokens(len) == len(called.text) + 4
        assert Utterance(Role.USER, "你好").tokens(len) == 6

    @pytest.mark.parametrize(
        ("model", "tokenizer"),
        [
            (None, "cl100k_base"),
            ("gpt-4", "cl100k_base"),
            ("openai/gpt-3.5-turbo", "cl100k_base"),
            ("GPT-4o-mini", "o200k_base"),
            ("gpt-4.1", "o200k_base"),
            ("gpt-5", "o200k_base"),
            ("ollama/llama3", "o200k_base"),
            ("cl100k_base", "cl100k_base"),
        ],
    )
    def test_models_have_their_tokenizers(self, model: str | None, tokenizer: str):
        assert tokenizer_of(model, default="cl100k_base") == tokenizer

    def test_texts_that_do_not_fit_are_skipped(self):
        assert fitting(["aaaa", "bbbbbbbb", "cc"], 8, len, joint="--") == [0, 2]
        assert fitting(["aaaa", "bb"], None, len, joint="--") == [0, 1]
        assert fitting(["aaaa"], 3, len, joint="--") == []

    def test_the_joined_text_is_counted_and_not_its_pieces(self):
        def sticky(text: str) -> int:
            return len(text) + 6 * text.count("a-b")

        assert fitting(["a", "b", "cccccccc"], 8, sticky, joint="-") == [0]


class TestInteractions:
    def test_each_interaction_begins_with_a_user_message(self):
        roles = [Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER, Role.USER]
        found = [message(seq, role) for seq, role in enumerate(roles, start=1)]
        assert shape(found) == [[[1]], [[2], [3]], [[4]], [[5]]]
        assert [each.answered for each in interactions(found)] == [True, True, False, False]

    def test_a_call_and_its_results_are_one_unit(self):
        other = {**CALL, "id": "c2"}
        found = [
            message(1, Role.USER),
            message(2, Role.ASSISTANT, None, tool_calls=(CALL, other)),
            message(3, Role.TOOL, tool_call_id="c2"),
            message(4, Role.TOOL, tool_call_id="c1"),
        ]
        assert shape(found) == [[[1], [2, 3, 4]]]
        (one,) = interactions(found)
        assert not one.answered
        assert [each.seq for each in one.without_tools().messages] == [1]

    @pytest.mark.parametrize("text", ["", " \n\t", "\u3000", None])
    @pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.SYSTEM])
    def test_a_message_without_words_is_left_out(self, role: Role, text: str | None):
        """Several chat APIs refuse a message without content."""
        found = [message(1, Role.USER), message(2, Role.ASSISTANT), message(3, role, text)]
        assert shape(found) == [[[1], [2]]]
        assert units_of(found) == (((found[0],), (found[1],)), ())
        assert shape(found[2:]) == []

    def test_calls_and_results_without_words_are_kept(self):
        found = [
            message(1, Role.USER, ""),
            message(2, Role.ASSISTANT, "", tool_calls=(CALL,)),
            message(3, Role.TOOL, "", tool_call_id="c1"),
        ]
        assert shape(found) == [[[2, 3]]]

    def test_a_call_without_its_result_and_a_result_without_its_call_are_left_out(self):
        found = [
            message(1, Role.USER),
            message(2, Role.ASSISTANT, "looking", tool_calls=(CALL,)),
            message(3, Role.USER),
            message(4, Role.TOOL, tool_call_id="c1"),
        ]
        assert shape(found) == [[[1]], [[3]]]

    def test_a_call_id_may_be_used_again(self):
        found = [
            message(1, Role.ASSISTANT, None, tool_calls=(CALL,)),
            message(2, Role.TOOL, tool_call_id="c1"),
            message(3, Role.ASSISTANT, None, tool_calls=(CALL,)),
            message(4, Role.TOOL, tool_call_id="c1"),
            message(5, Role.TOOL, tool_call_id="c1"),
        ]
        assert shape(found) == [[[1, 2], [3, 4]]]


class TestStablePrefix:
    def test_it_is_the_number_of_bytes_of_the_equal_first_pieces(self):
        before = pieces([("0:system", "be brief"), ("1:user", "你好")])
        assert stable_prefix(before, before) == 8 + 6
        assert stable_prefix(before, pieces([("0:system", "be brief"), ("1:user", "hi")])) == 8
        assert stable_prefix(before, pieces([("0:user", "be brief")])) == 0
        assert stable_prefix([], before) == 0


class TestBm25:
    collected = Collected(texts=100, mean_length=4, frequency={"the": 90, "ferry": 2})

    def test_rare_terms_weigh_more_and_long_texts_less(self):
        def of(*text: str) -> float:
            return score(text, {"the", "ferry"}, self.collected)

        assert of("ferry") > of("the") > 0
        assert of("ferry", "x") > of("ferry", "x", "y", "z", "w")
        assert of("ferry", "ferry") > of("ferry")
        assert of("boat") == 0

    def test_the_rarest_terms_of_a_long_question_are_scored(self):
        many = [f"term{number}" for number in range(100)]
        common = Collected(100, 4, {term: float(place) for place, term in enumerate(many)})
        assert scored_terms(many, common) == set(many[:64])

    def test_terms_of_a_question_are_distinct_and_bounded(self):
        assert question_terms(["a", "b", "a"]) == ["a", "b"]
        assert len(question_terms([str(number) for number in range(9_999)])) == 512

    @pytest.mark.parametrize(
        ("terms", "expected"),
        [
            (["冷柜", "柜什", "什么", "么时", "时候", "候坏", "坏的"], ["冷柜", "候坏", "坏的"]),
            (["你好", "请问", "陈立", "立呢"], ["陈立"]),
            (["你们", "是什", "什么"], ["你们", "是什", "什么"]),
            (["什", "时候表", "what"], ["什", "时候表", "what"]),
        ],
    )
    def test_question_words_are_terms_only_if_there_are_no_others(
        self, terms: list[str], expected: list[str]
    ) -> None:
        assert question_terms(terms) == expected
