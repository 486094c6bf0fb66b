"""The worth of keeping a text (R3)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from memci.language.cue_phrases import EPISODIC, Cue, find_cues, is_social
from memci.language.detection import Language
from memci.language.loading import TaskData
from memci.language.sentences import sentences
from memci.language.small_talk import content_words

_DATA = TaskData("worth")
# Read in small letters: a pattern that ignores case takes four times as long.
_VITAL = _DATA.pattern("vital", Language.ENGLISH, flags=0)
_VITAL_CHINESE = _DATA.pattern("vital", Language.CHINESE)
_LIFE = _DATA.pattern("life")
_NOTES = _DATA.pattern("notes")
_STRICTLY = _DATA.pattern("strictly")
_REACH = _DATA.pattern("reach", flags=0)
_SPOKEN_BY_ASSISTANT = re.compile(r"(?:Assistant|AI|Bot|Tool|助手|助理|工具)\s?[:：]")
_NUMBER = _DATA.pattern("number", flags=0)
_OWN_EVENT = _DATA.pattern("own_event")
_NO_CONSTRAINT = _DATA.pattern("no_constraint")
_NO_PREFERENCE = _DATA.pattern("no_preference")
_TRIFLE = _DATA.pattern("trifle")
_AT_ONCE = _DATA.pattern("at_once")
# Cues beside those of `cue_phrases`, which also steer compression.
_MORE_CUES = {cue: _DATA.pattern(cue.value) for cue in (Cue.FACT, Cue.DECISION, Cue.CORRECTION)}


class Stakes(Enum):
    """What is at stake; the value is the least worth (0 to 10) of such a text."""

    VITAL = 8.0
    LIFE = 7.0


def concerns_health(clause: str) -> bool:
    """Return True if a clause is about health or safety."""
    if _VITAL.search(clause.lower()):
        return True
    return not clause.isascii() and bool(_VITAL_CHINESE.search(clause))


def stakes_of(sentence: str) -> Stakes | None:
    """Return what is at stake in a sentence; None if it is nothing special."""
    if concerns_health(sentence):
        return Stakes.VITAL
    return Stakes.LIFE if _LIFE.search(sentence) else None


# Health and safety have the highest factor, then obligations, then contact data.
_VITAL_FACTOR = 2.4
_STRICT = 2.0
_REACHED = 1.5
# Replies of an assistant are mostly an echo, a promise to remember, or general knowledge.
_ASSISTANT = 0.45
_NOTED = 0.4


def clause_factor(text: str, label: str) -> tuple[float, bool]:
    """Return the factor of a clause after ``label``, and True if it is about health or safety."""
    vital = concerns_health(text)
    if label and _SPOKEN_BY_ASSISTANT.match(label):
        return _ASSISTANT * (_NOTED if _NOTES.search(text) else 1.0), vital
    if vital:
        return _VITAL_FACTOR, True
    if _STRICTLY.search(text):
        return _STRICT, False
    return _REACHED if _REACH.search(text) else 1.0, False


# The default of long_term_importance_threshold, so that the memory is long-term at once.
_WORTH_OF_KIND = 6.0
_WORTH_OF_ANOTHER = 0.6
_WORTH_OF_EVENT = 5.2  # something happened to the speaker: with any detail it is a fact
_WORTH_OF_TRIFLE = 3.0  # something happened that is irrelevant a week later
_WORTH_OF_STATEMENT = 1.2
_WORTH_OF_DETAIL = 0.8  # a number or a date; a name; more than a remark
_WORTH_OF_SMALL_TALK = 0.5
_HIGHEST = 10.0
_ROUNDED = 1
_LONG_ENOUGH_TO_TELL = 120


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a text for the long term (R3)."""

    eligible: bool  # it holds a decision, a preference, a fact, a plan, a lesson or a correction
    worth: float  # 0 to 10


def judge_worth(text: str, names: Callable[[], bool]) -> Judgement:
    """Judge a text; ``names`` tells if it contains a name, and is called only for statements.

    A decision, preference, fact, plan, lesson, correction or rule is eligible and is worth 6 or
    more, an important event of a life 7, health and safety 8. Small talk is not eligible.
    """
    statements = [sentence for sentence in sentences(text) if _is_statement(sentence)]
    if not statements:
        return Judgement(eligible=False, worth=_WORTH_OF_SMALL_TALK)
    whole = "\n".join(statements)
    kinds = {kind for sentence in statements for kind in _kinds(sentence)}
    details = sum((bool(_NUMBER.search(whole)), names(), len(whole) >= _LONG_ENOUGH_TO_TELL))
    events = [each for each in statements if _OWN_EVENT.search(each) and EPISODIC.search(each)]
    happened = any(not _TRIFLE.search(each) for each in events)
    stakes = [found.value for found in map(stakes_of, statements) if found is not None]
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


def _is_statement(sentence: str) -> bool:
    """Return True for a sentence that is no question, no courtesy and not empty."""
    if sentence.endswith(("?", "？")) or is_social(sentence):
        return False
    return bool(content_words(sentence))


def _kinds(sentence: str) -> set[Cue]:
    kinds = set(find_cues(sentence))
    if Cue.CONSTRAINT in kinds and _NO_CONSTRAINT.search(sentence):
        kinds.discard(Cue.CONSTRAINT)
    if Cue.PREFERENCE in kinds and _NO_PREFERENCE.search(sentence):
        kinds.discard(Cue.PREFERENCE)
    if _TRIFLE.search(sentence):
        kinds.discard(Cue.LESSON)
        kinds -= {Cue.PLAN, Cue.DECISION} if _AT_ONCE.search(sentence) else set()
    return kinds | {kind for kind, pattern in _MORE_CUES.items() if pattern.search(sentence)}
