"""What memory has to tell a chat: the context of memci, without what the client sends itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from memci.domain.context.parts import Section
from memci.http.proxy.asked import Asked
from memci.runtime import Runtime
from memci.shapes.read import ContextAnswer, ContextItem

# What is longer asks for nothing more precisely.
_LONGEST_QUERY = 8_000
# Tokens that a message takes beside its content, and a list beside its messages (R14).
_QUERY_TOKENS = 7
_QUOTED = frozenset({Section.HISTORY, Section.MEMORY})
_ENTRY = "\n- "


def context_for(
    runtime: Runtime, asked: Asked, shown: Collection[str], traceparent: str | None
) -> list[dict[str, Any]]:
    """Return messages for a model: system text, and, where the client sends one alone, recent ones.

    ``shown``: ids of the messages that the client sends itself; nothing is told that was made of
    them alone. Raises what a context raises.
    """
    query = (asked.query or "")[:_LONGEST_QUERY]
    request: dict[str, Any] = {
        "budget_tokens": asked.budget_tokens + _tokens(runtime, query),
        "session_id": asked.session_id,
        "user_id": asked.user_id,
    }
    if query.strip():
        request["query"] = query
    if not asked.is_alone:
        request["recent"] = 0
    if traceparent is not None:
        request["traceparent"] = traceparent
    answer = ContextAnswer.model_validate(
        runtime.reads.call("assemble", asked.agent_id, request, wait_ms=0)
    )
    text = system_text(answer.items, shown)
    notes: list[dict[str, Any]] = [{"role": "system", "content": text}] if text else []
    return [*notes, *_recent(answer, shown)]


def system_text(items: Iterable[ContextItem], shown: Collection[str]) -> str:
    """Return pins and quotations as one text, without those that are shown already."""
    pinned = "".join(each.text for each in items if each.section is Section.PINS)
    quoted = _quotations([each for each in items if each.section in _QUOTED], shown)
    return "\n\n".join(filter(None, (pinned.strip(), quoted)))


def _quotations(items: Iterable[ContextItem], shown: Collection[str]) -> str:
    """Leave entries out, and date lines under which none is left; what heads them all stays."""
    header = day = text = ""
    for each in items:
        above, _, entry = each.text.partition(_ENTRY)
        begins, _, date = above.partition("\n\n")
        header = header or begins
        day = f"\n\n{date}" if date else day
        if not _is_shown(each, shown):
            text += day + _ENTRY + entry
            day = ""
    return header + text if text else ""


def _recent(answer: ContextAnswer, shown: Collection[str]) -> list[dict[str, Any]]:
    """Return recent messages, of which each is one item; they stand last but for the query."""
    items = [each for each in answer.items if each.section is Section.RECENT]
    asked = sum(each.section is Section.QUERY for each in answer.items)
    messages = answer.as_dicts()
    last = len(messages) - asked
    recent = messages[last - len(items) : last]
    return [
        message for message, item in zip(recent, items, strict=True) if not _is_shown(item, shown)
    ]


def _is_shown(item: ContextItem, shown: Collection[str]) -> bool:
    return bool(item.message_ids) and all(each in shown for each in item.message_ids)


def _tokens(runtime: Runtime, query: str) -> int:
    return runtime.counter.count(query) + _QUERY_TOKENS
