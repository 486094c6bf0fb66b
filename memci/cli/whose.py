"""What was meant by arguments that name an agent in the wrong way.

Some commands take it as an option, beside what they are about; others as their argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from memci.domain.agent import AGENT_ID_PATTERN

_OPTIONS = ("--agent", "-a")


def meant(error: Exception, words: Sequence[str]) -> str | None:
    """Return the command line that was meant by ``words``, if the error tells of the mistake."""
    context: Any = getattr(error, "ctx", None)
    if "Did you mean" in str(getattr(error, "message", "")):
        return None  # a command was misspelt, and no agent is called so
    path = _path(context)
    if not path or list(words[: len(path)]) != path:
        return None
    words = words[len(path) :]
    parameters = context.command.params
    named = _named(words)
    if any("--agent" in each.opts for each in parameters):
        takes = any(each.param_type_name == "argument" for each in parameters)
        blamed = getattr(getattr(error, "param", None), "param_type_name", None)
        if named is None and not (takes and blamed != "argument"):
            return _with("--agent", path, _alone(words))
    elif any(each.metavar == "AGENT" for each in parameters):
        return _with(None, path, named)
    return None


def _path(context: Any) -> list[str]:
    """Return the command that was asked for, below the first: ``["pages", "undo"]``."""
    path: list[str] = []
    while context is not None and context.parent is not None:
        path.insert(0, context.info_name)
        context = context.parent
    return path


def _named(words: Sequence[str]) -> str | None:
    """Return what the option names."""
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _OPTIONS:
            return value if equals else next(iter(words[place + 1 :]), "")
    return None


def _alone(words: Sequence[str]) -> str | None:
    """Return the only word that is no option."""
    plain = [word for word in words if not word.startswith("-")]
    return plain[0] if len(plain) == 1 else None


def _with(option: str | None, path: Sequence[str], agent: str | None) -> str | None:
    if agent is None or not re.fullmatch(AGENT_ID_PATTERN, agent):
        return None
    return " ".join(("memci", *path, *([option] if option else ()), agent))
