"""What kind of answer a question asks for (R10)."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache


class Asks(StrEnum):
    """Kinds of answers."""

    WHEN = "when"
    WHO = "who"
    WHERE = "where"
    HOW_MANY = "how_many"
    OTHER = "other"


# Where a question begins: "when" after a verb is no question ("what did she say when …").
_OPENS = (
    r"(?:(?:\A|[.!?;:,\n])\s*(?:(?:and|so|but|ok|okay|also|please|then|well|hey|hi)\b,?\s+)*"
    r"(?:(?:tell\s+me|say|do\s+you\s+(?:know|remember|recall)|can\s+you\s+(?:tell\s+me|say|remember|"
    r"recall)|remind\s+me|i\s+wonder|remember)\s+)?"
    r"(?:(?:in|on|at|by|from|to|for|with|of|since|until|around|during|about|under)\s+)?)"
)
_TIME = "date|day|month|year|time|week|weekend|season|century|decade"
_PLACE = (
    "country|countries|city|cities|town|place|places|state|states|us\\s+states?|region|location|"
    "street|address|venue|restaurant|area|areas|continent"
)
_PERSON = "person|people|friend|friends|colleague|family\\s+member|one\\s+of\\s+(?:them|us|my)"
_ENGLISH = {
    Asks.WHEN: (
        rf"when\b|how\s+long\s+ago\b|(?:what|which)\s+(?:{_TIME})\b"
        r"|what(?:['’]s|\s+(?:was|is))\s+the\s+(?:exact\s+)?(?:date|day|time)\b"
    ),
    Asks.WHERE: rf"where\b|(?:what|which)\s+(?:\w+\s+)?(?:{_PLACE})\b",
    Asks.WHO: rf"who(?:m|se|['’]s)?\b|(?:what|which)\s+(?:{_PERSON})\b",
    Asks.HOW_MANY: (
        r"how\s+(?:many|much|often|old|far|tall|big|long)\b"
        r"|what\s+(?:number|percentage|share|amount)\b"
    ),
}
_CHINESE = {
    Asks.WHEN: (
        "什么时候|什么时间|何时|哪一?(?:天|年|月|周|日)|哪个(?:月|星期|周|季节)|几(?:月|号|点)"
        "|(?:多久|多长时间)(?:之|以)?前|什么日子|星期几|周几"
    ),
    Asks.WHERE: (
        "哪里|哪儿|何处|什么地方|哪个(?:城市|国家|地方|公园|省|县|镇|学校|餐厅|饭店|景点)"
        "|(?:住|在|去|来)哪(?![个些位种天年])"
    ),
    Asks.WHO: "谁|哪一?位|哪个人|什么人|何人",
    Asks.HOW_MANY: (
        "多少|几(?:个|次|天|年|人|本|部|只|种|位|岁|口|件|家|条|张|遍|小时|周)|多[久长大高远重]"
    ),
}


@cache
def _patterns() -> tuple[tuple[Asks, re.Pattern[str]], ...]:
    """Compile what most processes never need."""
    english = ((kind, _OPENS + rf"(?:{words})") for kind, words in _ENGLISH.items())
    return tuple(
        (kind, re.compile(words, re.IGNORECASE)) for kind, words in (*english, *_CHINESE.items())
    )


def asks_of(text: str) -> Asks:
    """Return what the first thing that is asked is: a time, a person, a place, a number."""
    found = [
        (match.start(), -match.end(), kind)
        for kind, pattern in _patterns()
        if (match := pattern.search(text))
    ]
    return min(found, default=(0, 0, Asks.OTHER))[2]
