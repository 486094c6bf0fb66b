"""What somebody says in passing of how far a plan has come (R7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memci.domain.context.key_messages import Cutter
from memci.domain.context.plan import StepState

_LONGEST = 200  # characters of a sentence that is looked at
_LOOKED_AT = 16_000  # characters of a message

_NUMBERS = {
    **{str(each): each for each in range(1, 33)},
    **{word: place for place, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1)},
    **{word: place for place, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
         "tenth"), 1)},
    **{each: place for place, each in enumerate("一二三四五六七八九十", 1)},
}  # fmt: skip
_WORD = "|".join(sorted((each for each in _NUMBERS if each.isascii()), key=len, reverse=True))
_STEP = rf"(?:steps? (?:number |no\. ?|#)?(?P<{{0}}>{_WORD})|(?:the )?(?P<{{0}}x>{_WORD}) step)\b"
_OVER = r"(?:done|complete|completed|finished|ready|through)\b"


def _english(pattern: str, state: StepState) -> tuple[re.Pattern[str], StepState]:
    return re.compile(pattern.replace("STEP", _STEP.format("a")), re.IGNORECASE), state


_STEP_CHINESE = (
    r"(?:第\s*(?P<a>[一二三四五六七八九十]|\d{1,2})\s*步|"
    r"步骤\s*(?P<ax>[一二三四五六七八九十]|\d{1,2}))"
)


def _chinese(pattern: str, state: StepState) -> tuple[re.Pattern[str], StepState]:
    return re.compile(pattern.replace("STEP", _STEP_CHINESE)), state


_RULES = (
    _english(r"\bSTEP(?: \([^)]*\))? (?:is|are|was|has been|'s) (?:now |all |already |finally |"
             r"also )?" + _OVER, StepState.DONE),
    _english(r"^\W*STEP\s*[:,–—-]?\s*" + _OVER + r"[\s.!✅]*$", StepState.DONE),
    _english(r"\b(?:finished|completed|done with|through with|wrapped up) (?:with "
             r")?STEP", StepState.DONE),
    _english(r"\b(?:moving on to|(?:now )?starting(?: on| with)?|started(?: on)?|beginning|"
             r"working on|on to|proceeding to|continuing with) STEP", StepState.ACTIVE),
    _english(r"\b(?:skip(?:ping|ped)?|drop(?:ping|ped)?|cancel(?:l?ing|l?ed)?|leave out|leaving "
             r"out) STEP", StepState.DROPPED),
    _english(r"\bSTEP (?:is|was|has been) (?:skipped|dropped|cancell?ed|no longer "
             r"needed)", StepState.DROPPED),
    _chinese("STEP(?:.{0,12})?(?:已经?|都|也|终于)?(?:完成|做完|搞定|弄完|弄好|做好|"
             "结束)了?", StepState.DONE),
    _chinese("(?:已经?)?(?:完成|做完|搞定|弄完|结束)了?STEP", StepState.DONE),
    _chinese("(?:现在|我)?(?:开始|进入|着手|继续|正在做|正在进行)(?:做|进行|"
             "执行)?STEP", StepState.ACTIVE),
    _chinese("(?:跳过|取消|放弃|不做|去掉)了?STEP", StepState.DROPPED),
    _chinese("STEP(?:不做了|跳过|取消)", StepState.DROPPED),
)  # fmt: skip
_THIS_DONE = re.compile(
    r"\b(?:this|the current) step (?:is|has been) (?:now )?"
    + _OVER
    + r"|\b(?:done|finished) with (?:this|the current) step\b"
    + "|(?:这一步|当前步骤|本步骤)(?:已经?)?(?:完成|做完|搞定)了?",
    re.IGNORECASE,
)
_ALL_DONE = re.compile(
    r"\b(?:all|every) (?:of the |the )?steps? (?:are|is|have been|has been) (?:now )?"
    + _OVER
    + r"|\bthe (?:whole |entire )?plan is (?:now )?(?:done|complete|completed|finished)\b"
    + "|(?:所有|全部)(?:的)?步骤(?:都|已|均)*(?:完成|做完)|计划(?:已|全部|都)+(?:完成|做完)",
    re.IGNORECASE,
)
# Asked, denied, awaited or announced: nothing has come about.
_OPEN = re.compile(
    r"\?\s*$|\b(?:not|n't|never|once|when|whenever|if|after|before|until|unless|almost|nearly|"
    r"will|would|should|"
    r"could|can|may|might|half|let me know|as soon as|yet to)\b|isn't|hasn't|aren't|wasn't"
    "|[?？]\\s*$|[吗么][。！]?$|还没|没有|尚未|未完成|如果|假如|等|之后|以后|完成后|做完后|即将|"
    "快要|差不多|一半|之前|才能|先别|不要|"
    "是否|能不能|需要|应该|将会|会在",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Progress:
    """``position``: of the step, from 1; 0: the active one; None: all that are left."""

    position: int | None
    state: StepState


def progress_in(text: str, cut: Cutter) -> list[Progress]:
    """Return what a text says of a plan's steps, in its order."""
    looked_at = text[:_LOOKED_AT]
    return [
        told
        for start, end in cut(looked_at)
        if end - start <= _LONGEST
        for told in _in_sentence(looked_at[start:end])
    ]


def _in_sentence(sentence: str) -> Iterator[Progress]:
    if _OPEN.search(sentence):
        return
    if _ALL_DONE.search(sentence):
        yield Progress(None, StepState.DONE)
    elif _THIS_DONE.search(sentence):
        yield Progress(0, StepState.DONE)
    told: dict[int, StepState] = {}
    for pattern, state in _RULES:
        for found in pattern.finditer(sentence):
            told.setdefault(_NUMBERS.get((found["a"] or found["ax"]).lower(), 0), state)
    yield from (Progress(place, state) for place, state in told.items() if place)
