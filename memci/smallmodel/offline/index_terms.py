"""Terms of the lexical index (R12): English stems, character pairs where words have no spaces."""

import functools
import re
import threading
import unicodedata
from typing import Any

from memci.language.word_lists import ENGLISH_STOP_WORDS

LONGEST_TERM = 64

# Vowel signs and accents belong to their words, and \w does not match them.
_MARKS = "".join(
    chr(code) for code in range(0x300, 0x2000) if unicodedata.category(chr(code)).startswith("M")
)
# Scripts that are written without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana and Han
    "\U00020000-\U0003134f"
)
_TERM = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    r"|(?P<number>\d+(?:[.,]\d+)+)"
    rf"|(?P<word>(?:[^\W_{_UNSPACED}]|[{_MARKS}])+)(?:['’](?:s|t|re|ve|m|ll|d)\b)?"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")

_stemmers = threading.local()  # a stemmer keeps the word it works on: one for each thread


class OfflineLexicon:
    """Splits by Unicode rules, stems English, pairs Chinese characters.

    English function words are left out, because every message has them. A text with no other words
    ("Who are you?") keeps them.
    """

    def terms(self, text: str) -> list[str]:
        """Return terms in order, with repeats; none is longer than 64 characters."""
        found: list[str] = []
        stop_words: list[str] = []
        for match in _TERM.finditer(_fold(text)):
            kind, term = match.lastgroup, match[match.lastgroup or 0]
            if kind == "run":
                found.extend([term[at : at + 2] for at in range(len(term) - 1)] or [term])
            elif kind == "number":
                number = term.replace(",", "") if _THOUSANDS.fullmatch(term) else term
                found.append(number[:LONGEST_TERM])
            elif term in ENGLISH_STOP_WORDS:
                stop_words.append(term)
            else:
                found.append(_stem(term) if len(term) <= LONGEST_TERM else term[:LONGEST_TERM])
        return found or stop_words


def _fold(text: str) -> str:
    """Return the text in lower case and in its compatibility form (NFKC)."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()


@functools.lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


def _stemmer() -> Any:
    if not hasattr(_stemmers, "english"):
        import snowballstemmer  # noqa: PLC0415 - some 40 modules: only where text is indexed

        _stemmers.english = snowballstemmer.stemmer("english")
    return _stemmers.english
