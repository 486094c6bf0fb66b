"""What was said last, as a document tells it: word for word, or shorter where room is short (R8).

A document is no chat: a call stands there without its result, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from memci.domain.context.brief import CUT, head, message_in_brief, tail
from memci.domain.context.interaction import cut_at_users
from memci.domain.message import JsonObject, Message

# A user's message and all that comes before the next, in order.
Exchange: TypeAlias = tuple[Message, ...]

# Characters that are left of each message, where tool results in brief do not make room enough:
# of its content, and of all that it calls tools with, of each call no fewer than the least.
_CUTS = (800, 240)
_LEAST = 40
_END = 0.3  # of these, at its end


def exchanges(messages: Iterable[Message]) -> list[Exchange]:
    """Cut messages (ascending seq) at those of users; of notes, said to nobody, none is left."""
    return [tuple(each) for each in cut_at_users(messages)]


def in_room(said: Sequence[Exchange], room: int, size: Callable[[Exchange], int]) -> list[Exchange]:
    """Return the newest of these, as many as fit, each in the longest form that still does.

    Results of tools give way first, then all messages are cut, and then the oldest are left out.
    """
    taken: list[_Sized] = []
    for exchange in reversed(said):
        forms = [(form, size(form)) for form in _forms(exchange)]
        least = forms[-1][1]
        if least > room:
            break
        room -= least
        taken.append(forms)
    chosen = [len(forms) - 1 for forms in taken]
    for form in reversed(range(len(_CUTS) + 1)):
        for place, forms in enumerate(taken):
            more = forms[form][1] - forms[chosen[place]][1]
            if more <= room:
                room -= more
                chosen[place] = form
    return [forms[form][0] for forms, form in zip(taken, chosen, strict=True)][::-1]


_Sized: TypeAlias = list[tuple[Exchange, int]]


def _forms(exchange: Exchange) -> list[Exchange]:
    """Return it as it is and ever shorter; none is longer than the one before."""
    brief = tuple(map(message_in_brief, exchange))
    return [exchange, brief, *(tuple(_cut(each, most) for each in brief) for most in _CUTS)]


def _cut(message: Message, most: int) -> Message:
    """Cut its content and, all together, what it calls tools with; which tools it calls stays."""
    content = message.content and _shorter(message.content, most)
    each = max(_LEAST, most // max(1, len(message.tool_calls)))
    calls = tuple(_with_less(call, each) for call in message.tool_calls)
    return replace(message, content=content, tool_calls=calls)


def _with_less(call: JsonObject, most: int) -> JsonObject:
    function = call.get("function") or {}
    arguments = str(function.get("arguments", ""))
    if len(arguments) <= most:
        return call
    return {**call, "function": {**function, "arguments": _shorter(arguments, most)}}


def _shorter(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = int(most * _END)
    return f"{head(text, most - end - len(CUT))}{CUT}{tail(text, end)}"
