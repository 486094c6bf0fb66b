"""``MemciStore``: the long-term store of LangGraph, kept and searched by memci."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.store import base as stores
from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp

from memci.client import Agent, AsyncAgent
from memci.client.requests import Flow
from memci.integrations.client import FlowRunner, awaited, blocking
from memci.schemas.frameworks import ItemList, ItemOut, ItemsAnswer, NamespaceList


class MemciStore(stores.BaseStore):
    """Items of one agent, found by name, by value, by words and by meaning.

    Search reads all texts of an item's value; ``fields`` names other places, in LangGraph's
    notation, and ``put(…, index=…)`` does so for one item. Items with a ``ttl`` (minutes) are
    never shown after it; ``ttl`` is the store's own configuration.

    Given an ``AsyncAgent``, it can only be awaited. Raises the errors of ``memci.errors``.
    """

    supports_ttl = True
    __slots__ = ("_fields", "_runner", "ttl_config")

    def __init__(
        self,
        agent: Agent | AsyncAgent,
        *,
        fields: Sequence[str] = ("$",),
        ttl: stores.TTLConfig | None = None,
    ) -> None:
        self._runner = FlowRunner(agent)
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def _batch(self, ops: Iterable[Op]) -> Flow[list[Result]]:
        """Do all operations; of those that write, all or none take effect.

        Reads see the state before the writes.
        """
        ops = list(ops)
        for op in ops:
            stores.validate_op_namespace(op)
        results: list[Result] = [None] * len(ops)
        yield from self._get(ops, results)
        for at, op in enumerate(ops):
            if isinstance(op, SearchOp):
                results[at] = yield from self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[at] = yield from self._list_namespaces(op)
        puts = [each for each in ops if isinstance(each, PutOp)]
        if puts:
            body = {"items": [self._item(op) for op in puts]}
            yield from self._runner.send("/items", ItemsAnswer, body, "PUT")
        return results

    batch = blocking(_batch)
    abatch = awaited(_batch)

    def _get(self, ops: Sequence[Op], results: list[Result]) -> Flow[None]:
        """Read items, with one request for those to refresh and one for the others."""
        for refresh in (True, False):
            gets = [
                (at, op)
                for at, op in enumerate(ops)
                if isinstance(op, GetOp) and op.refresh_ttl is refresh
            ]
            if gets:
                places = [{"namespace": op.namespace, "key": op.key} for _, op in gets]
                body = {"items": places, "refresh": refresh}
                answer = yield from self._runner.send("/items/get", ItemList, body)
                for (at, _), item in zip(gets, answer.items, strict=True):
                    results[at] = None if item is None else stores.Item(**_fields(item))

    def _search(self, op: SearchOp) -> Flow[list[stores.SearchItem]]:
        body = {
            "prefix": op.namespace_prefix,
            "filter": op.filter,
            "query": op.query,
            "limit": op.limit,
            "offset": op.offset,
            "refresh": op.refresh_ttl,
        }
        answer = yield from self._runner.send("/items/search", ItemList, body)
        return [
            stores.SearchItem(**_fields(each), score=each.score)
            for each in answer.items
            if each is not None
        ]

    def _list_namespaces(self, op: ListNamespacesOp) -> Flow[list[tuple[str, ...]]]:
        body = {
            "match": [
                {"type": each.match_type, "path": each.path} for each in op.match_conditions or ()
            ],
            "max_depth": op.max_depth,
            "limit": op.limit,
            "offset": op.offset,
        }
        answer = yield from self._runner.send("/items/namespaces", NamespaceList, body)
        return [tuple(each) for each in answer.namespaces]

    def _item(self, op: PutOp) -> dict[str, Any]:
        return {
            "namespace": op.namespace,
            "key": op.key,
            "value": None if op.value is None else dict(op.value),
            "text": self._text(op),
            "ttl_minutes": op.ttl,
        }

    def _text(self, op: PutOp) -> str | None:
        """Return the searchable text of an item: the texts at some places of its value."""
        if op.value is None or op.index is False:
            return None
        texts: list[str] = []
        for path in self._fields if op.index is None else op.index:
            # "$" is the whole value: its texts without JSON's punctuation.
            texts += _leaves(op.value) if path == "$" else stores.get_text_at_path(op.value, path)
        return "\n".join(texts) or None


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


def _fields(item: ItemOut) -> dict[str, Any]:
    return {**item.model_dump(exclude={"score"}), "namespace": tuple(item.namespace)}
