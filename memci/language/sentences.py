"""Sentences, their clauses, and pieces of limited length, in English and Chinese."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

# Possible ends within a line. A full stop needs white space behind it (3.5, memci.toml), the
# Chinese marks do not; closing quotes and brackets belong to the sentence. The look-behind keeps
# a long run of stops linear.
_END = re.compile(
    r"(?<![.!?…。！？])"
    r"(?:[。！？!?…]*[。！？][。！？!?…]*|[.!?…]+(?=[\"'”’)\]»]*(?:\s|$))|"
    r"[!?…]+(?=[\"”’)]?[\u3400-\u9fff]))"
    r"[\"'”’)\]»」』）》]*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|no|"
    r"nos|fig|"
    r"eq|vol|pp|ca|cf|al|approx|dept|inc|ltd|co|corp|gen|col|capt|lt|sgt|rev|hon|mt|ave|blvd|rd|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    re.IGNORECASE,
)
# Abbreviations that may end a sentence, unless a small letter or a number follows.
_MAY_END = re.compile(
    r"(?:etc|nos?|fig|eq|vol|inc|ltd|co|corp|al|a\.m|p\.m|[A-Z]\.[A-Z]|\bI)\.$", re.IGNORECASE
)
_FENCE = re.compile(r"^\s*(?:```|~~~)")
# A list number is not a sentence.
_LIST_NUMBER = re.compile(r"^\s*\(?\d{1,3}\.$")
# A line of this length without a closing mark, before a small letter, was wrapped.
_WRAPPED = 60
_LONGEST_ABBREVIATION = 12

_SOUND = re.compile(r"[\W_]+")

Span = tuple[int, int]


def sentence_spans(text: str) -> list[Span]:
    """Return (start, end) of each sentence, in order; only white space lies between them.

    A line ends a sentence, unless it was wrapped; a fenced block of code is one sentence. Others
    have at most 1,000 characters, so that rules which look at all of a sentence take linear time.
    """
    return [span for block in _blocks(text) for span in _spans_in_block(text, block)]


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text``."""
    return [text[start:end] for start, end in sentence_spans(text)]


