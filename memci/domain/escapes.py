r"""JSON's escapes of characters: many programs write all but ASCII as ``\u4e2d``."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_FIRST = 0xA0  # before that are control characters, and marks that JSON needs to have escaped


def legible(text: str) -> str:
    r"""Return a text with its characters instead of their escapes, as people would search it.

    Those of ASCII and halves of pairs stay, and so does what is no escape: ``\\u4e2d``.
    """
    return _ESCAPED.sub(_characters, text) if "\\u" in text else text


def _characters(escaped: re.Match[str]) -> str:
    units = [int(code, 16) for code in _CODE.findall(escaped[2])]
    written = b"".join(unit.to_bytes(2, "little") for unit in units)
    characters = written.decode("utf-16-le", errors="surrogatepass")
    return escaped[1] + "".join(map(_written, characters))


def _written(character: str) -> str:
    code = ord(character)
    is_half = 0xD800 <= code <= 0xDFFF  # noqa: PLR2004 - Unicode's surrogates
    return f"\\u{code:04x}" if code < _FIRST or is_half else character
