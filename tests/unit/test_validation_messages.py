"""Validation errors are reported once each, in plain words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from memci.schemas.agents import ReplayRequest, SettingsRequest
from memci.schemas.archive import EraseRequest
from memci.schemas.messages import AppendRequest
from memci.schemas.problems import describe_faults
from memci.schemas.reads import ContextRequest, RecallRequest
from memci.validation_messages import expectation


def faults_of(shape: type[BaseModel], body: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        shape.model_validate(body)
    return describe_faults(caught.value, shape)


@pytest.mark.parametrize(
    ("shape", "body", "expected"),
    [
        (RecallRequest, {"keywords": 7.5}, "keywords: expected a list"),
        (RecallRequest, {"keywords": ["a"] * 65}, "keywords: expected at most 64 items"),
        (RecallRequest, {"keywords": [""]}, "keywords[0]: must not be empty"),
        (RecallRequest, {"keywords": [], "depth": 11}, "depth: expected 10 or less"),
        (RecallRequest, {"keywords": [], "depth": "2"}, "depth: expected a whole number"),
        (RecallRequest, {"keywords": [], "limit": 0}, "limit: expected 1 or more"),
        (RecallRequest, {"keywords": [], "format": "xml"},
         "format: expected one of: text, structured"),
        (ContextRequest, {"budget_tokens": 9, "sources": []}, "sources: must not be empty"),
        (ContextRequest, {"budget_tokens": 9, "explain": "yes"}, "explain: expected true or false"),
        (ContextRequest, {"budget_tokens": 9, "filters": 5}, "filters: expected a JSON object"),
        (ContextRequest, {"budget_tokens": 9, "model": "m" * 129},
         "model: expected at most 128 characters"),
        (SettingsRequest, {"decay_rate": "much"}, "decay_rate: expected a number"),
        (SettingsRequest, {"decay_rate": 1.5}, "decay_rate: expected a number above 0 and below 1"),
        (ReplayRequest, [], "request: expected a JSON object"),
        (AppendRequest, {"messages": [" \n"]}, "messages[0]: must say something"),
        (AppendRequest, {"messages": ""}, "messages[0]: must say something"),
        (AppendRequest, {"messages": [{"role": "robot", "content": ""}]},
         "messages[0].role: expected one of: system, user, assistant, tool"),
    ],
)  # fmt: skip
def test_each_error_says_what_was_expected(shape: type[BaseModel], body: Any, expected: str):
    assert faults_of(shape, body) == expected


def test_bad_items_give_no_error_about_their_list():
    errors = faults_of(AppendRequest, {"messages": [{"role": "robot", "content": ""}, 4]})
    assert errors.count("messages:") == 0
    assert errors.count(";") == 1


def test_an_unknown_error_keeps_its_message():
    fault = {"type": "other", "loc": (), "msg": "Value error, No such thing"}
    assert expectation(fault) == "no such thing"


def test_a_word_in_capitals_keeps_them():
    fault = {"type": "url_scheme", "loc": (), "msg": "URL scheme should be 'http' or 'https'"}
    assert expectation(fault) == "URL scheme should be 'http' or 'https'"


@pytest.mark.parametrize(
    ("shape", "body", "expected"),
    [
        (ReplayRequest, {"all": True}, "all: there is no such field; there are "),
        (
            AppendRequest,
            {"messages": [{"role": "user", "content": "a", "text": "b"}]},
            "messages[0].text: there is no such field; there are role, content, id, ",
        ),
        (
            ContextRequest,
            {"filters": {"speaker": "a"}},
            "filters.speaker: there is no such field; there are since, until, roles, ",
        ),
    ],
)
def test_an_unknown_field_is_answered_with_those_that_there_are(shape, body, expected):
    assert faults_of(shape, body).startswith(expected)


def test_a_single_item_stands_for_a_list_of_one():
    (message,) = AppendRequest.model_validate({"messages": "I'm vegetarian"}).messages
    assert (message.role, message.content) == ("user", "I'm vegetarian")
    both = AppendRequest.model_validate(
        {"messages": ["a", {"role": "assistant", "content": "b"}]}
    ).messages
    assert [(each.role, each.content) for each in both] == [("user", "a"), ("assistant", "b")]
    assert RecallRequest.model_validate({"keywords": "Bern"}).keywords == ("Bern",)
    request = ContextRequest.model_validate({"sources": "memory", "filters": {"roles": "user"}})
    assert request.sources == ("memory",)
    assert request.filters.roles == ("user",)
    assert EraseRequest.model_validate({"pins": 3, "message_ids": "m1"}).pins == (3,)
