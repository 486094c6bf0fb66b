"""What somebody else says within a text: speech in quotation marks (R7)."""

from __future__ import annotations

import re

# A straight mark before a word opens, and one behind it closes: 24" is a length. Between marks that
# differ no other pair of the same can lie: each character is looked at once.
_QUOTED = re.compile(
    r"(?<!\w)\"(?=[^\s\"])(?:[^\"\n]|\n(?!\n))+(?<=\S)\"(?!\w)|“[^“”]+”|«[^«»]+»|「[^「」]+」|『[^『』]+』"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
# A name, a term or a word to answer with is no speech: of those the rest of a sentence tells.
_WORDS = 4
_CHARACTERS = 8


def without_speech(text: str) -> str:
    """Return a text in which blanks stand for what is quoted, at the same places.

    Terms of fewer than four words, or eight Chinese characters, stay.
    """
    return _QUOTED.sub(lambda quoted: _blank(quoted[0]), text)


def _blank(quoted: str) -> str:
    inside = quoted[1:-1]
    words = len(inside.split(maxsplit=_WORDS))
    if words < _WORDS and len(_HAN.findall(inside)) < _CHARACTERS:
        return quoted
    return quoted[0] + re.sub(r"\S", " ", inside) + quoted[-1]
