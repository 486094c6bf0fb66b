"""Whether and how much a text is worth keeping (R3), by the turns of phrase that show it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memci.language.cue_phrases import EPISODIC, Cue, cues_of, is_social
from memci.language.importance_cues import weight_of
from memci.language.sentences import sentences
from memci.language.small_talk import telling_words

# What every memory that is long-term at once reaches by default (long_term_importance_threshold).
_WORTH_OF_KIND = 6.0
_WORTH_OF_ANOTHER = 0.6
_WORTH_OF_EVENT = 5.2  # something happened to the speaker: with any detail it is a fact
_WORTH_OF_TRIFLE = 3.0  # something did, that nobody asks for a week later
_WORTH_OF_STATEMENT = 1.2
_WORTH_OF_DETAIL = 0.8  # a number or a date; a name; more than a remark
_WORTH_OF_SMALL_TALK = 0.5
_HIGHEST = 10.0
_ROUNDED = 1
_LONG_ENOUGH_TO_TELL = 120
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万两]+(?:个|年|月|日|号|点|次|元|天|周|岁|人|台)"
)
# Turns of life, keys and figures, choices and denials, beside what ``cues`` knows: those also
# steer what a compression keeps, these do not.
_FACT = re.compile(
    r"\b(?:died|dies|passed away|pregnant|gave birth|engaged|divorc|broke up|widow|quit|resign|"
    r"retir|got fired|laid off|hired|promoted|diagnos|surgery|adopted|bankrupt|"
    r"(?:i|we) (?:don't|do not|never) (?:eat|drink|smoke|drive|own|use|work)|"
    r"(?:code|password|pin|number|e-?mail|size|budget|rent|salary|price|fee)\b[^.!?]{0,30}"
    r"(?:\d|@))|"
    "去世|过世|怀孕|离婚|分手|订婚|辞职|换(?:了)?工作|跳槽|被裁|失业|退休|升职|确诊|手术|收养|"
    r"(?:密码|号码|编号|账号|邮箱|尺码|预算|价格|房租|工资)[^。！？]{0,12}[\d@一二三四五六七八九]",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:go|goes|went) with\b|\blet's (?:use|take|stick)\b|就用|就选", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"\bnot \w+(?: \w+){0,3},? but\b|, not \b|\bthat's (?:wrong|not (?:right|true))|"
    r"^\W*不对|不是.{1,12}(?:而是|，?是)|是.{1,12}，不是",
    re.IGNORECASE,
)
_OWN = {Cue.FACT: _FACT, Cue.DECISION: _DECISION, Cue.CORRECTION: _CORRECTION}
_OWN_EVENT = re.compile(r"\b(?:i|we|my|our)\b|我", re.IGNORECASE)
# "It must have been hard", "I have always been": nobody is told what to do.
_NO_CONSTRAINT = re.compile(
    r"\b(?:must (?:have been|be so|feel)|(?:have|has|had|'ve|'s) (?:always|never)|"
    r"(?:i|it|he|she|they|we|that|you)(?:'s|'re|'m| is| are| was)? (?:always|never)|"
    r"(?:i|we|they) (?:don't|do not)|(?:don't|do not|never) (?:give up|worry|hesitate)|"
    r"important (?:to|for) (?:me|us|you|them|him|her))\b",
    re.IGNORECASE,
)
# Meals, drinks, walks, the weather, tiredness and what was on: day by day the same.
_TRIFLE = re.compile(
    r"\b(?:had|have|ate|eat|drank|drink|grab|grabbed|get|got|made|finished|having) "
    r"(?:\w+ ){0,2}(?:coffee|tea|lunch|dinner|breakfast|brunch|pizza|snack|sandwich|"
    r"beers?|drinks?|nap|shower|ice cream)\b|"
    r"\b(?:watch|watched|saw|see|watching) (?:\w+ ){0,2}(?:movie|film|video|show|game|series|tv)\b|"
    r"\b(?:went|go|going) (?:out )?(?:for a (?:walk|run|drive)|to (?:bed|sleep))\b|"
    r"\b(?:tired|sleepy|hungry|bored|weather|sunny|raining)\b|"
    "天气|吃(?:了|晚|午|早|个)?.{0,2}(?:饭|披萨|早餐|午餐|晚餐)|"
    "喝了?.{0,3}(?:咖啡|茶|水|酒)|看了.{0,3}(?:电影|视频|电视)|"
    "散步|睡觉|好累|好困|好饿|累死|无聊",
    re.IGNORECASE,
)
# "I love that song", "I like your idea": said to be kind, and of nothing that is named.
_NO_PREFERENCE = re.compile(
    r"\b(?:like|love|enjoy|hate)s? (?:that|this|these|those|your|it|how|the way)\b|"
    r"\benjoy(?:ed)? (?:our|talking|chatting)|喜欢(?:你|这|那|和你|跟你)",
    re.IGNORECASE,
)
# A plan of the next minutes.
_AT_ONCE = re.compile(
    r"\b(?:going to|gonna|off to|about to) (?:grab|get|have|eat|make|go|take|bed)\b|"
    r"\bfinally (?:had|finished|got|ate|watched|saw|made)\b|"
    "准备去?(?:吃|睡|喝)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a text is worth keeping for the long term, and how much (R3)."""

    eligible: bool  # it holds a decision, a preference, a fact, a plan, a lesson or a correction
    worth: float  # 0 to 10


