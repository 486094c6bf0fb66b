"""Which limit a sentence sets: what it says but for amounts and days (R7)."""

from __future__ import annotations

import re

from memci.domain.memory.small_talk import telling_words

_SETS_LIMIT = re.compile(
    r"\b(?:deadline|due|budget|limit|at most|at least|no (?:more|less|later) than|maximum|minimum|"
    r"must not (?:exceed|cost|take))\b|截止|期限|预算|上限|下限|最多|至少|不超过|不得超过",
    re.IGNORECASE,
)
# How much it is, when, and that it has changed.
_AMOUNT = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|"
    r"may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|"
    r"to(?:day|morrow|night)|noon|midnight|morning|evening|(?:week|month|year|day|hour|minute|"
    r"second)s?|end|next|[ap]m|eod|ms|usd|eur|dollars?|euros?|percent|hundred|thousand|million|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|new|moved|changed|extended|shortened|"
    r"raised|lowered|cut|pushed|.*\d.*|"
    r"[年月日号点分秒时周星期天下上个本这今明后一二三四五六七八九十百千万亿零两半元块美改延长推迟提前调整为到至成新现]"
)
# What any limit is called.
_BARE = re.compile(
    r"deadline|due|budget|limit|most|least|more|less|later|than|m(?:ax|in)imum|exceed|cost|take|"
    r"must|keep|final|hard|[截止期限预算最多少不超过得的是]"
)


def limit_of(text: str) -> frozenset[str] | None:
    """Return the words that say what a limit is of, in small letters.

    None: it sets none, or does not say of what: in another conversation that may be another.
    """
    if not _SETS_LIMIT.search(text):
        return None
    words = frozenset(each for each in telling_words(text) if not _AMOUNT.fullmatch(each))
    return None if all(map(_BARE.fullmatch, words)) else words
