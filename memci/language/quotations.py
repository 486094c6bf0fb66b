"""Quotations in a text: what somebody else said."""

import re

# A straight mark opens before a word and closes after it: 24" is a length. Different marks contain
# no other pair of the same, so each character is read once.
_QUOTED = re.compile(
    r"(?<!\w)\"(?=[^\s\"])(?:[^\"\n]|\n(?!\n))+(?<=\S)\"(?!\w)|“[^“”]+”|«[^«»]+»|「[^「」]+」|『[^『』]+』"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
# A shorter quotation is a name, a term or a word to answer with, not speech.
_WORDS = 4
_CHARACTERS = 8


def blank_quotations(text: str) -> str:
    """Return a text with quotations replaced by blanks of the same length.

    Terms of fewer than four words, or eight Chinese characters, stay.
    """
    return _QUOTED.sub(lambda quoted: _blank(quoted[0]), text)


def _blank(quoted: str) -> str:
    inside = quoted[1:-1]
    words = len(inside.split(maxsplit=_WORDS))
    if words < _WORDS and len(_HAN.findall(inside)) < _CHARACTERS:
        return quoted
    return quoted[0] + re.sub(r"\S", " ", inside) + quoted[-1]
