"""What came of a tool's call, on one short line (R8).

What a result says in its first words is often filler. Of its pieces (lines, sentences, fields)
those stay that tell of a fault, of a sum or a figure, or of what was asked; not those that are said
over and over with other numbers.
"""

from __future__ import annotations

import re
from collections import Counter

from memci.smallmodel.ports import Compressor

_ENDS = re.compile(r'\n+|(?<=[.;!?])\s+|(?<=[。！？；])|(?<=,)\s*(?=["\[{])')
_BRACKETS = " \t,{}[]"
_GAP = " … "
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3400-\u9fff]{2}")
_OFTEN = 3  # so many pieces of one form are a list

_FAULT = re.compile(
    r"\b(?:error|exception|fail|denied|refused|not found|timed? ?out|invalid|missing)|"
    "错误|失败|异常|超时|拒绝|找不到|无效",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"\b(?:total|sum|price|cost|count|result|balance|average|status|amount|free|seats?)\b|"
    "合计|总|价|费|余额|结果|状态|数量|平均|共",
    re.IGNORECASE,
)
_WORTH_OF_FAULT = 4.0
_WORTH_OF_SUM = 2.0
_WORTH_OF_FIGURE = 2.0
_WORTH_OF_ASKED = 0.5  # each word of the call
_WORTH_OF_BEGIN = 1.0
_WORTH_OF_LIST = -4.0


def outcome_of(result: str, called: str, most: int, compressor: Compressor) -> str:
    """Return what came of a call (its name and arguments) in at most ``most`` characters."""
    whole = " ".join(result.split())
    if len(whole) <= most:
        return whole
    pieces = [text for each in _ENDS.split(result) if (text := " ".join(each.split()))]
    pieces = [each.strip(_BRACKETS) or each for each in pieces]
    forms = Counter(_DIGITS.sub("0", each) for each in pieces)
    asked = set(_words(called))

    def worth(place: int) -> float:
        piece = pieces[place]
        found = _WORTH_OF_BEGIN if place == 0 else 0.0
        found += _WORTH_OF_FAULT if _FAULT.search(piece) else 0.0
        found += _WORTH_OF_SUM if _SUM.search(piece) else 0.0
        found += _WORTH_OF_FIGURE if _DIGITS.search(piece) else 0.0
        found += _WORTH_OF_LIST if forms[_DIGITS.sub("0", piece)] >= _OFTEN else 0.0
        return found + _WORTH_OF_ASKED * len(asked.intersection(_words(piece)))

    best = sorted(range(len(pieces)), key=lambda place: (-worth(place), place))
    taken: list[int] = []
    room = most
    for place in best:
        cost = len(pieces[place]) + (len(_GAP) if taken else 0)
        if cost <= room:
            taken.append(place)
            room -= cost
        elif not taken:
            return compressor.compress(pieces[place], most).strip()
    return _joined(pieces, sorted(taken))


def _joined(pieces: list[str], taken: list[int]) -> str:
    told = ""
    for before, place in zip([-1, *taken], taken, strict=False):
        beside = before == place - 1 and told.endswith((".", "!", "?", ";"))
        told += (" " if beside else _GAP) * bool(told) + pieces[place]
    return told


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(text)]
