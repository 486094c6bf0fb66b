"""Lines of a summary, and the most informative lines of a conversation (R8).

A day has a line of its own above the lines of that day.

The value of a line is the weight of its words that no line chosen before has. Names, figures and
dates weigh most, empty words nothing. So repetitions lose against new topics. The value also
depends on the kind of the line: decisions count most, then facts about a person's life, wishes,
rules, plans and results of tools; questions and an assistant's replies count least.

A summary that is continued keeps something at any length. A summary that is only shown in less room
keeps whole lines alone, because a part of a sentence may mislead.
"""

import heapq
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memci.language import detection, word_weights
from memci.language.cue_phrases import Cue, find_cues, introduces_speaker, is_courtesy
from memci.language.sentences import sentences

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a summary and the day of its message ("" if unknown).

    ``relative``: its times are relative to that day ("yesterday").
    """

    text: str
    day: str = ""
    relative: bool = False

    @property
    def is_day(self) -> bool:
        """True if the line is only a day."""
        return bool(_DAY.fullmatch(self.text))


def parse_lines(summary: str) -> list[Line]:
    """Return the lines of a summary by any author.

    A day without lines below it becomes a line itself.
    """
    lines: list[Line] = []
    day = ""
    rows = [text for each in summary.splitlines() if (text := each.strip())]
    for text, below in zip(rows, [*rows, ""][1:], strict=True):
        if not _DAY.fullmatch(text):
            lines.append(Line(text, day, relative=bool(day)))
        elif below and not _DAY.fullmatch(below):
            day = text
        else:
            lines.append(Line(text))
    return lines


def format_lines(lines: Sequence[Line]) -> str:
    """Return the lines under their days."""
    rows: list[str] = []
    day = ""
    for line in lines:
        if line.day and line.day != day:
            day = line.day
            rows.append(day)
        rows.append(line.text)
    return "\n".join(rows)


_LENGTH_OF_DAY = 11
# The speaker before a line.
_SPEAKER = re.compile(r"[^:：→\n]{1,48}: |[^:：→，。\s]{1,12}：")
_ASSISTANT = re.compile(r"assistant: |助手：")
TOOL_MARK = " → "

# The factor of a word for each repetition.
_REPETITION = 0.2
# Below 1, so that each word of a longer line counts less; else the longest would always win.
_LENGTH_EXPONENT = 0.9
_QUESTION = 0.25
_COURTESY = 0.2
_REPLY = 0.4
# A line with fewer weighted words is an exclamation, or depends on others.
_FULL_LINE_WORDS = 4
# A self-contained line has at least so many weighted words, or words of this weight.
_SELF_CONTAINED_WORDS = 3
_SELF_CONTAINED_WEIGHT = 30.0
# A pronoun of the third person refers to the line before.
_NEEDS_LINE_BEFORE = re.compile(r"(?:s?he|it|they|these|those)\b|[她他它]", re.IGNORECASE)
_NEWEST = 0.15  # how much more the last line counts than the first


# The factor of a line by its kind. `_WANTED`: also of who is talking.
_WANTED, _TOOL = 1.6, 1.2
_FACTORS = {
    Cue.DECISION: 5.0,
    **dict.fromkeys((Cue.CONSTRAINT, Cue.PREFERENCE, Cue.CORRECTION, Cue.PLAN), _WANTED),
}


def format_to_fit(lines: Sequence[Line], room: int | None = None) -> str:
    """Return lines under their days; days without importance are left out if ``room`` is short."""
    whole = format_lines(lines)
    if _is_dated(lines) or room is None or len(whole) <= room:
        return whole
    return "\n".join(each.text for each in lines)


def _is_dated(lines: Sequence[Line]) -> bool:
    return len({each.day for each in lines}) > 1 or any(each.relative for each in lines)


def select_lines(lines: Sequence[Line], room: int) -> list[Line]:
    """Return the lines, in order, that together are worth most in ``room`` characters."""
    if len(format_to_fit(lines, room)) <= room:
        return list(lines)
    whole = room
    speakers = _speakers(lines)
    weighed_lines = [_weigh_line(line, at / len(lines), speakers) for at, line in enumerate(lines)]
    seen: dict[str, int] = {}
    taken: list[int] = []  # in the order of their value
    days = set() if _is_dated(lines) else {each.day for each in lines}
    waiting = [(-each.density(seen), at) for at, each in enumerate(weighed_lines)]
    heapq.heapify(waiting)
    while waiting:
        _, at = heapq.heappop(waiting)
        line = lines[at]
        cost = len(line.text) + 1 + (_LENGTH_OF_DAY if line.day and line.day not in days else 0)
        if cost > room + 1:
            continue
        density = weighed_lines[at].density(seen)
        if waiting and density < -waiting[0][0]:
            heapq.heappush(waiting, (-density, at))
            continue
        taken.append(at)
        days.add(line.day)
        room -= cost
        for key in weighed_lines[at].words:
            seen[key] = seen.get(key, 0) + 1
    # Days out of order are repeated above their lines.
    while taken and len(format_to_fit([lines[at] for at in sorted(taken)], whole)) > whole:
        taken.pop()
    return [lines[at] for at in sorted(taken)]


def best_line(lines: Sequence[Line]) -> Line:
    """Return the line that is worth most, whatever its length."""
    best = max(
        enumerate(lines), key=lambda each: _weigh_line(each[1], each[0] / len(lines)).density({})
    )
    return best[1]


def is_self_contained(line: Line) -> bool:
    """Return True if a line is informative without the lines around it.

    False for "I'm nervous.", "She loves it" and questions.
    """
    body = without_speaker(line.text)
    if line.is_day or _NEEDS_LINE_BEFORE.match(body):
        return False
    if TOOL_MARK in line.text or introduces_speaker(body) or _FACTORS.keys() & find_cues(body):
        return True
    words = _weigh_line(line, 0).words
    enough = len(words) >= _SELF_CONTAINED_WORDS or sum(words.values()) >= _SELF_CONTAINED_WEIGHT
    return enough and not body.endswith(("?", "？"))


def without_speaker(text: str) -> str:
    """Return the text of a line without its speaker."""
    speaker = _SPEAKER.match(text)
    return text[speaker.end() :] if speaker else text


@dataclass(frozen=True, slots=True)
class _Weighed:
    words: Mapping[str, float]
    factor: float

    def density(self, seen: Mapping[str, int]) -> float:
        return self.factor * sum(
            weight * _REPETITION ** seen.get(key, 0) for key, weight in self.words.items()
        )


def _speakers(lines: Sequence[Line]) -> frozenset[str]:
    """Return the names before the lines; addressing a speaker adds no information."""
    leads = filter(None, (_SPEAKER.match(each.text) for each in lines))
    return frozenset(speaker[0].rstrip("：: ").lower() for speaker in leads)


def _weigh_line(line: Line, place: float, speakers: Collection[str] = ()) -> _Weighed:
    body = without_speaker(line.text)
    words: dict[str, float] = {}
    for word in word_weights.weigh(body, detection.language_of(body)):
        if word.weight and word.key not in speakers:
            words[word.key] = max(word.weight, words.get(word.key, 0.0))
    factor = _line_factor(line.text, body) * (1 + _NEWEST * place)
    factor *= 1.0 if introduces_speaker(body) else min(1.0, len(words) / _FULL_LINE_WORDS)
    return _Weighed(words, factor / (len(line.text) + 1) ** _LENGTH_EXPONENT)


def _line_factor(text: str, body: str) -> float:
    if TOOL_MARK in text:
        return _TOOL
    if is_courtesy(body):
        return _COURTESY
    reply_factor = _REPLY if _ASSISTANT.match(text) else 1.0
    if body.endswith(("?", "？")):
        return _QUESTION * reply_factor
    cues = find_cues(body)
    introduced = _WANTED if introduces_speaker(body) else 1.0
    factor = max(introduced, *(_FACTORS.get(cue, 1.0) for cue in cues), 1.0)
    # A decision counts fully for every speaker.
    return factor if Cue.DECISION in cues else factor * reply_factor


# Longer lines are paragraphs of other authors: the extractor writes one sentence per line.
_LONGEST_LINE = 240


def shorten_summary(summary: str, target: int) -> str:
    """Return the lines that are worth most in ``target`` characters, under their days.

    All lines if they fit; else no line that needs the line before it, and "" if none is left.
    """
    if len(summary) <= target:
        return summary
    lines = [part for each in parse_lines(summary) for part in _split_long_line(each)]
    dependent = [
        (before, each)
        for before, each in pairwise([Line(""), *lines])
        if not is_self_contained(each)
    ]
    while True:
        kept = select_lines(lines, target)
        lost = [each for before, each in dependent if each in kept and before not in kept]
        if not lost:
            return format_to_fit(kept, target)
        lines = [each for each in lines if each not in lost]


def _split_long_line(line: Line) -> Iterator[Line]:
    if len(line.text) <= _LONGEST_LINE or TOOL_MARK in line.text:
        yield line
        return
    body = without_speaker(line.text)
    speaker = line.text[: len(line.text) - len(body)]
    for sentence in sentences(body):
        yield replace(line, text=f"{speaker}{sentence}")
