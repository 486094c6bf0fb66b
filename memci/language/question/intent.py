"""What a question asks for: kind of answer, number of hits, first or latest occasion (R6, R10).

Also whether it asks about the present, and whether it names hardly anything beside a time ("What
did I do last week?"): such a question wants all that was then, whatever its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from memci.language.times.ranges import TimeExpression


class AnswerKind(StrEnum):
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
    AnswerKind.WHEN: (
        rf"when\b|how\s+long\s+ago\b|(?:what|which)\s+(?:{_TIME})\b"
        r"|what(?:['’]s|\s+(?:was|is))\s+the\s+(?:exact\s+)?(?:date|day|time)\b"
    ),
    AnswerKind.WHERE: rf"where\b|(?:what|which)\s+(?:\w+\s+)?(?:{_PLACE})\b",
    AnswerKind.WHO: rf"who(?:m|se|['’]s)?\b|(?:what|which)\s+(?:{_PERSON})\b",
    AnswerKind.HOW_MANY: (
        r"how\s+(?:many|much|often|old|far|tall|big|long)\b"
        r"|what\s+(?:number|percentage|share|amount)\b"
    ),
}
_CHINESE = {
    AnswerKind.WHEN: (
        "什么时候|什么时间|何时|哪一?(?:天|年|月|周|日)|哪个(?:月|星期|周|季节)|几(?:月|号|点)"
        "|(?:多久|多长时间)(?:之|以)?前|什么日子|星期几|周几"
    ),
    AnswerKind.WHERE: (
        "哪里|哪儿|何处|什么地方|哪个(?:城市|国家|地方|公园|省|县|镇|学校|餐厅|饭店|景点)"
        "|(?:住|在|去|来)哪(?![个些位种天年])"
    ),
    AnswerKind.WHO: "谁|哪一?位|哪个人|什么人|何人",
    AnswerKind.HOW_MANY: (
        "多少|几(?:个|次|天|年|人|本|部|只|种|位|岁|口|件|家|条|张|遍|小时|周)|多[久长大高远重]"
    ),
}


@cache
def _patterns() -> tuple[tuple[AnswerKind, re.Pattern[str]], ...]:
    """Compile the patterns at first use: most processes never need them."""
    english = ((kind, _OPENS + rf"(?:{words})") for kind, words in _ENGLISH.items())
    return tuple(
        (kind, re.compile(words, re.IGNORECASE)) for kind, words in (*english, *_CHINESE.items())
    )


def answer_kind(text: str) -> AnswerKind:
    """Return the kind of answer that the first question in a text wants."""
    found = [
        (match.start(), -match.end(), kind)
        for kind, pattern in _patterns()
        if (match := pattern.search(text))
    ]
    return min(found, default=(0, 0, AnswerKind.OTHER))[2]


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
    """Compile the patterns at first use: most processes never need them."""
    return tuple(
        (each.weight, re.compile(f"{each.english}|{each.chinese}", re.IGNORECASE))
        for each in _SIGNS
    )


def complexity_of(text: str, *, names: int, times: int, parts: int, whole: bool = False) -> float:
    """Return 0 (a word) to nearly 1, by words of the question, its length and how much it names.

    ``whole``: the question asks for all that was at a time.
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


_FLAGS = re.IGNORECASE | re.ASCII
_WHO = r"(?:i|we|you|s?he|they|it)"
# An adverb stands some words behind its verb, "when did I last see Ann", and behind no preposition:
# "did it hurt since last season?" Without a word that asks it is a verb: "did the snow last?"
_DID = (
    r"\b(?:when|where|what|which|who|whom|how|why)\b[^?.!]{0,60}?"
    r"\b(?:did|was|were|have|has|had)\s+"
    r"(?:(?!(?:last|first|long|from|in|during|at|since|until|till|by|on|for)\b)[\w'’]+\s+){1,6}?"
)
# What there is one of, or what has a place in a row.
_NO_ROW = (
    r"(?!\s+(?:names?|chapters?|pages?|words?|lines?|minutes?|straw|resort|place|one|of|floor|aid"
    r"|class|language|edition|cousins?|prize|thing|amendment|supper|laugh|will|digits|day"
    r"|two|three|four|five|\d+)\b|\s+but\b|\s*[-‑])"
)
_NO_SPAN = r"(?!\s+(?:for|until|till|long|longer|season|semester|term)\b|\s+\d)"
_ENDS = r"(?=\s*(?:[?.!]|\Z))"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each, _FLAGS) for each in patterns)


