"""What somebody else says within a text: speech in quotation marks (R7)."""

from __future__ import annotations

import re

# Between marks that differ, other pairs of the same cannot lie: each character is looked at once.
_QUOTED = re.compile(r"\"[^\"\n]+\"|“[^“”]+”|«[^«»]+»|「[^「」]+」|『[^『』]+』")
# A name, a term or a word to answer with is no speech: of those the rest of a sentence tells.
_SPEECH = re.compile(r"(?:\S+\s+){3}\S|[\u3400-\u9fff](?:\W*[\u3400-\u9fff]){7}")


def without_speech(text: str) -> str:
    """Return a text in which blanks stand for what is quoted, at the same places.

    Terms of fewer than four words, or eight Chinese characters, stay.
    """
    return _QUOTED.sub(lambda quoted: _blank(quoted[0]), text)


def _blank(quoted: str) -> str:
    inside = quoted[1:-1]
    if not _SPEECH.search(inside):
        return quoted
    return quoted[0] + re.sub(r"\S", " ", inside) + quoted[-1]
