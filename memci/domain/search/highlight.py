"""Shortens a text to the sentences that matter for a question; its speakers stay (R14).

A memory names the speaker before each speech (R4); lines without a label belong to the speaker
above them. Another word that looks like a label ("Note:") may be an unknown name or a word of the
speaker. It counts as both, so neither is lost.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from memci.domain.memory.self_contained_text import labels
from memci.domain.token_counts import Count
from memci.language.small_talk import (
    asks_something,
    can_answer,
    content_words,
    has_many_content_words,
    is_trivial,
)
from memci.message import Role

T = TypeVar("T")

_LIKE_A_NAME = r"[^\W\d_][^\s:：,;!?。，；！？]{0,30}(?: [^\s:：,;!?。，；！？]{1,30}){0,2}"
# A colon within a word or a time does not end a label.
_COLON = r"(?::(?!\S)|：)"


class Speaker(NamedTuple):
    """The labels of a speaker; ``other`` is a word that may be a label."""

    label: str = ""  # of a known speaker
    other: str = ""  # below it, a label that may be a name


class Line(NamedTuple):
    """The start of a labelled line, and its speaker."""

    start: int
    speaker: Speaker


UNNAMED = Speaker()
SpeakerLines: TypeAlias = Sequence[Line]


class Speakers:
    """The known speakers: all roles, and some by name."""

    def __init__(self, names: Iterable[str | None] = ()) -> None:
        """Take the names of all possible speakers of a memory."""
        known = {label for role in Role for label in labels(role, None)}
        known |= {called for name in names if name and (called := " ".join(name.split()))}
        longest_first = sorted(known, key=lambda each: (-len(each), each))
        alternatives = "|".join(map(re.escape, longest_first))
        # A question that an answer depends on stands in brackets.
        self._label = re.compile(
            rf"^[^\S\n]*(?P<label>(?P<speaker>\[?(?:{alternatives})[:：])|\[?{_LIKE_A_NAME}{_COLON})",
            re.IGNORECASE | re.MULTILINE,
        )

    def in_memory(self, text: str) -> SpeakerLines:
        """Return the labelled lines of a memory, in order."""
        lines: list[Line] = []
        speaker = ""
        for match in self._label.finditer(text):
            label = match["label"]
            other = "" if match["speaker"] else label
            speaker = match["speaker"] or speaker
            lines.append(Line(match.start("label"), Speaker(speaker, other)))
            if label.startswith("["):
                speaker = ""  # somebody else answers the question
        return lines


def speaker_at(lines: SpeakerLines, place: int) -> Speaker:
    """Return the speaker at a position of a memory."""
    at = bisect_right(lines, place, key=lambda line: line.start)
    return lines[at - 1].speaker if at else UNNAMED


def line_at(lines: SpeakerLines, start: int, end: int) -> Line | None:
    """Return the first labelled line that begins in the range from start to end (excluded)."""
    at = bisect_left(lines, start, key=lambda line: line.start)
    return lines[at] if at < len(lines) and lines[at].start < end else None


def label_for(speaker: Speaker, above: Speaker, *, labelled: bool) -> str:
    """Return the label for words below those of ``above``; "" if none is needed.

    ``labelled``: the words begin with their own label, on a line of its own.
    """
    if labelled:
        return speaker.label if speaker.other and speaker.label != above.label else ""
    if speaker in (above, UNNAMED):
        return ""
    if speaker.other and speaker.label == above.label:
        return speaker.other
    return "\n".join(each for each in speaker if each)


def add_colon_space(label: str) -> str:
    """Return a label with a blank after it, except after a Chinese colon."""
    return f"{label} " if label.endswith(":") else label


# A sentence of a text: [start, end), in characters.
Span: TypeAlias = tuple[int, int]
# Returns the sentences of a text in order; there is only white space between them.
Spans: TypeAlias = Callable[[str], Sequence[Span]]

# The worth of a sentence: its rare words, those of the question more, its names and numbers.
_ASKED = 4.0
_NAMES = 3.0
_DENIED = 2.0  # the meaning may depend on a denial
_TOKENS_POWER = 0.7  # between the worth of a sentence and its worth per token
# Characters; words with the same beginning are equal: "painted", "painting".
_STEM = 5
_COURTESY_CHARACTERS = 20
_LONGEST_COURTESY = 60  # characters
_RARITY_TEXTS = 40  # the rarity of words is measured on the best texts
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+|\d+")
_DENIES = re.compile(r"\W*(?:no|nope|nah|not|never)\b|\W*[不没别]", re.IGNORECASE)
_DENIES_ANYWHERE = re.compile(r"\b(?:no|not|never|cannot|\w+n['’]t)\b|[不没别]", re.IGNORECASE)
_LABEL = re.compile(r"([^\s:：][^:：]{0,39})[:：]\s*")
_MARK = "…"
_NO_BLANK_AFTER = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")


def whole(text: str) -> list[Span]:
    """Return a text as one sentence."""
    return [(0, len(text))]


class _Last(Generic[T]):
    """Keeps the last value, and what it was made of."""

    def __init__(self) -> None:
        self._made: tuple[object, T] | None = None

    def get(self, key: object, make: Callable[[], T]) -> T:
        """Return the value that was made of an equal key, or make it."""
        if self._made is None or self._made[0] != key:
            self._made = (key, make())
        return self._made[1]


class Highlighter:
    """Cuts long entries to the sentences that matter for the question."""

    def __init__(self, asked: str | None, texts: Sequence[str], spans: Spans, count: Count) -> None:
        """Take the question, and the found texts, best first."""
        self._asked = asked or ""
        self._texts = texts[:_RARITY_TEXTS]
        self._spans = spans
        self._count = count
        # Callers cut one text, which may be long, several times.
        self._informative: _Last[Sequence[Span]] = _Last()
        self._ordered: _Last[list[tuple[Span, int]]] = _Last()

    def cut(
        self, text: str, limit: int, lines: SpeakerLines = (), passage: Span | None = None
    ) -> str:
        """Return the best whole sentences of a text, in order: at most ``limit`` tokens, or one.

        A text that fits loses its courtesy only.
        A mark replaces omitted sentences that are no courtesy: they may qualify the rest.
        ``lines``: those of a memory. ``passage``: the part of the text to choose from, if any.
        """
        spans = self._spans(text)
        if len(spans) < 2:  # noqa: PLR2004 - nothing can go
            return text
        informative = self._informative_of(text, spans, lines)
        if self._count(text) <= limit:
            return join_sentences(text, informative, lines=lines)
        answering = [each for each in informative if passage and _overlap(each, passage)]
        best = self._best(text, answering or informative, limit)
        return join_sentences(text, best, informative, lines)

    def without_courtesy(self, text: str, lines: SpeakerLines = ()) -> str:
        """Return all sentences of a text except courtesy; at least one."""
        informative = self._informative_of(text, self._spans(text), lines)
        return join_sentences(text, informative, lines=lines) or text

    def _informative_of(
        self, text: str, spans: Sequence[Span], lines: SpeakerLines
    ) -> Sequence[Span]:
        return self._informative.get((text, lines), lambda: _informative(text, spans, lines))

    def _best(self, text: str, spans: Sequence[Span], limit: int) -> list[Span]:
        kept: list[Span] = []
        free = limit
        ordered = self._ordered.get((text, spans), lambda: self._by_worth(text, spans))
        for each, tokens in ordered:
            if not kept or tokens <= free:
                kept.append(each)
                free -= tokens
        return sorted(kept)

    def _by_worth(self, text: str, spans: Iterable[Span]) -> list[tuple[Span, int]]:
        """Return sentences with their tokens, those of the greatest worth per token first."""
        sentences = {each: text[slice(*each)] for each in spans}
        tokens = {each: self._count(sentences[each]) for each in sentences}
        stems = {each: _stems(sentences[each]) for each in sentences}
        rarity = self._rarity_among(list(stems.values()))
        worth = {
            each: _worth(sentences[each], map(rarity, stems[each]))
            / max(tokens[each], 1) ** _TOKENS_POWER
            for each in tokens
        }
        return sorted(tokens.items(), key=lambda counted: (-worth[counted[0]], counted[0]))

    def _rarity_among(self, sentences: Sequence[Collection[str]]) -> Callable[[str], float]:
        """Return a function from a word to its rarity, which is higher for the question's words.

        ``sentences``: their words. A question word in few of very many sentences identifies its
        topic.
        """
        asked = {word: self._rarity(word) for word in self._words}
        if len(sentences) > _RARITY_TEXTS:
            holding = Counter(word for each in sentences for word in each if word in asked)
            asked = {
                word: max(rarity, _rarity(holding[word], len(sentences)))
                for word, rarity in asked.items()
            }
        return lambda word: _ASKED * asked[word] if word in asked else self._rarity(word)

    def _rarity(self, stem: str) -> float:
        return _rarity(self._frequency[stem], len(self._texts))

    @cached_property
    def _words(self) -> Collection[str]:
        return _stems(self._asked)

    @cached_property
    def _frequency(self) -> Counter[str]:
        return Counter(stem for text in self._texts for stem in _stems(text))


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in content_words(text)}


def _rarity(holding: int, texts: int) -> float:
    return math.log((texts + 1) / (holding + 0.5))


def _worth(sentence: str, rarities: Iterable[float]) -> float:
    denies = _DENIED if _DENIES_ANYWHERE.search(sentence) else 0.0
    return sum(rarities) + denies + _NAMES * len(_NAME.findall(sentence))


def _informative(text: str, spans: Sequence[Span], lines: SpeakerLines) -> Sequence[Span]:
    """Return all sentences except courtesy; all if nothing else remains."""
    speakers = {each.speaker.label.strip("[:：") for each in lines}
    texts = [_unlabelled(text, each, lines) for each in spans]
    return [
        each
        for each, before, now in zip(spans, ["", *texts], texts, strict=False)
        if not is_courtesy(now, speakers) or (lines and answers(now, before))
    ] or spans


def answers(sentence: str, before: str) -> bool:
    """Return True if a sentence may answer the previous one: then "Yes." is no courtesy."""
    return asks_something(before) and can_answer(sentence)


def _unlabelled(text: str, span: Span, lines: SpeakerLines) -> str:
    line = line_at(lines, span[0], span[0] + 1)
    label = (line.speaker.other or line.speaker.label) if line else ""
    return text[span[0] + len(label) : span[1]].lstrip()


def is_courtesy(sentence: str, speakers: Collection[str] = ()) -> bool:
    """Return True if a sentence only greets, thanks or asks back; "No." does not.

    ``speakers``: the names in the conversation; courtesy may contain them.
    """
    if len(sentence) > _LONGEST_COURTESY or has_many_content_words(sentence):
        return False
    return is_trivial(sentence, _COURTESY_CHARACTERS, speakers) and not _DENIES.match(sentence)


def is_all_courtesy(lines: str) -> bool:
    """Return True if every line of a memory is courtesy after its speaker label."""
    named = [_LABEL.match(line) for line in lines.splitlines()]
    called = re.compile("|".join([*(re.escape(label[1]) for label in named if label), "(?!)"]))
    texts = (called.sub("", _LABEL.sub("", line, count=1)).strip() for line in lines.splitlines())
    return all(
        is_trivial(each, _COURTESY_CHARACTERS) and not _DENIES.match(each) for each in texts if each
    )


def join_sentences(
    text: str,
    spans: Iterable[Span],
    among: Collection[Span] = (),
    lines: SpeakerLines = (),
) -> str:
    """Return sentences of a text; the text between two neighbours is unchanged.

    A mark replaces omitted sentences of ``among``. ``lines``: those of a memory; each sentence
    stands under the label of its line.
    """
    chosen = list(spans)
    if not chosen:
        return ""
    missing = sorted(start for start, _ in set(among).difference(chosen))
    pieces: list[str] = []
    last, above = 0, UNNAMED
    for start, stop in chosen:
        lacks = bisect_left(missing, last) < bisect_left(missing, start)
        own = line_at(lines, start, start + 1) is not None
        label = label_for(speaker_at(lines, start), above, labelled=own)
        if label or not last:
            pieces.append(_opening(text, start, label, begun=bool(last), lacks=lacks, own=own))
        else:
            pieces.append(_between(text, last, start, lacks=lacks))
        pieces.append(text[start:stop])
        last, above = stop, speaker_at(lines, stop - 1)
    if missing and missing[-1] >= last:
        pieces.append(f"{_blank(text, last)}{_MARK}")
    return "".join(pieces)


def _opening(text: str, start: int, label: str, *, begun: bool, lacks: bool, own: bool) -> str:
    """Return the text before the first sentence, or the first one of another speaker.

    A sentence with a label of its ``own`` begins a line, so that the label is recognised.
    """
    line = "\n" if begun else ""
    mark = _MARK if lacks else ""
    if own:
        above = f"{add_colon_space(label)}{mark}".rstrip()
        return f"{line}{above}\n" if above else line
    return line + add_colon_space(label) + (mark + _blank(text, start + 1) if lacks else "")


def _between(text: str, end: int, start: int, *, lacks: bool) -> str:
    between = text[end:start]
    if not between.strip():
        return between
    blank = "\n" if "\n" in between else _blank(text, end)
    return f"{_blank(text, end)}{_MARK}{blank}" if lacks else blank


def _blank(text: str, end: int) -> str:
    """Return the blank, if any, after a sentence that another follows on its line."""
    return "" if _NO_BLANK_AFTER.match(text[end - 1]) else " "
