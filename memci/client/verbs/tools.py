"""Tools, used as the model of an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Unpack

from pydantic import RootModel

from memci.client.flow import Flow, ask, exchange
from memci.client.options import SeenOptions
from memci.client.verbs.asking import Asking
from memci.domain.names import shown_name
from memci.errors import InvalidInputError, NotFoundError
from memci.shapes.attp import AttpAnswer
from memci.shapes.tools import BY_NAME

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class _Told(RootModel[dict[str, Any]]):
    """What a model is told."""


class ToolVerbs(Asking):
    """Does what a model asks for."""

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        **seen: Unpack[SeenOptions],
    ) -> Flow[dict[str, Any]]:
        """Use a tool as the agent's model; return what to tell the model.

        ``arguments`` are as the model gave them: JSON, or what was read from it. Raises
        ``MemciError``, whose text is for the model to read.
        """
        if not _NAME.fullmatch(name):  # models make names up, and this is a part of a path
            raise NotFoundError(f"there is no tool '{shown_name(name)}': tools() lists all")
        request = exchange(
            "POST",
            f"{self._path}/tools/{name}",
            body=_read(arguments) if isinstance(arguments, str) else arguments or {},
            params=seen,
            repeatable=_is_repeatable(name),
        )
        answer = yield from ask(request, _Told, self._habits.retries)
        return answer.root

    def attp(self, text: str, *, session_id: str | None = None) -> Flow[AttpAnswer]:
        """Do what a model's answer in ATTP asks for, all of it or nothing.

        ``text`` is the answer as it is; the ``text`` of what comes back is for the model. What is
        wrong with it or its code raises nothing: ``status`` is ``fail``.
        """
        request = exchange(
            "POST",
            f"{self._path}/pages/attp",
            body={"text": text},
            params={"session_id": session_id},
            repeatable=False,
        )
        return ask(request, AttpAnswer, self._habits.retries)


def _read(arguments: str) -> dict[str, Any]:
    """Read what a model wrote; nothing at all stands for no arguments."""
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise InvalidInputError("the arguments are no JSON object: write them again")
    return read


def _is_repeatable(name: str) -> bool:
    """Whether what arrived and was not answered may be sent again."""
    tool = BY_NAME.get(name)
    return tool is not None and (tool.idempotent or not tool.changes)
