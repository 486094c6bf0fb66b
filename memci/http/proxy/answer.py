"""What a model answers, put together while its bytes pass by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_DATA = b"data:"
_END = "[DONE]"


@dataclass
class Answer:
    """Listens to an answer, whole or streamed; of several choices to the first.

    ``most`` bytes are listened to: what is longer passes on unheard, and is not recorded.
    """

    streamed: bool
    most: int
    model: str | None = None
    has_ended: bool = False  # a stream, by its own mark: clients wait for no more
    _size: int = 0
    _waiting: bytearray = field(default_factory=bytearray)
    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    def hear(self, chunk: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        self._size += len(chunk)
        if self._size > self.most:
            self._waiting.clear()
            return
        self._waiting += chunk
        if not self.streamed or b"\n" not in chunk:
            return
        *lines, rest = bytes(self._waiting).split(b"\n")
        self._waiting = bytearray(rest)
        for line in lines:
            self._line(line)

    def message(self) -> dict[str, Any] | None:
        """Return the message as far as it was heard; None where nothing of one was."""
        if self._size > self.most:
            return None
        if self.streamed:
            self._line(bytes(self._waiting))
            self._waiting.clear()
        else:
            self._choose(_parsed(bytes(self._waiting)), "message")
            self._waiting.clear()
        said: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts)}
        if self._refusals:
            said["refusal"] = "".join(self._refusals)
        calls = [each for _, each in sorted(self._calls.items()) if _is_whole(each)]
        if calls:
            said["tool_calls"] = calls
        return (
            said if any(said.get(each) for each in ("content", "refusal", "tool_calls")) else None
        )

    def _line(self, line: bytes) -> None:
        line = line.strip()
        if line.startswith(_DATA):
            text = line.removeprefix(_DATA).strip()
            if text == _END.encode():
                self.has_ended = True
            else:
                self._choose(_parsed(text), "delta")

    def _choose(self, event: Mapping[str, Any], name: str) -> None:
        if isinstance(event.get("model"), str):
            self.model = event["model"]
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                said = choice.get(name)
                if isinstance(said, dict):
                    self._add(said)

    def _add(self, said: Mapping[str, Any]) -> None:
        if isinstance(said.get("content"), str):
            self._texts.append(said["content"])
        if isinstance(said.get("refusal"), str):
            self._refusals.append(said["refusal"])
        calls = said.get("tool_calls")
        for place, part in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(part, dict):
                self._add_call(part.get("index", place), part)

    def _add_call(self, index: object, part: Mapping[str, Any]) -> None:
        """Put a piece of a call to the pieces before it: its id and name come first."""
        if not isinstance(index, int):
            return
        call = self._calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
        call["id"] = part.get("id") or call["id"]
        piece = part.get("function")
        if isinstance(piece, dict):
            call["function"]["name"] = piece.get("name") or call["function"]["name"]
            call["function"]["arguments"] += str(piece.get("arguments") or "")


def _is_whole(call: Mapping[str, Any]) -> bool:
    """Tell whether a call got as far as to say what it calls, with arguments that can be read."""
    try:
        json.loads(call["function"]["arguments"] or "{}")
    except ValueError:
        return False
    return bool(call["id"] and call["function"]["name"])


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        event = json.loads(text)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
