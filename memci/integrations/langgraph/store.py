"""``MemciStore``: the long-term store of LangGraph, kept and searched by memci."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from memci.client import Agent, AsyncAgent
from memci.client.exchange import Flow, ask, exchange
from memci.client.verbs.agent_requests import Asking
from memci.integrations.langgraph.client import Way
from memci.schemas.frameworks import ItemList, ItemOut, ItemsAnswer, NamespaceList


class StoreVerbs(Asking):
    """Does operations of a store. ``fields``: what items are searched by, unless they say so."""

    def batch(self, ops: Iterable[Op], fields: Sequence[str]) -> Flow[list[Result]]:
        """Do all operations: those that read see what was there before those that write."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(asked)
        yield from self._fetch(asked, results)
        for at, op in enumerate(asked):
            if isinstance(op, SearchOp):
                results[at] = yield from self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[at] = yield from self._namespaces(op)
        yield from self._put([each for each in asked if isinstance(each, PutOp)], fields)
        return results

    def _fetch(self, ops: Sequence[Op], results: list[Result]) -> Flow[None]:
        """Read items; those that are to be refreshed and others are two requests."""
        for refresh in (True, False):
            places = [
                at for at, op in enumerate(ops)
                if isinstance(op, GetOp) and op.refresh_ttl is refresh
            ]  # fmt: skip
            if places:
                wanted = [_place(ops[at]) for at in places]
                body = {"items": wanted, "refresh": refresh}
                answer = yield from self._post("/items/get", ItemList, body)
                for at, found in zip(places, answer.items, strict=True):
                    results[at] = None if found is None else Item(**_fields(found))

    def _search(self, op: SearchOp) -> Flow[list[SearchItem]]:
        body = {
            "prefix": op.namespace_prefix,
            "filter": op.filter,
            "query": op.query,
            "limit": op.limit,
            "offset": op.offset,
            "refresh": op.refresh_ttl,
        }
        answer = yield from self._post("/items/search", ItemList, body)
        return [
            SearchItem(**_fields(each), score=each.score)
            for each in answer.items
            if each is not None
        ]

    def _namespaces(self, op: ListNamespacesOp) -> Flow[list[tuple[str, ...]]]:
        body = {
            "match": [_match(each) for each in op.match_conditions or ()],
            "max_depth": op.max_depth,
            "limit": op.limit,
            "offset": op.offset,
        }
        answer = yield from self._post("/items/namespaces", NamespaceList, body)
        return [tuple(each) for each in answer.namespaces]

    def _put(self, ops: Sequence[PutOp], fields: Sequence[str]) -> Flow[None]:
        if not ops:
            return
        items = [
            {
                "namespace": op.namespace,
                "key": op.key,
                "value": None if op.value is None else dict(op.value),
                "text": _text(op, fields),
                "ttl_minutes": op.ttl,
            }
            for op in ops
        ]
        request = exchange("PUT", f"{self._path}/items", body={"items": items})
        yield from ask(request, ItemsAnswer, self._habits.retries)


def _text(op: PutOp, fields: Sequence[str]) -> str | None:
    """Return what an item is searched by: the texts at some places of its value."""
    if op.value is None or op.index is False:
        return None
    paths = fields if op.index is None else op.index
    texts = [text for path in paths for text in _texts_at(op.value, path)]
    return "\n".join(texts) or None


def _texts_at(value: Mapping[str, Any], path: str) -> list[str]:
    """Return the texts at a path; of the whole value its texts alone, without JSON's signs."""
    return list(_leaves(value)) if path == "$" else get_text_at_path(value, path)


def _leaves(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(each, (int, float)) and not isinstance(each, bool):
                yield f"{name}: {each}"
            else:
                yield from _leaves(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _leaves(each)


def _place(op: Op) -> dict[str, Any]:
    assert isinstance(op, GetOp)  # noqa: S101 - the caller has looked
    return {"namespace": op.namespace, "key": op.key}


def _match(condition: MatchCondition) -> dict[str, Any]:
    return {"type": condition.match_type, "path": condition.path}


def _fields(found: ItemOut) -> dict[str, Any]:
    return {
        "namespace": tuple(found.namespace),
        "key": found.key,
        "value": found.value,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


class MemciStore(BaseStore):
    """Items of one agent, found by name, by value, by words and by meaning.

    Every item is searched by all texts of its value; ``fields`` names places instead, in
    LangGraph's own way of naming them, and ``put(…, index=…)`` says so for one item. Items with a
    ``ttl`` (minutes) are never shown after it; ``ttl`` is the store's own configuration.

    Given an ``AsyncAgent``, it can only be awaited. Raises the errors of ``memci.errors``.
    """

    supports_ttl = True
    __slots__ = ("_fields", "_way", "ttl_config")

    def __init__(
        self,
        agent: Agent | AsyncAgent,
        *,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
    ) -> None:
        """Take whose items they are; asks nothing yet."""
        self._way = Way(agent)
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all operations; of those that write, all or none take effect."""
        return self._way.run(self._way.verbs(StoreVerbs).batch(ops, self._fields))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all operations; of those that write, all or none take effect."""
        return await self._way.arun(self._way.verbs(StoreVerbs).batch(ops, self._fields))
