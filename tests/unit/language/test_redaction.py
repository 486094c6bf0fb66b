"""What placeholders replace, and what they leave, in English and Chinese."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import InvalidInputError
from memci.language.redaction import (
    Redacted,
    Redactor,
    kinds_of,
    placeholders_in,
    redact_message,
)
from memci.message import NewMessage, Role

ALL = kinds_of("all")
VALUES = {
    "email": ["alice@example.com", "a.b+c@mail.example.co.uk", "alice＠example．com"],
    "phone": [
        "+44 20 7946 0958", "0044 20 7946 0958", "(212) 736-5000", "212-736-5000", "13812345678",
        "138 1234 5678", "+8613812345678", "+86 138-1234-5678", "010-62345678",
        "１３８１２３４５６７８",
    ],
    "card": [
        "4111 1111 1111 1111", "4111111111111111", "４１１１１１１１１１１１１１１１",
        "378282246310005", "5555-5555-5555-4444",
    ],
    "iban": ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"],
    "id_card": ["11010519491231002X"],
    "secret": [
        "AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1" * 18, "sk-proj-abcDEF0123456789abcd",
        "glpat-" + "x1" * 10, "xoxb-123456789012-abcdefghij", "sk_live_" + "a1" * 12,
        "AIza" + "B3" * 17 + "c",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "memci_" + "a" * 43,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQ==\n-----END RSA PRIVATE KEY-----",
    ],
}  # fmt: skip
EACH = [(kind, value) for kind, values in VALUES.items() for value in values]
AROUND = [
    "{}", "It is {}.", "call {}, please", "我的是{}，谢谢", "号码：{}号", '{{"x": "{}"}}', "({})",
]  # fmt: skip


def redact(text: str, setting: str = "all") -> str:
    return Redactor(kinds_of(setting)).text(text)


@pytest.mark.parametrize(("kind", "value"), EACH)
@pytest.mark.parametrize("around", AROUND)
def test_a_value_is_replaced_wherever_it_stands(kind: str, value: str, around: str) -> None:
    name = kind.upper()
    assert redact(around.format(value), kind) == around.format(f"[{name}_1]")
    assert redact(around.format(value)) == around.format(f"[{name}_1]")


@pytest.mark.parametrize(("kind", "value"), EACH)
def test_other_kinds_leave_a_value(kind: str, value: str) -> None:
    others = ",".join(each for each in VALUES if each != kind)
    assert redact(f"It is {value}.", others) == f"It is {value}."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password: hunter22", "password: [SECRET_1]"),
        ("my password is hunter22!", "my password is [SECRET_1]"),
        ("密码是abc12345，请保密", "密码是[SECRET_1]，请保密"),
        ('api_key="abc-123-def"', 'api_key="[SECRET_1]"'),
        ("postgres://me:pa55@db/x", "postgres://me:[SECRET_1]@db/x"),
        ("Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer [SECRET_1]"),
    ],
)
def test_a_named_secret_is_replaced(text: str, left: str) -> None:
    assert redact(text, "secret") == left


@pytest.mark.parametrize(
    "text",
    [
        "Order 1234567890 of 2026-03-14 at 10:30:00, invoice 2026031400017, ticket #4821.",
        "Version 1.22.333, build 20260314.5, Python 3.11.7, commit 9fceb02d0ae598e95dc.",
        "It took 1,234,567 ms, epoch 1767225600, in ms 1767225600000, from 10.0.0.1:8000.",
        "uuid 123e4567-e89b-12d3-a456-426614174000, ISBN 978-3-16-148410-0, room 101-202-303.",
        "The password is important, and the secret is safe: tokens are words of a model.",
        "We met the risk-assessment-of-the-whole-department team; sk-learn is a library we like.",
        "Coordinates 52.520008, 13.404954; pi is 3.14159265358979323846; 4111 1111 1111 1112.",
        "订单号 202603140001234，2026年3月14日 10:30，价格 1,299.00 元，共 12345678 件。",
        "他的密码很重要，版本 2.0.1，房间 1203，快递单号 75312345678901。",
        "@alice and @bob said: see a@b, and x @ y.",
    ],
)
def test_ordinary_text_is_left(text: str) -> None:
    assert redact(text) == text


def test_equal_values_have_the_same_number_in_one_message() -> None:
    text = "a@x.org, b@x.org, A@X.org; 138 1234 5678 or 13812345678"
    assert redact(text) == "[EMAIL_1], [EMAIL_2], [EMAIL_1]; [PHONE_1] or [PHONE_1]"


def test_all_parts_of_a_message_but_ids_are_redacted() -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "dial", "arguments": '{"to": 13812345678, "cc": ["a@x.org"]}'},
    }
    message = NewMessage(
        Role.ASSISTANT,
        "to a@x.org",
        id="mine",
        name="b@x.org",
        tool_calls=(call,),
        metadata={"a@x.org": ["b@x.org", 13812345678, True, None, 1.5]},
    )
    redacted, counts = redact_message(message, ALL)
    assert redacted.content == "to [EMAIL_1]"
    assert (redacted.id, redacted.name) == ("mine", "[EMAIL_2]")
    arguments = redacted.tool_calls[0]["function"]["arguments"]
    assert json.loads(arguments) == {"to": "[PHONE_1]", "cc": ["[EMAIL_1]"]}
    assert redacted.metadata == {"[EMAIL_1]": ["[EMAIL_2]", "[PHONE_1]", True, None, 1.5]}
    assert counts == {Redacted.EMAIL: 5, Redacted.PHONE: 2}


def test_a_key_of_json_tells_that_its_value_is_a_secret() -> None:
    redactor = Redactor(ALL)
    assert redactor.value({"password": "hunter2x9"}) == {"password": "[SECRET_1]"}
    assert redactor.value({"token": 12345678, "count": 12}) == {"token": "[SECRET_2]", "count": 12}
    text = redactor.value('{"user": "bo", "password": "hunter2x9"}')
    assert json.loads(text) == {"user": "bo", "password": "[SECRET_1]"}
    assert "a@x.org" not in redactor.value('{"to": "a@x.org", "to": 1}'), "a name occurs twice"


def test_deep_json_is_redacted_as_text() -> None:
    deep = '{"a":' * 500 + '"b@x.org"' + "}" * 500
    assert "x.org" not in Redactor(ALL).value(deep)
    assert Redactor(frozenset()).value(deep) == deep


def test_arguments_without_values_stay_as_they_were_written() -> None:
    for arguments in ('{"a":  1}', "not JSON", '{"a": 1, "a": 2}'):
        call = {"function": {"arguments": arguments}}
        assert Redactor(ALL).tool_call(call) == call


@given(st.lists(st.sampled_from([value for _, value in EACH]) | st.text(max_size=9), max_size=8))
def test_no_value_remains_and_a_second_time_changes_nothing(parts: list[str]) -> None:
    text = " ; ".join(parts)
    left = redact(text)
    assert not any(value in left for _, value in EACH)
    assert redact(left) == left
    assert placeholders_in(left) >= {Redacted(kind) for kind, value in EACH if value in parts}


@given(st.text())
def test_no_kind_leaves_every_text(text: str) -> None:
    assert redact(text, "") == text


def test_a_setting_names_known_kinds() -> None:
    assert MemoryParameters(redact="email,phone").redact == "email,phone"
    for wrong in ("mail", "email;phone", "email,", ","):
        with pytest.raises(InvalidInputError, match="expected some of secret"):
            MemoryParameters(redact=wrong)


HOSTILE = [
    "a@", "a@b.c.", "a.", "1", "1 2 ", "+1 ", "138 ", "(010) ", "4111 ", "DE89 3704 ", "eyJ",
    "sk-a1", "://a:", "password=", "bearer ", "-----BEGIN PRIVATE KEY-----", "ghp_aaa", "-", " ",
    "13812345678 ",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        began = time.thread_time()
        redact(text)
        return time.thread_time() - began

    seconds(1_000)  # imports the libraries
    short, long = (min(seconds(length) for _ in range(2)) for length in (40_000, 160_000))
    assert long < 10 * max(short, 0.01)
