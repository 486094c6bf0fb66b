r"""JSON's escapes of characters: many programs write all but ASCII as ``\u4e2d``."""

from __future__ import annotations

import re
import unicodedata

_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
# A pair of halves, or one code.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}"
)
# Letters, accents, digits, marks and signs: what else there is cannot be seen.
_VISIBLE = frozenset("LMNPS")


def legible(text: str) -> str:
    r"""Return a text with its characters instead of their escapes, as people would search it.

    Those of ASCII, of what cannot be seen and of halves of pairs stay, and so does what is no
    escape: ``\\u4e2d``.
    """
    return _ESCAPED.sub(_characters, text) if "\\u" in text else text


def _characters(escaped: re.Match[str]) -> str:
    return escaped[1] + _CHARACTER.sub(_written, escaped[2])


def _written(escape: re.Match[str]) -> str:
    units = b"".join(bytes.fromhex(code) for code in _CODE.findall(escape[0]))
    character = units.decode("utf-16-be", errors="surrogatepass")
    is_visible = unicodedata.category(character)[0] in _VISIBLE
    return character if is_visible and not character.isascii() else escape[0]
