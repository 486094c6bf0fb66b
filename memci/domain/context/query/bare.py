"""Questions that say hardly anything beside a time: "What did I do last week?" (R10).

They want what was then, whatever its words: their own words stand in everything that is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from memci.domain.context.query.moment import Moment

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
_HAN = re.compile(
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


def is_bare(text: str, moments: Iterable[Moment], names: Collection[str] = ()) -> bool:
    """Tell whether a question says nothing beside its times, who is asked about, and common words.

    ``names``: of those who speak, as the question may name them.
    """
    left = _without(text, moments).casefold()
    named = {word for name in names for word in _WORD.findall(name.casefold())}
    for name in named:
        left = left if name.isascii() else left.replace(name, " ")
    known = _WORDS | named
    return all(word in known for word in _WORD.findall(_HAN.sub(" ", left)))


def _without(text: str, moments: Iterable[Moment]) -> str:
    pieces, end = [], 0
    for each in moments:
        pieces.append(text[end : each.start])
        end = each.end
    return " ".join([*pieces, text[end:]])