def normalized_words(text: str) -> str:
    """Return the words of a text for comparison, without case and marks."""
    return _SOUND.sub(" ", text.casefold()).strip()


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, is code) of lines, with wrapped lines joined, and of fenced blocks."""
    start = position = 0
    fence = open_block = False
    previous = ""
    for line in text.splitlines(keepends=True):
        marks_fence = bool(_FENCE.match(line))
        if fence:
            if marks_fence:
                yield start, position + len(line), True
                fence, open_block = False, False
        else:
            if open_block and (marks_fence or not _is_wrapped(previous, line)):
                yield start, position, False
                open_block = False
            if not open_block:
                start, open_block = position, True
            fence = marks_fence
        previous, position = line, position + len(line)
    if open_block:
        yield start, position, fence


def _is_wrapped(line: str, following: str) -> bool:
    text = line.rstrip()
    return (
        len(text) >= _WRAPPED
        and text[-1].isascii()
        and following[:1].islower()
        and (text[-1].isalnum() or text[-1] in ",;-'\"")
    )


def _spans_in_block(text: str, block: tuple[int, int, bool]) -> Iterator[Span]:
    start, end, code = block
    if not code:
        for match in _END.finditer(text, start, end):
            if not _is_within_sentence(text, start, match.end(), end):
                yield from _bounded(text, start, match.end())
                start = match.end()
    yield from _strip_span(text, start, end) if code else _bounded(text, start, end)


_LONGEST = 1_000
_SEAM = re.compile(r"[\s,，、;；:：]")


def _bounded(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _LONGEST:
        half, whole = start + _LONGEST // 2, start + _LONGEST
        seams = [seam.end() for seam in _SEAM.finditer(text, half, whole)]
        stop = seams[-1] if seams else _between_characters(text, whole)
        yield from _strip_span(text, start, stop)
        start = stop
    yield from _strip_span(text, start, end)


def _is_within_sentence(text: str, start: int, stop: int, end: int) -> bool:
    """Return True if the mark that ends at ``stop`` does not end the sentence."""
    if text[stop - 1] != ".":
        return False
    tail = text[max(start, stop - _LONGEST_ABBREVIATION) : stop]
    following = text[stop : min(stop + 2, end)].strip()[:1]
    if stop - start <= _LONGEST_ABBREVIATION and _LIST_NUMBER.match(text[start:stop]):
        return True
    if tail.endswith("..."):
        return following.islower()
    if _MAY_END.search(tail):
        return following.islower() or following.isdigit()
    return bool(_ABBREVIATION.search(tail))


def _strip_span(text: str, start: int, end: int) -> Iterator[Span]:
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    right = len(body.rstrip())
    if left < right:
        yield start + left, start + right


# A comma between digits belongs to a number.
_PART = re.compile(r"(?:[^,;，；、\n]|(?<=\d),(?=\d))+(?:[,;，；、\n]+|$)")
_JOINED = re.compile(r"\s(?=(?:and|but|so)\s)")
_SHORTEST_PART = 8
_MARKS = ",;.!?，。；、！？\n"


def clause_spans(text: str) -> list[Span]:
    """Return [start, stop) of the parts of sentences between marks, or before "and", "but", "so".

    Each may state a fact; the marks are left out.
    """
    found = []
    parts = (part for sentence in sentence_spans(text) for part in _PART.finditer(text, *sentence))
    for start, stop in (part.span() for part in parts):
        cuts = [start]
        for conjunction in _JOINED.finditer(text, start, stop):
            if conjunction.start() - cuts[-1] > _SHORTEST_PART:
                cuts.append(conjunction.start())
        for first, last in pairwise([*cuts, stop]):
            clause = text[first:last]
            begin = first + len(clause) - len(clause.lstrip())
            end = begin + len(clause.strip().rstrip(_MARKS))
            if begin < end:
                found.append((begin, end))
    return found


_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_NEW_LINE = re.compile(r"\n")
_CLAUSE_END = re.compile(r"[,;:，；：、](?=\s|[\u3400-\u9fff])")
_BLANK = re.compile(r"\s")
# A seam in the first part of a piece would make too many small pieces.
_EARLIEST = 0.4
# Never before what modifies a character: accents, joiners, variation selectors, skin tones.
_MODIFIES = re.compile(r"[\u0300-\u036f\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|(?<=\u200d)")
_LONGEST_CLUSTER = 16


def cut_into_pieces(text: str, longest: int) -> Iterator[str]:
    """Yield stripped pieces of at most ``longest`` characters; only white space is lost.

    Seams, best first: blank line, line, sentence, clause, word. A text without any is cut between
    characters.
    """
    start, end = 0, len(text)
    while start < end:
        while start < end and text[start].isspace():
            start += 1
        stop = end if end - start <= longest else start + _seam(text[start : start + longest + 1])
        piece = text[start:stop].rstrip()
        if piece:
            yield piece
        start = stop


def _seam(window: str) -> int:
    """Return where to cut a window that is one character longer than a piece."""
    longest = len(window) - 1
    finders: tuple[Callable[[str], list[int]], ...] = (
        lambda text: [match.end() for match in _BLANK_LINE.finditer(text)],
        lambda text: [match.end() for match in _NEW_LINE.finditer(text)],
        lambda text: [end for _, end in sentence_spans(text)],
        lambda text: [match.end() for match in _CLAUSE_END.finditer(text)],
        lambda text: [match.end() for match in _BLANK.finditer(text)],
    )
    for find in finders:
        found = [at for at in find(window) if longest * _EARLIEST <= at <= longest]
        if found:
            return found[-1]
    return _between_characters(window, longest)


def _between_characters(text: str, place: int) -> int:
    """Return a place, or a little before it, that is not inside a character."""
    ends = range(place, max(place - _LONGEST_CLUSTER, 1), -1)
    return next((at for at in ends if not _MODIFIES.match(text, at)), place)
