"""As much of messages as a model needs to see, beside many others."""

from __future__ import annotations

from memci.domain.message import Message

_LEFT_OUT = " … "
_NOTE = "(note)"  # the prompts say what it is


def excerpt(text: str, longest: int) -> str:
    """Return a text whole, or its beginning and its end: at most ``longest`` characters."""
    text = text.strip()
    if len(text) <= longest:
        return text
    end = longest // 3
    return text[: longest - end - len(_LEFT_OUT)].rstrip() + _LEFT_OUT + text[-end:].lstrip()


def speaker(message: Message) -> str:
    """Return who speaks: a name if there is one; what an agent noted was said to nobody."""
    return _NOTE if message.is_note else message.name or message.role
