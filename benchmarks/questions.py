"""Conversations as messages, and questions with the messages that answer them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"
# Multi-hop, temporal, open, single-hop. The fifth kind has no answer in the text.
_SCORED = frozenset((1, 2, 3, 4))
_ONE_PLACE = 4
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``evidence`` are ids of messages."""

    text: str
    answer: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """A long conversation: the messages of each session, as the API takes them."""

    id: str
    sessions: dict[str, list[dict[str, Any]]]
    questions: list[Question]


def read_locomo(path: Path) -> list[Talk]:
    """Read LoCoMo's file; the caption of a shared photo counts as spoken text."""
    return [_talk(each) for each in json.loads(path.read_text("utf-8"))]


def read_exchanges(path: Path) -> list[Talk]:
    """Read MemoryBank's Chinese exchanges: each is one message, each day is a session."""
    return [
        _exchanges(f"exchanges-{number}", each)
        for number, each in enumerate(json.loads(path.read_text("utf-8")))
    ]


def _exchanges(name: str, source: dict[str, Any]) -> Talk:
    days: dict[str, list[dict[str, Any]]] = {}
    for each in source["exchanges"]:
        began = datetime.fromisoformat(each["date"]).replace(hour=12, tzinfo=UTC)
        day = days.setdefault(f"day-{each['date']}", [])
        day.append(
            {
                "id": each["id"],
                "role": "user",
                "name": source["user"],
                "content": f"{each['user']}\nAI: {each['assistant']}",
                "timestamp": (began + timedelta(minutes=len(day))).isoformat(),
            }
        )
    questions = [
        Question(asked["question"], "", _ONE_PLACE, frozenset(asked["evidence"]))
        for asked in source["questions"]
    ]
    return Talk(name, days, questions)


def _talk(sample: dict[str, Any]) -> Talk:
    source = sample["conversation"]
    numbers = sorted(int(key[8:]) for key in source if re.fullmatch(r"session_\d+", key))
    sessions = {f"session-{number}": _session(source, number) for number in numbers}
    known = {each["id"] for messages in sessions.values() for each in messages}
    questions = [
        Question(
            asked["question"],
            str(asked.get("answer", "")),
            asked["category"],
            frozenset(_ids(asked["evidence"]) & known),
        )
        for asked in sample["qa"]
        if asked["category"] in _SCORED
    ]
    return Talk(sample["sample_id"], sessions, [each for each in questions if each.evidence])


def _session(source: dict[str, Any], number: int) -> list[dict[str, Any]]:
    began = datetime.strptime(source[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
    first = source[f"session_{number}"][0]["speaker"] if source[f"session_{number}"] else ""
    return [
        {
            "id": turn["dia_id"],
            "role": "user" if turn["speaker"] == first else "assistant",
            "name": turn["speaker"],
            "content": _said(turn),
            "timestamp": (began + timedelta(seconds=30 * place)).isoformat(),
        }
        for place, turn in enumerate(source[f"session_{number}"])
    ]


def _said(turn: dict[str, Any]) -> str:
    text, caption = turn["text"].strip(), turn.get("blip_caption")
    return f"{text} [photo: {caption.strip()}]" if caption else text


def _ids(evidence: list[str]) -> set[str]:
    return {f"D{int(s)}:{int(n)}" for each in evidence for s, n in _EVIDENCE.findall(each)}
