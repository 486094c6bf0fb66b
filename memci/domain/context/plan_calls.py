"""Plans that a model hands to a tool of its own, such as ``update_plan`` or ``TodoWrite`` (R7)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from memci.domain.context.plan import LONGEST_STEP, MOST_STEPS, Item, StepState

_TOOL = re.compile(
    r"(?:^|[._-])(?:(?:update|create|set|make|write|edit|replace|manage|new|"
    r"submit)_?(?:the_)?(?:plans?|todos?|todo_?list|"
    r"task_?list|tasks|steps)|(?:plans?|todos?|todo_?list|task_?list)_?(?:update|create|write|set|"
    r"manager)?)$",
    re.IGNORECASE,
)
_LISTS = ("plan", "todos", "steps", "tasks", "items", "todo_list", "todo", "list")
_TEXTS = ("step", "content", "title", "text", "description", "task", "name")
_STATES = ("status", "state")
_WORDS = {
    StepState.PENDING: "pending todo not_started open queued waiting 待办 未开始",
    StepState.ACTIVE: "in_progress active doing current started running 进行中",
    StepState.DONE: "completed complete done finished closed 已完成 完成",
    StepState.DROPPED: "cancelled canceled dropped skipped removed 取消 跳过",
}
_SAID = {word: state for state, words in _WORDS.items() for word in words.split()}


def called_plan(tool_calls: Iterable[Mapping[str, Any]]) -> tuple[Item, ...]:
    """Return the steps of the last call that hands over a plan; none, if no call does.

    Calls are as models wrote them: what cannot be read is passed over.
    """
    found: tuple[Item, ...] = ()
    for call in tool_calls:
        function = call.get("function")
        if isinstance(function, Mapping) and _TOOL.search(str(function.get("name", ""))):
            found = _items(function.get("arguments")) or found
    return found


def _items(arguments: object) -> tuple[Item, ...]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return ()
    if isinstance(arguments, Mapping):
        given = (arguments.get(name) for name in _LISTS)
        arguments = next((each for each in given if isinstance(each, list)), None)
    if not isinstance(arguments, list):
        return ()
    items = [item for each in arguments if (item := _item(each)) is not None]
    return tuple(items[:MOST_STEPS])


def _item(given: object) -> Item | None:
    if isinstance(given, str):
        return Item(text) if (text := _text(given)) else None
    if not isinstance(given, Mapping):
        return None
    texts = (_text(given[name]) for name in _TEXTS if isinstance(given.get(name), str))
    text = next(filter(None, texts), "")
    said = next((given[name] for name in _STATES if isinstance(given.get(name), str)), "")
    state = _SAID.get(said.strip().lower().replace(" ", "_").replace("-", "_"))
    return Item(text, state) if text else None


def _text(given: str) -> str:
    return " ".join(given.split())[:LONGEST_STEP]
