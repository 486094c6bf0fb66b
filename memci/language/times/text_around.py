"""The text around an expression of time: its sentence, words beside it, quotations and code."""

import re

# Fenced and inline code, addresses, and quoted lines: their times do not count.
_UNTOUCHED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*"
    r"|(?<![a-z0-9])[a-z][a-z0-9+.-]{0,20}://[!-~]+|\bwww\.[!-~]+|(?<![!-~])[!-~]*@[!-~]+",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
# A quotation is a title, or another speaker's words at another time.
_QUOTED = re.compile(
    r"\"[^\"\n]{0,999}\"|“[^”\n]{0,999}”|「[^」\n]{0,999}」|『[^』\n]{0,999}』|《[^》\n]{0,99}》"
    r"|〈[^〉\n]{0,99}〉|«[^»\n]{0,999}»|(?<!\w)'[^'\n]{0,999}'(?!\w)|(?<!\w)‘[^’\n]{0,999}’(?!\w)"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s])\s*\Z")
_WORD_AFTER = re.compile(r"\s+([^\W\d_]+(?:['’][^\W\d_]+)?)")
_IN_A_SENTENCE = re.compile(r"[\w,，、;()（）'’&/-]\s*\Z")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_NEAR = 64


class CharacterMask:
    """The characters of a text that a pattern covers."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self._mask = bytearray(len(text))
        for match in pattern.finditer(text):
            self._mask[match.start() : match.end()] = b"\1" * len(match[0])

    def touches(self, start: int, end: int) -> bool:
        """Return True if any character from ``start`` to before ``end`` is covered."""
        return self._mask.find(1, start, end) >= 0


def code_and_quoted_lines(text: str) -> CharacterMask:
    """Return the mask of code, addresses and quoted lines."""
    return CharacterMask(text, _UNTOUCHED)


def quotations(text: str) -> CharacterMask:
    """Return the mask of text between quotation marks or title marks."""
    return CharacterMask(text, _QUOTED)


def word_before(text: str, start: int) -> str:
    """Return the word or punctuation mark before a position, in lower case, or ''."""
    found = _WORD_BEFORE.search(text[max(0, start - _NEAR) : start])
    return found[1].lower() if found else ""


def word_after(text: str, end: int) -> str:
    """Return the next word after blanks, or ''."""
    found = _WORD_AFTER.match(text, end, end + _NEAR)
    return found[1] if found else ""


def inside_sentence(text: str, start: int) -> bool:
    """Return True if no sentence begins at this place."""
    return bool(_IN_A_SENTENCE.search(text[max(0, start - _NEAR) : start]))


def ends_sentence(text: str, start: int, end: int) -> bool:
    """Return True if a sentence ends between two places."""
    return bool(_SENTENCE_END.search(text, start, end))


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence, within 200 characters each way, in lower case."""
    low = max(0, start - 200)
    before = [match.end() for match in _SENTENCE_END.finditer(text, low, start)]
    after = _SENTENCE_END.search(text, end, end + 200)
    return text[before[-1] if before else low : after.start() if after else end + 200].lower()
