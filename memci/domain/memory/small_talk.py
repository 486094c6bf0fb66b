"""What greets, thanks and acknowledges and tells nothing; and questions (R2).

English and Chinese: words of other languages all count as telling something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from memci.domain.memory import everyday
from memci.domain.memory.service_talk import without_service

_POLITE_CHINESE = re.compile(
    "[嗨喂谢嗯哦喔噢哎唉诶欸哈呵嘿嘻哇赞行]|[你您]好|好[的呀啊吧嘞哒哦滴]|[早午晚]安|[早上中午下晚]好|再见|拜拜|"
    "回见|明天见|不客气|没关系|没事|没问题|不好意思|抱歉|对不起|恭喜|祝|加油|辛苦|可以|当然|是[的啊呀]|"
    "对[的啊呀]|没错|真棒|太[棒好]了|不错|厉害|有意思|有道理|明白|知道了|了解|懂了|收到|理解|同意|确实|的确|"
    "原来如此|很高兴|好主意|必须的|听起来"
)
# Thanks, greetings and farewells answer no question, unless one of the others is beside them.
_NO_ANSWER = re.compile(
    r"\b(?:thanks?|thx|ty|bye|goodbye|hi|hey|hello|welcome|congrats|congratulations|take care|"
    r"talk (?:to you )?(?:soon|later)|see (?:you|ya))\b|"
    "[谢嗨祝]|[你您]好|再见|拜拜|晚安|恭喜|加油|辛苦|不客气",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:yes|yeah|yep|yup|no|nope|nah|not|sure|ok|okay|alright|fine|right|true|exactly|definitely|"
    r"absolutely|course|both|neither|either|do|did|don't|didn't|am|was|can|can't|will|won't)\b|"
    "[是对行没不]|好的|可以|当然",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"[\u3005\u3400-\u9fff]+|\d+(?:[.,:]\d+)*|[^\W\d_\u3005\u3400-\u9fff]+(?:'[^\W\d_]+)*"
)
_HAN = re.compile(r"[\u3005\u3400-\u9fff]")
_CHINESE_PHRASE = re.compile("|".join(everyday.CHINESE))
# The one spoken to is called by a short name: "Hey Mel!", "Thank you, Caro".
_CALLED = re.compile(
    r"\b(?i:hey|hi|hello|thanks|thank you|thx|bye|congrats|congratulations|goodbye),? +"
    r"[A-Z][^\W\d_]+(?=\s*(?:[!,.?…~]|$))"
)
# Names of those who are spoken to, and what service talk is made of, are no more words than this.
_MOST_TOLD = 3
_CLAUSE = re.compile(r"[^.!?。！？\n]*[.!?。！？]*")
# "How are you?" and the like: whatever answers it names something itself or is courtesy as well.
_GREETING = re.compile(
    r"\bhow(?:'s| is| are| have|'ve|'re) (?:you|it going|things|life|everything)\b"
    r"(?: (?:been|doing|going|today|lately|all|so far|holding up))*|\bwhat's (?:up|new|good)\b|"
    r"\b(?:how|what) (?:can|may|could) i (?:help|do for|assist) you"
    r"(?: (?:with|today|now|further|that|this))*|"
    r"\b(?:is there |do you need |need |can i help (?:you )?with )?anything else"
    r"(?: (?:i can|you need|you want|you'd like|for you|today)[^.!?\n]{0,40})?(?=\s*(?:[.!?\n]|$))",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"(?:oh )?(?:really|right|ok|okay|yeah|huh|no|seriously|sure|you know|isn't it|what)",
    re.IGNORECASE,
)
_POLITE_QUESTION_CHINESE = re.compile(
    "(?:那?你)?(?:最近|今天)?(?:好吗|还好吗|怎么样|过得好吗|过得怎么样|还好么)|"
    "是吗|真的吗|对吗|好吗|行吗|可以吗|有什么我?(?:可以|能)?.{0,4}帮.{0,6}|还有(?:什么|别的)?.{0,6}[吗么]"
)
_AUXILIARY = "do|does|did|are|is|was|were|have|has|had|can|could|will|would|should"
_ASKS = re.compile(
    rf"[?？]|(?:吗|么|呢|是不是|对不对|好不好)\W*$|^\W*(?:(?:and|so|but|oh|well|hey) )?(?:"
    rf"(?:{_AUXILIARY})(?:n't)? (?:you|we|i|they|he|she|it|there|your|my|the|that|this|any)\b|"
    rf"(?:what|when|where|which|who|whose|why|how)(?: \w+)? (?:{_AUXILIARY})\b)",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, in small letters; Han characters one by one."""
    return [word for run in _runs(text) for word in (run if _HAN.match(run) else [run])]


def telling_words(text: str) -> list[str]:
    """Return what is left of ``words_of`` without words that name nothing."""
    left: list[str] = []
    for run in _runs(text):
        if _HAN.match(run):
            left.extend(_CHINESE_PHRASE.sub("", run))
        elif _tells(run):
            left.append(run)
    return left


def is_trivial(text: str, min_length: int, speakers: Collection[str] = ()) -> bool:
    """Tell whether a text is courtesy through and through, or names nothing in a few characters.

    ``min_length``: characters; a text that is not shorter must greet, thank or acknowledge.
    ``speakers``: names of those who talk with each other, whom courtesy may call by name.
    """
    bare = _CALLED.sub(lambda match: match[0].rpartition(" ")[0], text)
    straight = bare.replace("’", "'")
    left = without_service(straight)
    told = telling_words(_GREETING.sub("", left))
    if _is_polite(bare) or left != straight:
        called = {word for name in speakers for word in words_of(name)}
        return called.issuperset(set(told) - everyday.COURTEOUS)
    return not told and len(text.strip()) < min_length


def tells_much(text: str) -> bool:
    """Tell at small cost that a text in a script with blanks between words is not trivial."""
    if _HAN.search(text):
        return False
    told: set[str] = set()
    for found in _WORD.finditer(_plain(text)):
        if _tells(word := found[0]) and word not in everyday.COURTEOUS:
            told.add(word)
            if len(told) > _MOST_TOLD:
                return True
    return False


def asks(text: str) -> bool:
    """Tell whether a text asks for something that an answer may tell; "How are you?" does not."""
    return any(_is_question(clause) for clause in _CLAUSE.findall(text))


def last_question(text: str) -> str:
    """Return the last sentence that asks for something, or the whole text when none does."""
    questions = [clause.strip() for clause in _CLAUSE.findall(text) if _is_question(clause)]
    return questions[-1] if questions else text


def can_answer(text: str) -> bool:
    """Tell whether a text may answer a question, as thanks and farewells do not."""
    return not _NO_ANSWER.search(text) or bool(telling_words(text) or _ANSWER.search(text))


def _is_question(clause: str) -> bool:
    if not _ASKS.search(clause):
        return False
    bare = " ".join(_CALLED.sub("", clause).replace("’", "'").strip(" \t?!.,。？！，…").split())
    left = without_service(bare)
    if left != bare and not telling_words(left):
        return False
    polite = (_GREETING, _ECHO, _POLITE_QUESTION_CHINESE)
    return bool(bare) and not any(pattern.fullmatch(bare) for pattern in polite)


def _runs(text: str) -> list[str]:
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def _tells(word: str) -> bool:
    return word not in everyday.ENGLISH and word.replace("'", "") not in everyday.ENGLISH


def _is_polite(text: str) -> bool:
    words = not everyday.POLITE.isdisjoint(_runs(text))
    return words or bool(_POLITE_CHINESE.search(text) or _GREETING.search(text))
