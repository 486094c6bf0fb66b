"""What memory has to tell a chat: the context of memci, without what the client sends itself."""

from __future__ import annotations

from typing import Any

from memci.domain.message import Role
from memci.http.proxy.asked import Asked
from memci.runtime import Runtime
from memci.shapes.read import ContextAnswer

# What is longer asks for nothing more precisely.
_LONGEST_QUERY = 8_000
# Tokens that a message takes beside its content, and a list beside its messages (R14).
_QUERY_TOKENS = 7
# Of a long history that a client sends itself, the latest are told to memory.
_MOST_SHOWN = 500


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
    return notes_of(answer.as_dicts(), asked=bool(query.strip()))


def notes_of(messages: list[dict[str, Any]], *, asked: bool) -> list[dict[str, Any]]:
    """Return an assembled list as notes: its system text as one message, then what was said.

    ``asked``: the list ends with the question, which the client sends itself. Many models refuse
    system text between turns: what was said in that role goes above them, too.
    """
    told = messages[:-1] if asked else messages
    system = [each["content"].strip() for each in told if _is_system(each)]
    text = "\n\n".join(filter(None, system))
    said = [each for each in told if not _is_system(each)]
    return [{"role": "system", "content": text}, *said] if text else said


def _is_system(message: dict[str, Any]) -> bool:
    return bool(message["role"] == Role.SYSTEM)


def _shown(asked: Asked) -> list[dict[str, str]]:
    shown = [
        {"role": each.role.value, "content": each.content} for each in asked.said if each.content
    ]
    return shown[-_MOST_SHOWN:]
