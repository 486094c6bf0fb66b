"""What stands around an expression: code, quotations, titles, the words before and after it."""

from __future__ import annotations

import re

# Fenced and inline code, addresses, and lines quoted from elsewhere: their times are not ours.
_UNTOUCHED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|\S+@\S+|^[ \t]*>[^\n]*",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
# Words in quotation marks are a title, or were said by somebody else at another time.
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|〈[^〉\n]*〉|«[^»\n]*»"
    r"|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^’\n]*’(?!\w)"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s])\s*\Z")
_WORD_AFTER = re.compile(r"\s+([^\W\d_]+(?:['’][^\W\d_]+)?)")
_IN_A_SENTENCE = re.compile(r"[\w,，、;()（）'’&/-]\s*\Z")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_NEAR = 64


def untouched(text: str) -> list[tuple[int, int]]:
    """Return the spans of code, addresses and quoted lines."""
    return [match.span() for match in _UNTOUCHED.finditer(text)]


def quoted(text: str) -> list[tuple[int, int]]:
    """Return the spans between quotation marks or title marks."""
    return [match.span() for match in _QUOTED.finditer(text)]


def word_before(text: str, start: int) -> str:
    """Return the word, or the mark, that stands before a place, in lower case; or ''."""
    found = _WORD_BEFORE.search(text[max(0, start - _NEAR) : start])
    return found[1].lower() if found else ""


def word_after(text: str, end: int) -> str:
    """Return the next word as it is written when only blanks stand between; or ''."""
    found = _WORD_AFTER.match(text, end, end + _NEAR)
    return found[1] if found else ""


def inside_sentence(text: str, start: int) -> bool:
    """Tell whether a place is not the beginning of a sentence, where any word has a capital."""
    return bool(_IN_A_SENTENCE.search(text[max(0, start - _NEAR) : start]))


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence, within 200 characters each way, in lower case."""
    low = max(0, start - 200)
    before = [match.end() for match in _SENTENCE_END.finditer(text, low, start)]
    after = _SENTENCE_END.search(text, end, end + 200)
    return text[before[-1] if before else low : after.start() if after else end + 200].lower()
