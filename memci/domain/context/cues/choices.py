"""What key messages choose of which one holds at a time: the newer one takes its place (R6, R7)."""

from __future__ import annotations

import re
from enum import StrEnum

from memci.domain.context.cues.rule import any_of


class Choice(StrEnum):
    """What is chosen."""

    LANGUAGE = "language"  # of answers
    LENGTH = "length"  # of answers
    ADDRESS = "address"  # how somebody is called
    UNITS = "units"


_CHOICES: dict[Choice, re.Pattern[str]] = {
    Choice.LANGUAGE: any_of(
        r"\b(?:answer|reply|respond|write|speak|talk)(?: back)?(?: (?:to )?(?:me|us)| (?:all )?my "
        r"(?:questions|messages))?(?: only| always)? in (?:english|chinese|mandarin|french|german|"
        r"spanish|japanese|korean|italian|portuguese|russian)\b",
        "(?:用|以|使用)(?:[简繁]体)?(?:中文|英文|英语|汉语|日语|日文|法语|德语|韩语|西班牙语)(?:来)?"
        "(?:回[答复]|交流|(?:写|输出)(?![\u4e00-\u9fff]))",
    ),
    Choice.LENGTH: any_of(
        r"\b(?:keep|make) (?:your |all |the )?(?:answers|replies|responses|explanations|messages) "
        r"(?:as )?(?:very |more |nice and )?(?:short|brief|concise|long|detailed|thorough)",
        r"\b(?:answer|reply|respond)(?: to me| me)? (?:briefly|concisely|at length|in detail)",
        "(?:回[答复]|解释).{0,8}?(?:简[短洁]|简明|详细|详尽)|(?:简[短洁]|简明|详细)(?:地)?回[答复]",
    ),
    Choice.ADDRESS: any_of(
        r"\b(?:call|address) me(?: as)? (?-i:[A-Z])", "(?:叫|称呼)我(?!起|醒|一声|吃|睡|[去来上下])"
    ),
    Choice.UNITS: any_of(r"\b(?:metric|imperial)\b", "[公英]制"),
}
# What is to be so in one case only leaves what holds in the others.
_IN_A_CASE = any_of(
    r"(?<!\beven )\b(?:when|whenever|if|unless|for|while|where|except|only)\b",
    "如果|要是|的话|除非|除了|只有|时候|(?<!回[答复]问题)(?<!回[答复])时",
)
# What is not to be so leaves all else.
_DENIED = any_of(r"\b(?:never|not|no)\b|n't\b", "不|别|勿")


def choice_of(sentence: str) -> Choice | None:
    """Return what a sentence chooses for all cases; None: nothing of which one holds at a time."""
    if _IN_A_CASE.search(sentence):
        return None
    found = ((each, cue.search(sentence)) for each, cue in _CHOICES.items())
    return next(
        (each for each, cue in found if cue and not _DENIED.search(sentence, 0, cue.start())), None
    )
