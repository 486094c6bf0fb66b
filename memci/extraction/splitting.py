"""Cutting a text that is too long for one chunk: at sentences, else at words, never inside one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memci.extraction.tokens import IDEOGRAPH, count_tokens

# A character that marks change belongs to the one before it.
_MARKS = r"[\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef]*"
_ATOM = re.compile(rf"\s+|{IDEOGRAPH}{_MARKS}|(?:(?!{IDEOGRAPH})\S)+")
_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*$|[。！？；…][”’」』）]*$")
# No word is as long: base64, minified code, keys.
_LONGEST_WORD = 120
_PIECE = re.compile(rf"(?s).{{1,{_LONGEST_WORD}}}{_MARKS}")


def split_text(text: str, most: int) -> Iterator[str]:
    """Yield the text in pieces of at most ``most`` tokens, without white space at the seams.

    A piece ends with a sentence or a line where one ends in its second half. What has no seam for
    120 characters is no word, and is cut.
    """
    atoms = [piece for atom in _ATOM.findall(text) for piece in _pieces(atom)]
    start = 0
    while start < len(atoms):
        end = _end(atoms, start, most)
        piece = "".join(atoms[start:end]).strip()
        if piece:
            yield piece
        start = end


def _pieces(atom: str) -> list[str]:
    return [atom] if len(atom) <= _LONGEST_WORD else _PIECE.findall(atom)


def _end(atoms: list[str], start: int, most: int) -> int:
    """Return where the piece that begins at ``start`` ends; it holds one atom at least."""
    tokens, good = 0, None
    for at in range(start, len(atoms)):
        tokens += count_tokens(atoms[at])
        if tokens > most and at > start:
            return good or at
        if tokens > most / 2 and _may_end(atoms, at):
            good = at + 1
    return len(atoms)


def _may_end(atoms: list[str], at: int) -> bool:
    return "\n" in atoms[at] or bool(_SENTENCE_END.search(atoms[at]))
