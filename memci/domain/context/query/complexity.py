"""How much a question asks for (R10)."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

# Each sign that a question needs several memories, and its weight: 1 - the product of what they
# leave is the complexity, so that no sign brings it above 1.
_SEVERAL = 0.65
_COMPARED = 0.6
_IN_ORDER = 0.4
_OPEN = 0.35
_JOINED = 0.2
_ANOTHER_NAME = 0.15
_ANOTHER_TIME = 0.2
_ANOTHER_PART = 0.45
_LENGTH = 0.3
# Characters from which a question is as long as they come; a Han character says more than a letter.
_LONG, _HAN_WEIGHT = 400, 3
_HAN = re.compile(r"[\u3400-\u9fff]")
_AUXILIARY = "(?:did|do|does|is|was|has|have|had|are|were|would|will|can|could|might)"


class _Sign(NamedTuple):
    weight: float
    english: str
    chinese: str


# "What books has she read", "which countries did he visit".
_PLURAL = (
    rf"\b(?:what|which) (?:(?!{_AUXILIARY}\b)\w+ ){{0,3}}?(?!{_AUXILIARY}|news\b|series\b)"
    rf"\w+[^s\W]s (?:has|have|had|did|do|does|are|were|can|could|would|might)\b"
)
_SIGNS = (
    _Sign(
        _SEVERAL,
        r"\bhow (?:many|much|often)\b|\b(?:list|enumerate|every|each|all)\b"
        r"|\b(?:what|which) (?:kinds of|types of|sorts of|two|three|four|five|other)\b"
        r"|\bwhat (?:are|were) (?:the|some|all|his|her|their|my|our|your|\w+['’]s)\b|" + _PLURAL,
        "哪些|哪几|多少|几(?:个|次|种|部|本|家|位)|所有|全部|列出|列举|每(?:个|次|天|一)"
        "|都(?:有|是|去|做|看|吃|买)",
    ),
    _Sign(
        _COMPARED,
        r"\bcompar\w*|\bdifferences?\b|\bdiffers?\b|\bdifferent (?:from|than)\b"
        r"|\bhow .{1,40}different\b|\bversus\b|\bvs\b|\bboth\b|\bsimilar\w*|\bin common\b"
        r"|\bshared (?:interests?|hobb|love|goals?|activit)|\beither\b"
        r"|\b(?:more|less|better|worse|earlier|later|older|younger|rather|other) than\b",
        "比较|相比|对比|区别|不同|差别|共同|一样|相同|比.{1,12}更|都.{0,6}吗|还是",
    ),
    _Sign(
        _IN_ORDER,
        r"\bbefore and after\b|\bin (?:what|which) order\b|\border of\b|\btimeline\b"
        r"|\bover time\b|\bhow (?:has|have|did) .{1,60}\bchang\w+|\bprogress\w*|\bevol\w+"
        r"|\bhow long (?:between|passed)\b|\bpassed between\b|\bhistory of\b|\bso far\b"
        r"|\b(?:first|last) .{1,60}\b(?:then|after|before)\b",
        "先后|顺序|变化|改变|前后|之前和之后|经过|过程|至今为止|历史上",
    ),
    _Sign(
        _OPEN,
        r"\bsummar\w+|\boverview\b|\bdescribe\b|\bexplain\b|\bwhy\b|\bwould\b|\blikely\b"
        r"|\bhow (?:did|does|do) .{1,80}\b(?:feel|think|react)\b"
        r"|\bmight\b|\btell me (?:about|everything)\b",
        "总结|概括|概述|介绍|描述|解释|为什么|为何|怎么看|可能会",
    ),
    _Sign(
        _JOINED,
        r"\b(?:and|or|as well as|along with|besides)\b",
        "以及|并且|而且|或者|还有|(?<![温暖柔饱总])[和与跟及](?![我你他她它平谐气时其])",
    ),
)


@cache
def _signs() -> tuple[tuple[float, re.Pattern[str]], ...]:
    """Compile what most processes never need."""
    return tuple(
        (each.weight, re.compile(f"{each.english}|{each.chinese}", re.IGNORECASE))
        for each in _SIGNS
    )


def complexity_of(text: str, *, names: int, times: int, parts: int, whole: bool = False) -> float:
    """Return 0 (a word) to nearly 1: by what is asked, how long it is and how much it names.

    ``whole``: all that was at a time is asked for.
    """
    simple = 1 - _LENGTH * min(1.0, _length(text) / _LONG)
    if whole:
        simple *= 1 - _SEVERAL
    for weight, pattern in _signs():
        if weight != _SEVERAL or not whole:
            simple *= 1 - weight if pattern.search(text) else 1
    for weight, count in ((_ANOTHER_NAME, names), (_ANOTHER_TIME, times), (_ANOTHER_PART, parts)):
        simple *= (1 - weight) ** max(0, min(count, 4) - 1)
    return 1 - simple


def _length(text: str) -> int:
    return len(text) + (_HAN_WEIGHT - 1) * len(_HAN.findall(text))