def judged(text: str, names: Callable[[], bool]) -> Judgement:
    """Judge a text; ``names``, asked only where something is told: it names something.

    A decision, preference, fact, plan, lesson, correction or rule is eligible and reaches 6, what
    weighs in a life 7, health and safety 8; talk is not and does not.
    """
    told = [sentence for sentence in sentences(text) if _states(sentence)]
    if not told:
        return Judgement(eligible=False, worth=_WORTH_OF_SMALL_TALK)
    whole = "\n".join(told)
    kinds = {kind for sentence in told for kind in _kinds(sentence)}
    details = sum((bool(_NUMBER.search(whole)), names(), len(whole) >= _LONG_ENOUGH_TO_TELL))
    events = [each for each in told if _OWN_EVENT.search(each) and EPISODIC.search(each)]
    happened = any(not _TRIFLE.search(each) for each in events)
    stakes = [found.value for found in map(weight_of, told) if found is not None]
    if kinds or stakes:
        worth = max(stakes, default=_WORTH_OF_KIND)
        worth += _WORTH_OF_ANOTHER * min(3, max(0, len(kinds) - 1))
    elif happened:
        worth = _WORTH_OF_EVENT
    else:
        worth = _WORTH_OF_TRIFLE if events else _WORTH_OF_STATEMENT
    return Judgement(
        eligible=bool(kinds or stakes) or (happened and details > 0),
        worth=round(min(_HIGHEST, worth + _WORTH_OF_DETAIL * details), _ROUNDED),
    )


def _states(sentence: str) -> bool:
    """Tell whether a sentence states something: no question, no courtesy, no empty words."""
    if sentence.endswith(("?", "？")) or is_social(sentence):
        return False
    return bool(telling_words(sentence))


def _kinds(sentence: str) -> set[Cue]:
    kinds = set(cues_of(sentence))
    if Cue.CONSTRAINT in kinds and _NO_CONSTRAINT.search(sentence):
        kinds.discard(Cue.CONSTRAINT)
    if Cue.PREFERENCE in kinds and _NO_PREFERENCE.search(sentence):
        kinds.discard(Cue.PREFERENCE)
    if _TRIFLE.search(sentence):
        kinds.discard(Cue.LESSON)
        kinds -= {Cue.PLAN, Cue.DECISION} if _AT_ONCE.search(sentence) else set()
    return kinds | {kind for kind, pattern in _OWN.items() if pattern.search(sentence)}


# Characters read of one text, as the annotator does.