_LATEST = _compiled(
    r"\bmost\s+recent(?:ly)?\b|\blatest\b|\bnewest\b|\bthe\s+last\s+time\b",
    rf"{_DID}last\b{_NO_SPAN}{_NO_ROW}",
    rf"\b(?:when|since|last\s+time)\s+{_WHO}\s+last\b{_NO_SPAN}{_NO_ROW}",
    rf"\blast\s+time\s+{_WHO}\b",
    rf"\b(?:when|where|what|which|who)\b[^?.!]{{3,60}}(?<!at)(?<!long)\s+last{_ENDS}",
    rf"\b(?:my|our|his|her|their|\w+['’]s)\s+(?:very\s+)?last{_NO_ROW}(?=\s+[a-z])",
    rf"\bthe\s+last{_NO_ROW}\s+\w+\s+(?:(?:that|which|whom?)\s+)?{_WHO}\b",
    r"最近的?一[次回趟场顿届]|最后一[次回趟]|最新|(?<![晚早子])上一?[次回](?![要序]|的?话)",
)
_EARLIEST = _compiled(
    r"\bthe\s+(?:very\s+)?first\s+time\b|\bearliest\b",
    rf"{_DID}first\b{_NO_ROW}",
    rf"\b(?:my|our|his|her|their|\w+['’]s)\s+(?:very\s+)?first{_NO_ROW}(?=\s+[a-z])",
    rf"\b(?:when|since)\s+{_WHO}\s+first\b{_NO_ROW}",
    r"[第头]一[次回](?!世界|工业)|初次|首次|最初(?!级)|最早(?!的?(?:航班|一班)|[^，。？]{0,4}[几能])",
)
# How long something took, what may come yet, and another than the last one.
_NEITHER = re.compile(
    r"\bhow\s+(?:much\s+)?long\w*\b(?!\s+(?:ago|since|(?:has\s+it|is\s+it))\b)"
    rf"|\bat\s+the\s+(?:latest|earliest)\b|\b(?:can|may|will|shall|must)\s+{_WHO}\b"
    rf"|\b(?:earliest|latest)\s+{_WHO}\s+can\b"
    r"|\b(?:second|third|next)[\s-]+to[\s-]+(?:the\s+)?last\b|\blast\s+but\s+one\b"
    r"|\btime\s+before\b|倒数",
    _FLAGS,
)


class Order(StrEnum):
    """Which of several occasions is asked for."""

    LATEST = "latest"
    EARLIEST = "earliest"


def order_of(text: str, expressions: Iterable[TimeExpression] = ()) -> Order | None:
    """Return which occasion a question asks for; None: neither, or both.

    Words within its ``expressions`` ("last week") do not count.
    """
    if _NEITHER.search(text):
        return None
    taken = [(each.start, each.end) for each in expressions]
    asked = [
        order
        for order, patterns in ((Order.LATEST, _LATEST), (Order.EARLIEST, _EARLIEST))
        if any(_stands(pattern, text, taken) for pattern in patterns)
    ]
    return asked[0] if len(asked) == 1 else None


def _stands(pattern: re.Pattern[str], text: str, taken: Iterable[tuple[int, int]]) -> bool:
    return any(
        all(found.end() <= start or end <= found.start() for start, end in taken)
        for found in pattern.finditer(text)
    )


_NOW = re.compile(
    r"\b(?:now|nowadays|currently|presently|these\s+days|at\s+(?:the\s+moment|present))\b"
    "|现在|目前|如今|眼下|至今",
    re.IGNORECASE,
)
_PRESENT = re.compile(r"\b(?:do|does|is|are|am|have|has)\b|\w['’](?:s|re|m|ve)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:did|was|were|had|used\s+to|would|back\s+then|at\s+(?:the|that)\s+time)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?。！？]\s*(?=\S)")


