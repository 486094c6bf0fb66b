"""The two conversations, and what is asked about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Story:
    """A conversation of one agent, and words for the three kinds of recall."""

    agent: str
    language: str
    file: str
    watched: str  # a word of the memory that is watched as it shrinks
    found: str
    forgotten: str  # of the oldest small talk: it goes first
    never: str
    system: str
    question: str

    def days(self) -> Mapping[str, list[dict[str, Any]]]:
        """Return the messages of each day, the days in order."""
        text = files(__package__).joinpath(self.file).read_text(encoding="utf-8")
        days: dict[str, list[dict[str, Any]]] = {}
        for line in text.splitlines():
            message = json.loads(line)
            days.setdefault(message["timestamp"][:10], []).append(message)
        return days


STORIES = (
    Story(
        agent="mira",
        language="English",
        file="english.jsonl",
        watched="pottery",
        found="Biscuit",
        forgotten="umbrella",
        never="submarine",
        system="You are Mira's assistant. Answer briefly.",
        question="The dog sitter comes tomorrow. What does she have to know about Biscuit?",
    ),
    Story(
        agent="chen",
        language="中文",
        file="chinese.jsonl",
        watched="书法",
        found="霸王龙",
        forgotten="赛马",
        never="潜水艇",
        system="你是老陈的助手，直接给结论。",
        question="乐乐周末又要来家里玩，我要注意什么？",
    ),
)
