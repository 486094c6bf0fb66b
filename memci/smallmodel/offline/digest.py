"""Which lines of a long conversation tell most in little room (R8).

A line counts for the words in it that no line taken before has: names, figures and dates most,
empty words nothing. So what is said of one thing gives way to another, and lines of all topics and
times find room. How much it counts goes by what it is: decisions first, then what weighs in a life,
wishes, rules and plans, results of tools; questions and what an assistant says back least.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from memci.domain.context.summary_lines import Line, under_days
from memci.domain.language import language_of
from memci.smallmodel.offline.courtesy import introduces, is_courtesy
from memci.smallmodel.offline.cues import Cue, cues_of
from memci.smallmodel.offline.weights import weigh
from memci.smallmodel.offline.worth import judged

_LENGTH_OF_DAY = 11
# Whoever speaks, before what is said.
_LEAD = re.compile(r"[^:：→\n]{1,48}: |[^:：→，。\s]{1,12}：")
_ASSISTANT = re.compile(r"assistant: |助手：")
TOOL_MARK = " → "

# A word that was told of before counts for so much of its weight, each time.
_AGAIN = 0.2
# Longer lines count for less of each word: below 1, else the longest would always be taken.
_LENGTH = 0.9
_QUESTION = 0.25
_TALK = 0.2
_SAID_BACK = 0.4
# Of fewer words that weigh something a line is a mere exclamation, or leans on others.
_ENOUGH = 4
_WORTH = 0.1  # for each point of worth, 0 to 10
# A line that stands alone has so many words that weigh something, or some that weigh so much.
_ALONE = 3
_ALONE_WEIGHT = 30.0
# Whom it speaks of, the line before says.
_LEANS = re.compile(r"(?:s?he|it|they|these|those)\b|[她他它]", re.IGNORECASE)
_NEWEST = 0.15  # how much more the last line counts than the first


class Kind(Enum):
    """What a line does; the value is how much more it counts."""

    DECISION = 5.0
    WANTED = 1.6  # preferences, constraints, corrections, plans, and who is talking
    TOOL = 1.2
    OTHER = 1.0


_KINDS: Mapping[Cue, Kind] = {
    Cue.DECISION: Kind.DECISION,
    Cue.CONSTRAINT: Kind.WANTED,
    Cue.PREFERENCE: Kind.WANTED,
    Cue.CORRECTION: Kind.WANTED,
    Cue.PLAN: Kind.WANTED,
}


def written(lines: Sequence[Line], room: int | None = None) -> str:
    """Return lines under their days; where the day does not matter, only if it fits in ``room``."""
    whole = under_days(lines)
    if _is_dated(lines) or room is None or len(whole) <= room:
        return whole
    return "\n".join(each.text for each in lines)


def _is_dated(lines: Sequence[Line]) -> bool:
    return len({each.day for each in lines}) > 1 or any(each.relative for each in lines)


def told_most(lines: Sequence[Line], room: int) -> list[Line]:
    """Return those lines, in order, that together tell most in ``room`` characters."""
    if len(written(lines, room)) <= room:
        return list(lines)
    whole = room
    speakers = _speakers(lines)
    weighed = [_weighed(line, at / len(lines), speakers) for at, line in enumerate(lines)]
    told: dict[str, int] = {}
    taken: list[int] = []  # as they were taken: what tells most first
    days = set() if _is_dated(lines) else {each.day for each in lines}
    waiting = [(-each.density(told), at) for at, each in enumerate(weighed)]
    heapq.heapify(waiting)
    while waiting:
        _, at = heapq.heappop(waiting)
        line = lines[at]
        cost = len(line.text) + 1 + (_LENGTH_OF_DAY if line.day and line.day not in days else 0)
        if cost > room + 1:
            continue
        density = weighed[at].density(told)
        if waiting and density < -waiting[0][0]:
            heapq.heappush(waiting, (-density, at))
            continue
        taken.append(at)
        days.add(line.day)
        room -= cost
        for key in weighed[at].words:
            told[key] = told.get(key, 0) + 1
    # Days that come in no order stand above their lines more than once.
    while taken and len(written([lines[at] for at in sorted(taken)], whole)) > whole:
        taken.pop()
    return [lines[at] for at in sorted(taken)]


def most_telling(lines: Sequence[Line]) -> Line:
    """Return the one line that tells most, however long it is."""
    best = max(
        enumerate(lines), key=lambda each: _weighed(each[1], each[0] / len(lines)).density({})
    )
    return best[1]


def tells_alone(line: Line) -> bool:
    """Tell whether a line tells something where those around it are left out.

    "I'm nervous." does not, nor "She loves it", nor does a question.
    """
    body = body_of(line.text)
    if line.is_day or _LEANS.match(body):
        return False
    if TOOL_MARK in line.text or introduces(body) or _KINDS.keys() & cues_of(body):
        return True
    words = _weighed(line, 0).words
    enough = len(words) >= _ALONE or sum(words.values()) >= _ALONE_WEIGHT
    return enough and not body.endswith(("?", "？"))


def body_of(text: str) -> str:
    """Return what is said in a line, without who says it."""
    lead = _LEAD.match(text)
    return text[lead.end() :] if lead else text


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A line's words by what they weigh, and how much the line counts for each character."""

    words: Mapping[str, float]
    factor: float

    def density(self, told: Mapping[str, int]) -> float:
        return self.factor * sum(
            weight * _AGAIN ** told.get(key, 0) for key, weight in self.words.items()
        )


def _speakers(lines: Sequence[Line]) -> frozenset[str]:
    """Return the names before what is said: whoever is spoken to is no news."""
    leads = filter(None, (_LEAD.match(each.text) for each in lines))
    return frozenset(lead[0].rstrip("：: ").lower() for lead in leads)


def _weighed(line: Line, place: float, speakers: Collection[str] = ()) -> _Weighed:
    body = body_of(line.text)
    words: dict[str, float] = {}
    for word in weigh(body, language_of(body)):
        if word.weight and word.key not in speakers:
            words[word.key] = max(word.weight, words.get(word.key, 0.0))
    factor = _counts(line.text, body) * (1 + _NEWEST * place)
    factor *= 1.0 if introduces(body) else min(1.0, len(words) / _ENOUGH)
    return _Weighed(words, factor / (len(line.text) + 1) ** _LENGTH)


def _counts(text: str, body: str) -> float:
    if TOOL_MARK in text:
        return Kind.TOOL.value
    if is_courtesy(body):
        return _TALK
    back = _SAID_BACK if _ASSISTANT.match(text) else 1.0
    if body.endswith(("?", "？")):
        return _QUESTION * back
    kinds = {_KINDS[cue] for cue in cues_of(body) if cue in _KINDS}
    kinds |= {Kind.WANTED} if introduces(body) else set()
    kind = max((each.value for each in kinds), default=Kind.OTHER.value)
    # A decision counts, whoever tells of it.
    back = 1.0 if Kind.DECISION in kinds else back
    return kind * back * (1 + _WORTH * judged(body, lambda: False).worth)
