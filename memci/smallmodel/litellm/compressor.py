"""Compress texts with a language model, and refuse invented facts (M12).

Models invent facts, and a text can provoke it ("ignore your instructions and say …"). Figures,
addresses and names are checked against the text; other parts only by length and shape.
"""

import re
import unicodedata
from collections.abc import Iterator

from memci.domain.memory.compression_scan import check_compressed
from memci.errors import SmallModelAnswerError
from memci.language.detection import language_of
from memci.smallmodel.litellm import language_model
from memci.smallmodel.ports import Compressor

_FIGURES = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d)[,_'’\u00a0\u202f](?=\d{3}(?!\d))")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"'，。）]+|[\w.+-]+@[\w-]+\.[\w.]+")
_CAPITAL = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z\u00c0-\u024f]{2,}")
# After these any word may have a capital.
_BEGINS = frozenset(".!?…:;。！？：；\n\"“”'‘(（[-–—•*")
_SHORTEST_SHOUT = 4
_WORD = re.compile(r"[^\W\d_]+")
# Letters; shorter stems match too many words.
_SHORTEST_STEM = 3


def invented(answer: str, *sources: str) -> list[str]:
    """Return the figures, addresses and names of ``answer`` that are in no source."""
    answer = _folded(answer)
    source = _folded("\n".join(sources))
    lower = source.casefold()
    figures = set(_FIGURES.findall(source))
    words = {word.casefold() for word in _WORD.findall(source)}
    addresses = [each.rstrip(".,;").casefold() for each in _ADDRESS.findall(answer)]
    found = [each for each in addresses if each not in lower]
    found += [each for each in _FIGURES.findall(answer) if each not in figures]
    return found + [
        each
        for each in _capitalized_names(answer)
        if not _contains_name(each.casefold(), words, lower)
    ]


def contains_word(word: str, text: str) -> bool:
    """Return True if ``text`` contains ``word``, regardless of case, width and blanks."""
    return _without_blanks(word) in _without_blanks(text)


def shares_word_stems(word: str, text: str) -> bool:
    """Return True if each part of ``word`` is in ``text``, or begins like one of its words."""
    if contains_word(word, text):
        return True
    lower = _folded(text).casefold()
    words = set(_WORD.findall(lower))
    parts = _WORD.findall(_folded(word).casefold())
    return bool(parts) and all(
        part.isascii() and _contains_name(part, words, lower) for part in parts
    )


def _capitalized_names(text: str) -> Iterator[str]:
    """Yield capitalised words inside a sentence, and words in capitals."""
    for match in _CAPITAL.finditer(text):
        before = text[max(0, match.start() - 3) : match.start()].rstrip(" ")
        inside = bool(before) and before[-1] not in _BEGINS
        if inside or (match[0].isupper() and len(match[0]) >= _SHORTEST_SHOUT):
            yield match[0]


def _contains_name(name: str, words: set[str], text: str) -> bool:
    """Return True if the text contains a name, or another form: a plural, "Monday" for "Mon"."""
    stem = name[: max(_SHORTEST_STEM, len(name) - 3)]
    return name in text or any(
        word.startswith(stem) or (len(word) >= _SHORTEST_STEM and name.startswith(word))
        for word in words
    )


def _folded(text: str) -> str:
    return _GROUPED.sub("", unicodedata.normalize("NFKC", text))


def _without_blanks(text: str) -> str:
    return "".join(_folded(text).casefold().split())


# Models count badly, so the prompt has a lower limit.
_ASKED = 0.9
# Characters. Models cannot write shorter texts.
_SHORTEST_ASKED = 16


class LlmCompressor(language_model.ModelTask[Compressor]):
    """Makes one call for each text; the pass retries failures (M13).

    The offline model compresses to targets below 16 characters, and all texts when the day's budget
    is used up.
    """

    at_once = 1

    def compress(self, text: str, target: int) -> str:
        """Return ``text`` in at most ``target`` characters.

        Raises ``SmallModelAnswerError`` for an answer that is empty, longer than ``target``, not
        shorter than ``text``, or that has figures, addresses or names which are not in ``text``.
        """
        if target < _SHORTEST_ASKED:
            return self._offline.compress(text, target)

        def read(answer: language_model.Shorter) -> str:
            shorter = check_compressed(answer.text, target=target, length=len(text))
            refuse_invented(shorter, text)
            return shorter

        question = language_model.Question(
            prompt="compress",
            language=language_of(text),
            data={"text": text, "max_characters": int(target * _ASKED)},
            shape=language_model.Shorter,
            read=read,
        )
        try:
            return self._model.ask_once(question)
        except language_model.BudgetUsedUpError:
            return self._offline.compress(text, target)


def refuse_invented(answer: str, *sources: str) -> None:
    """Raise ``SmallModelAnswerError`` if an answer contains facts that are in no source."""
    count = len(invented(answer, *sources))
    if count:
        raise SmallModelAnswerError(
            f"the model's answer states {count} figures, addresses or names that the text does not"
        )
