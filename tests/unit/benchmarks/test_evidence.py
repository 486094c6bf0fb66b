"""Benchmarks count evidence correctly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.evidence import Row, Summary, Variant, share, tokens_needed, with_options, without
from benchmarks.questions import read_exchanges, read_locomo
from memci.domain.search.candidate import Channel, Source
from memci.schemas.reads import ContextRequest, SearchRequest

_SHAPES = (ContextRequest, SearchRequest)


def row(category: int, found: dict[int, float], *, answered: bool | None = None) -> Row:
    answers = None if answered is None else dict.fromkeys(found, answered)
    return Row(category, 0.5, found, answers)


def test_tokens_needed_lie_between_the_budgets_that_were_measured() -> None:
    found = {500: 0.6, 1_000: 0.8, 2_000: 1.0}
    assert tokens_needed(found, 0.9) == pytest.approx(1_500)
    assert tokens_needed(found, 0.8) == pytest.approx(1_000)
    assert tokens_needed(found, 0.3) == pytest.approx(250)
    assert tokens_needed({500: 0.6, 1_000: 0.8}, 0.9) is None


def test_a_summary_has_means_and_the_share_of_complete_evidence() -> None:
    budgets = (500, 1_000, 2_000, 4_000)
    half, whole = dict.fromkeys(budgets, 0.5), dict.fromkeys(budgets, 1.0)
    summary = Summary.of([row(1, half), row(4, whole, answered=True), row(4, half, answered=False)])
    assert summary.questions == 3
    assert summary.found[500] == pytest.approx(2 / 3)
    assert summary.whole[500] == pytest.approx(1 / 3)
    assert summary.answered is not None
    assert summary.answered[500] == pytest.approx(0.5)
    assert Summary.of([row(1, half)]).answered is None
    assert share(frozenset("ab"), frozenset("bc")) == 0.5


def test_a_variant_changes_one_option_of_a_request() -> None:
    request = without("memory", ContextRequest).request(ContextRequest, query="x", budget_tokens=9)
    assert Source.MEMORY not in request.sources
    assert set(request.sources) == set(ContextRequest.model_fields["sources"].default) - {"memory"}
    request = without("dense", ContextRequest).request(SearchRequest, query="x")
    assert Channel.DENSE not in request.channels
    variant = with_options("k=3;recent=0", _SHAPES)
    assert variant.request(ContextRequest, query="x", budget_tokens=9).recent == 0
    assert variant.request(SearchRequest, query="x").k == 3
    # A variant does not change the measured option.
    assert variant.request(SearchRequest, query="x", k=10).k == 10
    assert Variant("default").request(SearchRequest, query="x") == SearchRequest(query="x")
    with pytest.raises(ValueError, match="there is no such channel or source; there are dense"):
        without("smell", ContextRequest)
    with pytest.raises(ValueError, match="requests have no option 'size'"):
        with_options("size=3", _SHAPES)


def test_locomo_is_read_with_irregular_evidence_ids(tmp_path: Path) -> None:
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a hive"},
    ]
    questions = [
        {
            "question": "Who keeps bees?",
            "answer": "Ann",
            "evidence": ["D1:01; D1:2"],
            "category": 1,
        },
        {"question": "Who lies?", "adversarial_answer": "Bob", "evidence": ["D1:1"], "category": 5},
        {"question": "Where?", "answer": "here", "evidence": ["D9:9"], "category": 4},
    ]
    talk = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "c", "conversation": talk, "qa": questions}]))
    (read,) = read_locomo(path)
    (first, second) = read.sessions["session-1"]
    assert (first["name"], first["role"], second["role"]) == ("Ann", "user", "assistant")
    assert second["content"] == "Look! [photo: a hive]"
    assert first["timestamp"].startswith("2023-05-08T13:56")
    (question,) = read.questions
    assert question.evidence == {"D1:1", "D1:2"}


def test_each_exchange_is_a_message_and_each_day_a_session(tmp_path: Path) -> None:
    exchanges = [
        {"id": "D1:1", "date": "2023-04-27", "user": "我叫小雨。", "assistant": "你好!"},
        {"id": "D2:1", "date": "2023-04-28", "user": "我养了一只猫。", "assistant": "真可爱。"},
    ]
    questions = [{"question": "我养了什么?", "evidence": ["D2:1"]}]
    path = tmp_path / "memorybank_cn.json"
    people = [{"user": "小雨", "exchanges": exchanges, "questions": questions}]
    path.write_text(json.dumps(people), encoding="utf-8")
    (read,) = read_exchanges(path)
    assert list(read.sessions) == ["day-2023-04-27", "day-2023-04-28"]
    (message,) = read.sessions["day-2023-04-28"]
    assert (message["id"], message["name"]) == ("D2:1", "小雨")
    assert "猫" in message["content"]
    assert "真可爱" in message["content"]
    assert read.questions[0].evidence == {"D2:1"}
