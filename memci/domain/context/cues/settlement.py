"""What a sentence settles of which there is one value at a time (R6, R7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Settled(NamedTuple):
    """``value`` is what a ``matter`` is settled to, both as keys.

    ``anywhere``: it is about the speaker, and not about what one session is about. ``changed``: the
    sentence says that it was otherwise before.
    """

    matter: str
    value: str
    anywhere: bool = False
    changed: bool = False


Read: TypeAlias = Callable[[re.Match[str]], Settled]


class SettlingRule(NamedTuple):
    """A pattern that a whole sentence has to match, and what is read of it."""

    pattern: re.Pattern[str]
    read: Read


def settling(read: Read, *pieces: str) -> SettlingRule:
    """Return a rule whose pattern are these pieces in a row, in small letters or capitals."""
    return SettlingRule(re.compile("".join(pieces), re.IGNORECASE), read)


def of_speaker(matter: str, values: dict[str, str] | None = None) -> Read:
    """Return what reads group ``value`` as what the speaker wants; ``values`` are its keys."""

    def read(found: re.Match[str]) -> Settled:
        said = found["value"].casefold()
        return Settled(matter, (values or {}).get(said, said), anywhere=True)

    return read


def of_work(found: re.Match[str]) -> Settled:
    """Read what something that is worked on is to be: a budget, a date, what is used for it.

    Groups: ``owner``, ``noun`` and ``thing`` say what, ``is``, ``new`` and ``now`` whether it has
    changed; ``value``.
    """
    parts = {name: (said or "").casefold() for name, said in found.groupdict().items()}
    owner = "of the speaker" if parts.get("owner") in {"my", "我的", "我"} else "of all"
    matter = " ".join(f"{parts['noun']} {owner} {parts.get('thing', '')}".split())
    changed = any(parts.get(name) for name in ("changed", "new", "now"))
    return Settled(matter, "".join(parts["value"].split()), changed=changed)


LANGUAGE, LENGTH = "language of answers", "length of answers"
ADDRESS, UNITS = "how the speaker is called", "units"
