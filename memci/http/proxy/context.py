"""What memory has to tell a chat: the context of memci, without what the client sends itself."""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile
from typing import Any

from memci.domain.context.budget import Count, Utterance
from memci.domain.message import Role
from memci.http.proxy.asked import Asked
from memci.runtime import Runtime
from memci.shapes.read import ContextAnswer, ContextItem, Section

# What is longer asks for nothing more precisely.
_LONGEST_QUERY = 8_000
# Tokens that a message takes beside its content, and a list beside its messages (R14).
_QUERY_TOKENS = 7
# Of a long history that a client sends itself, the latest are told to memory.
_MOST_SHOWN = 500
# Characters of a turn, by which it is known.
_OPENING = 32


def context_for(runtime: Runtime, asked: Asked, traceparent: str | None) -> list[dict[str, Any]]:
    """Return messages for a model: system text, and, where the client sends one alone, recent ones.

    Nothing that the client sends itself is among them. Raises what a context raises.
    """
    query = (asked.query or "")[:_LONGEST_QUERY]
    request: dict[str, Any] = {
        "budget_tokens": asked.budget_tokens + runtime.counter.count(query) + _QUERY_TOKENS,
        "session_id": asked.session_id,
        "user_id": asked.user_id,
        "shown": _shown(asked),
    }
    if query.strip():
        request["query"] = query
    if not (asked.is_alone and asked.is_named):
        request["recent"] = 0
    if traceparent is not None:
        request["traceparent"] = traceparent
    answer = ContextAnswer.model_validate(
        runtime.reads.call("assemble", asked.agent_id, request, wait_ms=0)
    )
    told, is_asked = answer.as_dicts(), bool(query.strip())
    days = {each.text for each in answer.items if _is_day(each)}
    notes = notes_of(told, asked=is_asked, days=days)
    fits = _tokens(notes, runtime.counter.count) <= asked.budget_tokens
    return notes if fits else notes_of(told, asked=is_asked, days=days, named=False)


def notes_of(
    messages: list[dict[str, Any]],
    *,
    asked: bool,
    days: Collection[str] = (),
    named: bool = True,
) -> list[dict[str, Any]]:
    """Return an assembled list as notes: its system text as one message, then what was said.

    ``asked``: the list ends with the question, which the client sends itself. Many models refuse
    system text between turns: of ``days`` that stand there it is told above at which turn each
    begins, by the words of that, if they are to be ``named``.
    """
    told = messages[:-1] if asked else messages
    first = len(list(takewhile(_is_system, told)))
    system = [each["content"].strip() for each in told[:first]]
    for at, each in enumerate(told[first:], first + 1):
        if _is_system(each) and each["content"] not in days:
            system.append(each["content"].strip())
        elif _is_system(each) and named:
            below = messages[at].get("content") if at < len(messages) else None
            system.append(f"{each['content']}: {_opening(below or '')}")
    text = "\n\n".join(filter(None, system))
    said = [each for each in told if not _is_system(each)]
    return [{"role": "system", "content": text}, *said] if text else said


def _is_day(item: ContextItem) -> bool:
    return item.section is Section.RECENT and not item.message_ids


def _is_system(message: dict[str, Any]) -> bool:
    return bool(message["role"] == Role.SYSTEM)


def _opening(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _OPENING else f"{line[:_OPENING]}…"


def _tokens(notes: list[dict[str, Any]], count: Count) -> int:
    return sum(
        Utterance(Role(each["role"]), each.get("content"), tool_calls=each.get("tool_calls") or ())
        .tokens(count) for each in notes
    )  # fmt: skip


def _shown(asked: Asked) -> list[dict[str, str]]:
    shown = [
        {"role": each.role.value, "content": each.content} for each in asked.said if each.content
    ]
    return shown[-_MOST_SHOWN:]
