"""Counting tokens, cutting conversations into interactions, and comparing lists."""

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


def said(seq: int, role: Role, text: str | None = "x", **fields: Any) -> Message:
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

    def test_what_does_not_fit_is_passed_over(self):
        assert fitting(["aaaa", "bbbbbbbb", "cc"], 8, len, joint="--") == [0, 2]
        assert fitting(["aaaa", "bb"], None, len, joint="--") == [0, 1]
        assert fitting(["aaaa"], 3, len, joint="--") == []

    def test_the_whole_is_counted_not_its_pieces(self):
        def sticky(text: str) -> int:
            return len(text) + 6 * text.count("a-b")

        assert fitting(["a", "b", "cccccccc"], 8, sticky, joint="-") == [0]


class TestInteractions:
    def test_each_begins_with_the_user(self):
        roles = [Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER, Role.USER]
        found = [said(seq, role) for seq, role in enumerate(roles, start=1)]
        assert shape(found) == [[[1]], [[2], [3]], [[4]], [[5]]]
        assert [each.answered for each in interactions(found)] == [True, True, False, False]

    def test_a_call_and_its_results_are_one(self):
        other = {**CALL, "id": "c2"}
        found = [
            said(1, Role.USER),
            said(2, Role.ASSISTANT, None, tool_calls=(CALL, other)),
            said(3, Role.TOOL, tool_call_id="c2"),
            said(4, Role.TOOL, tool_call_id="c1"),
        ]
        assert shape(found) == [[[1], [2, 3, 4]]]
        (one,) = interactions(found)
        assert not one.answered
        assert [each.seq for each in one.without_tools().messages] == [1]

    @pytest.mark.parametrize("nothing", ["", " \n\t", "\u3000", None])
    @pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.SYSTEM])
    def test_a_turn_without_words_is_left_out(self, role: Role, nothing: str | None):
        """Several chat APIs refuse a message without content."""
        found = [said(1, Role.USER), said(2, Role.ASSISTANT), said(3, role, nothing)]
        assert shape(found) == [[[1], [2]]]
        assert units_of(found) == (((found[0],), (found[1],)), ())
        assert shape(found[2:]) == []

    def test_calls_need_no_words_and_results_may_be_empty(self):
        found = [
            said(1, Role.USER, ""),
            said(2, Role.ASSISTANT, "", tool_calls=(CALL,)),
            said(3, Role.TOOL, "", tool_call_id="c1"),
        ]
        assert shape(found) == [[[2, 3]]]

    def test_a_call_without_its_result_and_a_result_without_its_call_are_left_out(self):
        found = [
            said(1, Role.USER),
            said(2, Role.ASSISTANT, "looking", tool_calls=(CALL,)),
            said(3, Role.USER),
            said(4, Role.TOOL, tool_call_id="c1"),
        ]
        assert shape(found) == [[[1]], [[3]]]

    def test_an_id_may_be_used_again(self):
        found = [
            said(1, Role.ASSISTANT, None, tool_calls=(CALL,)),
            said(2, Role.TOOL, tool_call_id="c1"),
            said(3, Role.ASSISTANT, None, tool_calls=(CALL,)),
            said(4, Role.TOOL, tool_call_id="c1"),
            said(5, Role.TOOL, tool_call_id="c1"),
        ]
        assert shape(found) == [[[1, 2], [3, 4]]]


class TestStablePrefix:
    def test_it_is_the_bytes_of_the_pieces_that_are_the_same(self):
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

    def test_a_question_repeats_no_term(self):
        assert question_terms(["a", "b", "a"]) == ["a", "b"]
        assert len(question_terms([str(number) for number in range(9_999)])) == 512

    @pytest.mark.parametrize(
        ("terms", "asked"),
        [
            (["冷柜", "柜什", "什么", "么时", "时候", "候坏", "坏的"], ["冷柜", "候坏", "坏的"]),
            (["你好", "请问", "陈立", "立呢"], ["陈立"]),
            (["你们", "是什", "什么"], ["你们", "是什", "什么"]),
            (["什", "时候表", "what"], ["什", "时候表", "what"]),
        ],
    )
    def test_what_only_asks_is_asked_for_where_there_is_nothing_else(
        self, terms: list[str], asked: list[str]
    ) -> None:
        assert question_terms(terms) == asked