def asks_about_present(text: str) -> bool:
    """Return True if the last sentence is in the present tense, or a word says "now".

    "Which town do I live in, since I moved in March?" is; "Where did I live in March?" and
    我三月住在哪里？ are not.
    """
    if _NOW.search(text):
        return True
    last = _SENTENCE_END.split(text)[-1]
    return bool(_PRESENT.search(last)) and not _PAST.search(last)


_WORDS = frozenset(
    """
    a about afternoon again all also am an and any anything are around as ask asked at back be been
    between but by can chat chatted chatting conversation conversations could d day days diary did
    didn discuss discussed discussing do does doing don done during each earlier else evening event
    events ever every everything exactly first for from get give go going gone had happen happened
    happening happens has have he her hers him his how i in into is it its just know last late
    lately left let lets life list little ll log look m main me memories memory mention mentioned
    message messages mine month months more morning most my new news nice night note notes of on or
    our ours out over overview part please point points previous re recall recap record recorded
    records remember remind review s said saw say saying says see she show so some something speak
    spoke stuff sum summarise summarised summarize summarized summary t talk talked talking talks
    tell than that the their them then there these they thing things think this those time times to
    together told topic topics up us ve want wanted was we week weekend weeks well went were what
    when which while who whom whose will with would write wrote year years you your yours
    """.split()  # noqa: SIM905
)
# In this order: of two that begin alike the longer one first.
_CHINESE_FILLERS = re.compile(
    "什[么麼]|甚麼|怎[么麼][样樣]?|如何|哪(?![里裡儿兒])[些个個天位]?|[谁誰啥何]|为什么"
    "|我们|我們|你们|你們|他们|他們|她们|她們|咱们|咱們|大家|自己|别人|[我你您他她它咱]"
    "|发生|發生|讨论|討論|谈论|談論|聊天|对话|對話|谈话|談話|说话|說話|提到|提起|进行|经历|經歷"
    "|总结|總結|概括|概述|归纳|回顾|回忆|汇总|整理|列出|列举|列一下|告诉|告訴|记录|記錄|记得|記得|知道|记忆"
    "|看看|说说|讲讲|聊聊|查查|查一下|看一下|[做作干幹忙说說聊谈談讲講提问問查看写寫讲]"
    "|事情|事儿|情况|情況|内容|內容|活动|活動|东西|東西|话题|話題|消息|日记|日記|日程|动态|新鲜事|[事话話]"
    "|主要|所有|全部|一共|都|关于|關於|有关|请问|請問|麻烦|可以|能不能|能否|[请請帮幫给給能想要会會让讓]"
    "|一下|一些|一点|有没有|没有|[有没過过了的地得着著吗嗎呢吧啊呀嘛么是在到去来來还還也又就把被和跟与與及]"
    "|那时候|时候|時候|期间|期間|之间|之內|之内|以来|早上|上午|中午|下午|晚上|当天|那天|这天|那[周段里]"
    "|[那这這几些个個件次天日里裡内内中间上下时段又起来们們]"
)
_WORD = re.compile(r"[^\W_]+")


def names_only_times(
    text: str, expressions: Iterable[TimeExpression], names: Collection[str] = ()
) -> bool:
    """Return True if a question holds only times, names of speakers and common words.

    ``names``: of the speakers.
    """
    left = _without(text, expressions).casefold()
    named = {word for name in names for word in _WORD.findall(name.casefold())}
    for name in named:
        left = left if name.isascii() else left.replace(name, " ")
    known = _WORDS | named
    return all(word in known for word in _WORD.findall(_CHINESE_FILLERS.sub(" ", left)))


def _without(text: str, expressions: Iterable[TimeExpression]) -> str:
    pieces, end = [], 0
    for each in expressions:
        pieces.append(text[end : each.start])
        end = each.end
    return " ".join([*pieces, text[end:]])
