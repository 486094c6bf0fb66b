"""Who says what of a memory, so that nothing cut from it passes for somebody else's (R14).

A memory names who speaks before what each one says (R4); what follows without a label is of the
speaker above it. What else looks like a label ("Note:") may be a name that nobody here knows, or a
word of who speaks: it is taken for both, so neither is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from memci.domain.memory.wording import labels
from memci.message import Role

_LIKE_A_NAME = r"[^\W\d_][^\s:：,;!?。，；！？]{0,30}(?: [^\s:：,;!?。，；！？]{1,30}){0,2}"
# A colon within a word or a time is none of a label.
_COLON = r"(?::(?!\S)|：)"


class Speaker(NamedTuple):
    """Whom words are of, as labels say it: a speaker's, and what may be a name below it."""

    speaker: str = ""
    other: str = ""


class Line(NamedTuple):
    """Where a line with a label begins, and whose words follow from there."""

    start: int
    voice: Speaker


NOBODY = Speaker()
Voices: TypeAlias = Sequence[Line]


class Speakers:
    """Those who are known to speak: all roles, and some by name."""

    def __init__(self, names: Iterable[str | None] = ()) -> None:
        """Take the names of whoever may have said what a memory is made of."""
        known = {label for role in Role for label in labels(role, None)}
        known |= {called for name in names if name and (called := " ".join(name.split()))}
        longest_first = sorted(known, key=lambda each: (-len(each), each))
        names_of = "|".join(map(re.escape, longest_first))
        # A question that an answer leans on stands in brackets.
        self._label = re.compile(
            rf"^[^\S\n]*(?P<label>(?P<speaker>\[?(?:{names_of})[:：])|\[?{_LIKE_A_NAME}{_COLON})",
            re.IGNORECASE | re.MULTILINE,
        )

    def in_memory(self, text: str) -> Voices:
        """Return the lines of a memory that have a label, in order."""
        lines: list[Line] = []
        speaker = ""
        for match in self._label.finditer(text):
            label = match["label"]
            other = "" if match["speaker"] else label
            speaker = match["speaker"] or speaker
            lines.append(Line(match.start("label"), Speaker(speaker, other)))
            if label.startswith("["):
                speaker = ""  # it asked, and what answers is of somebody else
        return lines


def voice_at(voices: Voices, place: int) -> Speaker:
    """Return whose the words at a place of a memory are."""
    at = bisect_right(voices, place, key=lambda line: line.start)
    return voices[at - 1].voice if at else NOBODY


def line_at(voices: Voices, start: int, end: int) -> Line | None:
    """Return the first line with a label that begins between two places, the second excluded."""
    at = bisect_left(voices, start, key=lambda line: line.start)
    return voices[at] if at < len(voices) and voices[at].start < end else None


def to_name(voice: Speaker, above: Speaker, *, labelled: bool) -> str:
    """Return what names whose words stand below those of another; nothing if that is clear.

    ``labelled``: the words begin with the last label of their voice themselves, on a line of its
    own: what may be a name stands below its speaker.
    """
    if labelled:
        return voice.speaker if voice.other and voice.speaker != above.speaker else ""
    if voice in (above, NOBODY):
        return ""
    if voice.other and voice.speaker == above.speaker:
        return voice.other
    return "\n".join(each for each in voice if each)


def written(label: str) -> str:
    """Return a label as it stands before words: behind a Chinese colon there is no blank."""
    return f"{label} " if label.endswith(":") else label
