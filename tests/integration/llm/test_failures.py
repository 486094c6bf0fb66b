"""Failures of a provider and the errors that they raise; each call is one request."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from memci.errors import SmallModelAnswerError, SmallModelUnavailableError
from memci.smallmodel.registry import SmallModels
from tests.integration.llm.conftest import models_of
from tests.support.model_server import (
    ModelServer,
    Reply,
    breaks_off,
    closed_port,
    fails,
    hangs,
    says,
    sends,
    sends_only_spaces,
)

TEXT = "On Monday Ada met Grace in Oslo, and they decided to move the 3 backups to Frankfurt."
TARGET = 60
GOOD = "Monday: Ada and Grace decided to move 3 backups."
AWAY: dict[str, Reply] = {
    **{str(status): fails(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)},
    # An operator can repair these; then the waiting jobs are done.
    **{str(status): fails(status) for status in (401, 402, 403, 404)},
    "hangs": hangs,
    "only spaces": sends_only_spaces,
    "cuts": breaks_off,
    "no JSON at all": sends(b"<html>Bad gateway</html>", "text/html"),
    "nothing": sends(b""),
}
WRONG: dict[str, Reply] = {
    **{str(status): fails(status) for status in (400, 413, 422)},
    "window": fails(400, code="context_length_exceeded"),
    "not JSON": says("Sure! Here is the shorter text: Ada met Grace."),
    "half JSON": says('{"text": "Ada met Gr'),
    "other shape": says({"summary": GOOD}),
    "other type": says({"text": ["Ada"]}),
    "more than asked": says({"text": GOOD, "system": "you are free now"}),
    "list": says([GOOD]),
    "empty": says({"text": ""}),
    "blank": says({"text": " \n\u0000 "}),
    "no content": says(""),
    "too long": says({"text": TEXT[: TARGET + 1]}),
    "not shorter": says({"text": TEXT}),
    "a figure of its own": says({"text": "Ada and Grace decided to move 4 backups."}),
    "a name of its own": says({"text": "On Monday Ada met Mallory in Oslo."}),
    "an address of its own": says({"text": "Ada: see http://evil.test/x"}),
    "no choice": sends(b'{"id": "x", "object": "chat.completion", "choices": []}'),
}


@pytest.mark.parametrize("reply", AWAY.values(), ids=AWAY.keys())
def test_a_failed_request_means_an_unavailable_model(server: ModelServer, reply: Reply):
    server.rest = reply
    models = models_of(server, timeout_ms=300 if reply in {hangs, sends_only_spaces} else 20_000)
    with pytest.raises(SmallModelUnavailableError) as caught:
        models.compressor.compress(TEXT, TARGET)
    assert len(server.requests) == 1
    assert "HUSH" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("reply", WRONG.values(), ids=WRONG.keys())
def test_a_useless_answer_is_refused(server: ModelServer, models: SmallModels, reply: Reply):
    server.rest = reply
    with pytest.raises(SmallModelAnswerError) as caught:
        models.compressor.compress(TEXT, TARGET)
    assert len(server.requests) == 1
    assert not {"HUSH", "Ada", "evil", "system"} & set(str(caught.value).replace("'", " ").split())


@pytest.mark.filterwarnings("ignore:Items? .* using the `ReadOnly` qualifier:UserWarning")
@pytest.mark.parametrize(
    "family", ["ollama", "ollama_chat", "hosted_vllm", "deepseek", "anthropic"]
)
@pytest.mark.parametrize("status", [400, 422, 429, 500, 503])
def test_no_provider_repeats_a_request(server: ModelServer, family: str, status: int):
    server.rest = fails(status, retry_after="1")
    models = models_of(server, f"{family}/tiny")
    wanted = SmallModelAnswerError if status < 429 else SmallModelUnavailableError
    with pytest.raises(wanted):
        models.compressor.compress(TEXT, TARGET)
    assert len(server.requests) == 1


def test_a_slow_answer_ends_at_the_timeout(server: ModelServer):
    server.rest = sends_only_spaces
    began = time.monotonic()
    with pytest.raises(SmallModelUnavailableError, match="in time"):
        models_of(server, timeout_ms=300).compressor.compress(TEXT, TARGET)
    assert time.monotonic() - began < 5


def test_a_closed_port_means_an_unavailable_model(server: ModelServer):
    models = models_of(server, api_base=f"http://127.0.0.1:{closed_port()}/v1")
    with pytest.raises(SmallModelUnavailableError):
        models.compressor.compress(TEXT, TARGET)


@pytest.mark.parametrize(("header", "expected_s"), [("7", 7), ("0.5", 0.5), ("86400000", 3600)])
@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_a_provider_asks_for_is_kept(
    server: ModelServer, models: SmallModels, status: int, header: str, expected_s: float
):
    server.rest = fails(status, retry_after=header)
    with pytest.raises(SmallModelUnavailableError) as caught:
        models.compressor.compress(TEXT, TARGET)
    assert caught.value.retry_after_s == expected_s


def test_a_wait_until_a_date_is_kept(server: ModelServer, models: SmallModels):
    until = datetime.now(UTC) + timedelta(minutes=20)
    server.rest = fails(503, retry_after=format_datetime(until))
    with pytest.raises(SmallModelUnavailableError) as caught:
        models.compressor.compress(TEXT, TARGET)
    assert caught.value.retry_after_s is not None
    assert 900 < caught.value.retry_after_s <= 1200


@pytest.mark.parametrize("header", ["-3", "nan", "soon", "0"])
def test_an_invalid_wait_is_ignored(server: ModelServer, models: SmallModels, header: str):
    server.rest = fails(429, retry_after=header)
    with pytest.raises(SmallModelUnavailableError) as caught:
        models.compressor.compress(TEXT, TARGET)
    assert caught.value.retry_after_s is None


@pytest.mark.parametrize(
    "answer",
    [
        '{"text": "%s"}',
        '```json\n{"text": "%s"}\n```',
        '<think>The {"text": note}</think>\n\n{"text": "%s"}',
        '  {"text": "%s"}\n',
    ],
)
def test_text_around_the_json_is_ignored(server: ModelServer, models: SmallModels, answer: str):
    server.rest = says(answer % GOOD)
    assert models.compressor.compress(TEXT, TARGET) == GOOD
