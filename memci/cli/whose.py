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
    if context is None or not words:
        return None
    parameters = context.command.params
    named = _named(words[1:])
    if any("--agent" in each.opts for each in parameters):
        takes = any(each.param_type_name == "argument" for each in parameters)
        blamed = getattr(getattr(error, "param", None), "param_type_name", None)
        if named is None and not (takes and blamed != "argument"):
            return _with("--agent", words, _alone(words[1:]))
    elif any(each.metavar == "AGENT" for each in parameters):
        return _with(None, words, named)
    return None


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


def _with(option: str | None, words: Sequence[str], agent: str | None) -> str | None:
    if agent is None or not re.fullmatch(AGENT_ID_PATTERN, agent):
        return None
    return " ".join(("memci", words[0], *([option] if option else ()), agent))
