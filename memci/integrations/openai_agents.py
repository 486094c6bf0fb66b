"""``MemciSession``: a session of the OpenAI Agents SDK (the extra ``openai-agents``).

::

    session = MemciSession(Memci("http://127.0.0.1:8000").agent("alice"), "monday")
    await Runner.run(assistant, "I am vegetarian.", session=session)
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from memci.client import Agent, AsyncAgent
from memci.client.requests import Flow
from memci.integrations.client import FlowRunner, awaited
from memci.schemas.frameworks import ItemList, ItemOut, ItemsAnswer

# An item of the SDK, in the form of OpenAI's Responses API.
Item = dict[str, Any]
_NAMESPACE = "openai-agents"
_MOST = 1_000  # items of one request
_LAST = 10**10 - 1
_SPOKEN = frozenset({"user", "assistant"})


class MemciSession:
    """The items of one session, as the SDK gave them; what was said also becomes memories.

    ``pop_item`` and ``clear_session`` remove items, and no memories: ``agent.erase`` does that.
    An item that is added again after ``pop_item`` makes no second memory. Only one process may
    write to a session at a time. Raises the errors of ``memci.errors``.
    """

    session_settings: Any = None  # agents.memory.SessionSettings, with the number of items to read

    def __init__(
        self, agent: Agent | AsyncAgent, session_id: str, *, user_id: str | None = None
    ) -> None:
        self.session_id = session_id
        self._runner = FlowRunner(agent)
        self._options: Any = {"session_id": session_id, "user_id": user_id}
        self._namespace = (_NAMESPACE, session_id)

    def _get_items(self, limit: int | None = None) -> Flow[list[Item]]:
        """Return the latest items, or all of them, in their order."""
        most = limit if limit is not None else getattr(self.session_settings, "limit", None)
        found = yield from self._latest(most)
        return [item for each in reversed(found) if isinstance(item := each.value["item"], dict)]

    def _add_items(self, items: list[Item]) -> Flow[None]:
        """Add items; the memories are stored first."""
        latest = yield from self._latest(1)
        first = _place(latest[0]) + 1 if latest else 0
        placed = list(enumerate(items, start=first))
        messages = [
            message for place, item in placed if (message := self._message(item, place)) is not None
        ]
        if messages:
            yield from self._runner.append(messages, self._options)
        for start in range(0, len(placed), _MOST):
            part = placed[start : start + _MOST]
            yield from self._put((_key(at), {"item": item, "place": at}) for at, item in part)

    def _pop_item(self) -> Flow[Item | None]:
        """Remove the latest item, and return it."""
        latest = yield from self._latest(1)
        if not latest:
            return None
        yield from self._put([(latest[0].key, None)])
        item = latest[0].value["item"]
        return item if isinstance(item, dict) else None

    def _clear_session(self) -> Flow[None]:
        """Remove all items; the memories stay."""
        while found := (yield from self._latest(_MOST)):
            yield from self._put((each.key, None) for each in found)

    get_items = awaited(_get_items)
    add_items = awaited(_add_items)
    pop_item = awaited(_pop_item)
    clear_session = awaited(_clear_session)

    def _latest(self, most: int | None) -> Flow[list[ItemOut]]:
        """Return the latest items, the latest first."""
        found: list[ItemOut] = []
        while most is None or len(found) < most:
            limit = _MOST if most is None else min(_MOST, most - len(found))
            body = {"prefix": self._namespace, "limit": limit, "offset": len(found)}
            answer = yield from self._runner.send("/items/search", ItemList, body)
            found += [each for each in answer.items if each is not None]
            if len(answer.items) < limit:
                break
        return sorted(found, key=_place, reverse=True)

    def _put(self, values: Iterable[tuple[str, Item | None]]) -> Flow[None]:
        """Store items by key; None removes one."""
        namespace = self._namespace
        items = [{"namespace": namespace, "key": key, "value": each} for key, each in values]
        yield from self._runner.send("/items", ItemsAnswer, {"items": items}, "PUT")

    def _message(self, item: Item, place: int) -> dict[str, Any] | None:
        """Return what was said in an item as a message; None where nothing was.

        Its id is made of its place, so that the same item, added again, is known.
        """
        text = _text(item.get("content"))
        if item.get("role") not in _SPOKEN or not text.strip():
            return None
        said = json.dumps([self.session_id, place, item], sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()
        return {"role": item["role"], "content": text, "id": f"{_NAMESPACE}-{digest[:32]}"}


def _text(content: object) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [each.get("text") for each in content if isinstance(each, dict)]
    return "\n".join(each for each in parts if isinstance(each, str))


def _place(item: ItemOut) -> int:
    place = item.value["place"]
    return place if isinstance(place, int) else 0


def _key(place: int) -> str:
    """Return a key that is unique; the server lists items of one request by key."""
    return f"{_LAST - place:010d}-{uuid4().hex[:8]}"
