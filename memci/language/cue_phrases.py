"""Phrases that show the purpose of a sentence: fact, decision, correction, courtesy."""

from enum import Enum

from memci.language.detection import Language, language_of
from memci.language.loading import TaskData
from memci.language.small_talk import asks_something, content_words

_DATA = TaskData("cue_phrases")


class Cue(Enum):
    """The kind of a statement; the value is the name of the pattern that shows it."""

    DECISION = "decision"
    PREFERENCE = "preference"
    PLAN = "plan"
    CONSTRAINT = "constraint"
    LESSON = "lesson"
    CORRECTION = "correction"
    FACT = "fact"


_CUES = {cue: _DATA.pattern(cue.value) for cue in Cue}
_SOCIAL = _DATA.pattern("social")
_INTRODUCES = _DATA.pattern("introduces", flags=0)
_DECIDES = _DATA.pattern("decides")
_OFFERS = _DATA.pattern("offers")
_CONTINUATION = _DATA.pattern("goes_on")
_LONGEST_COURTESY = 60
_FEWEST_CHARACTERS = 2


def find_cues(text: str) -> frozenset[Cue]:
    """Return the kinds of statements in ``text``."""
    return frozenset(cue for cue, pattern in _CUES.items() if pattern.search(text))


def is_social(clause: str) -> bool:
    """Return True if a clause is short and only greets, thanks, praises or acknowledges.

    A long one also states something: "Thanks, I moved the nightly backup to Frankfurt …".
    """
    return len(clause) <= _LONGEST_COURTESY and bool(_SOCIAL.match(clause))


def is_courtesy(sentence: str) -> bool:
    """Return True if a sentence greets, thanks, offers or acknowledges, and contains no facts."""
    if not content_words(sentence) and any(map(str.isalpha, sentence)):
        return is_social(sentence) or not _DECIDES.search(sentence)
    if _OFFERS.fullmatch(sentence.strip()):
        return True
    if any(map(str.isdigit, sentence)) or introduces_speaker(sentence):
        return False
    return is_social(sentence)


def introduces_speaker(sentence: str) -> bool:
    """Return True if the speaker says who he or she is."""
    return bool(_INTRODUCES.search(sentence.replace("’", "'")))


def names_a_topic(clause: str) -> bool:
    """Return True if a clause names a topic, even in one word ("Tokyo?", "天气怎么样？").

    False for "Thanks", "继续", "ok, go on" and the number of an answer ("1").
    """
    if is_social(clause):
        return False
    words = [each for each in content_words(_CONTINUATION.sub(" ", clause)) if not each.isdecimal()]
    # A Chinese character by itself is a verb without its object, such as 写.
    is_chinese = language_of("".join(words)) is Language.CHINESE
    fewest = _FEWEST_CHARACTERS if is_chinese and not asks_something(clause) else 1
    return len(words) >= fewest
