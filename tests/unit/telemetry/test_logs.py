from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from pydantic import BaseModel, ValidationError

from memci.telemetry.logs import configure_logs


class Lines(io.StringIO):
    def read_json(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    yield Lines()
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_each_event_is_a_json_line_in_utc_with_bound_values(lines: Lines) -> None:
    configure_logs("info", stream=lines)
    with structlog.contextvars.bound_contextvars(agent_id="alice", job_id="j"):
        structlog.get_logger("memci.lane").info("job done", 名="值")
    (line,) = lines.read_json()
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "job done", "level": "info", "logger": "memci.lane",
        "agent_id": "alice", "job_id": "j", "名": "值",
    }  # fmt: skip


def test_other_libraries_log_the_same_way(lines: Lines) -> None:
    configure_logs("info", stream=lines)
    with structlog.contextvars.bound_contextvars(agent_id="alice"):
        logging.getLogger("celery.worker").warning("lost %s", "it")
        logging.getLogger("celery.worker").debug("not shown")
    (line,) = lines.read_json()
    assert (line["event"], line["level"], line["agent_id"]) == ("lost it", "warning", "alice")


def test_events_below_the_level_are_not_logged(lines: Lines) -> None:
    configure_logs("warning", stream=lines)
    structlog.get_logger("a").info("quiet")
    structlog.get_logger("a").warning("loud")
    assert [line["event"] for line in lines.read_json()] == ["loud"]


def test_a_terminal_gets_text_and_other_streams_get_json(
    lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_logs("info", stream=lines)
    structlog.get_logger("a").info("x")
    assert lines.read_json()
    lines.truncate(0)
    monkeypatch.setattr(lines, "isatty", lambda: True)
    configure_logs("info", stream=lines)
    structlog.get_logger("a").info("x", key=1)
    assert "x" in lines.getvalue()
    assert "key" in lines.getvalue()
    assert "{" not in lines.getvalue()


class Shape(BaseModel):
    number: int


def test_errors_are_logged_without_the_input_that_they_quote(lines: Lines) -> None:
    configure_logs("info", stream=lines)
    secret = "what the user said".upper()  # no line of this file has it in capitals
    try:
        try:
            Shape.model_validate({"number": secret})
        except ValidationError as cause:
            raise RuntimeError("of our own") from cause
    except RuntimeError:
        structlog.get_logger("a").exception("failed")
    (line,) = lines.read_json()
    assert "ValidationError" in line["exception"]
    assert "RuntimeError: of our own" in line["exception"]
    assert "test_logs.py" in line["exception"]
    assert secret not in str(line)


def test_messages_of_psycopg_that_quote_rows_are_not_logged(lines: Lines) -> None:
    configure_logs("debug", stream=lines)
    logging.getLogger("psycopg").warning("error ignored: Key (text)=(%s) exists", "a secret")
    logging.getLogger("psycopg").error("connection lost")
    assert [line["event"] for line in lines.read_json()] == ["connection lost"]
