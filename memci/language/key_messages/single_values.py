"""Finds key messages that set something of which there is one value at a time (R6, R7).

A sentence settles something only if it says nothing else. What holds in one case, denies, or has
another clause leaves all others standing, and no other ends it: what goes with it would be lost
from sight. In doubt two stand side by side, the newer one below.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Settled(NamedTuple):
    """``value`` is what a ``matter`` is settled to, both as keys.

    ``anywhere``: it is about the speaker, and not about what one session is about. ``changed``: the
    sentence says that it was otherwise before.
    """

    matter: str
    value: str
    anywhere: bool = False
    changed: bool = False


Read: TypeAlias = Callable[[re.Match[str]], Settled]


class SettlingRule(NamedTuple):
    """A pattern that a whole sentence has to match, and what is read of it."""

    pattern: re.Pattern[str]
    read: Read


def settling(read: Read, *pieces: str) -> SettlingRule:
    """Return a rule whose pattern are these pieces in a row, in small letters or capitals."""
    return SettlingRule(re.compile("".join(pieces), re.IGNORECASE), read)


def of_speaker(matter: str, values: dict[str, str] | None = None) -> Read:
    """Return what reads group ``value`` as what the speaker wants; ``values`` are its keys."""

    def read(found: re.Match[str]) -> Settled:
        said = found["value"].casefold()
        return Settled(matter, (values or {}).get(said, said), anywhere=True)

    return read


def of_work(found: re.Match[str]) -> Settled:
    """Read what something that is worked on is to be: a budget, a date, what is used for it.

    Groups: ``owner``, ``noun`` and ``thing`` say what, ``is``, ``new`` and ``now`` whether it has
    changed; ``value``.
    """
    parts = {name: (said or "").casefold() for name, said in found.groupdict().items()}
    owner = "of the speaker" if parts.get("owner") in {"my", "我的", "我"} else "of all"
    matter = " ".join(f"{parts['noun']} {owner} {parts.get('thing', '')}".split())
    changed = any(parts.get(name) for name in ("changed", "new", "now"))
    return Settled(matter, "".join(parts["value"].split()), changed=changed)


LANGUAGE, LENGTH = "language of answers", "length of answers"
ADDRESS, UNITS = "how the speaker is called", "units"


_LEAD = (
    r"\W*(?:(?:no|wait|sorry|actually|ok|okay|please|remember|note|and|also|so|from now on|"
    r"from here on|going forward|in future|always|only|just|could you|you should|you must)\b"
    r"[\s,:!]*)*"
)
_END = r"(?:,? (?:please|thanks|thank you|from now on|only|always|instead|now))*\W*"
# "Not English, but" still says nothing else.
_NOT_THE_OTHER = r"(?:,? (?:and )?(?:not|instead of)(?: in)? [a-z]+(?: units)?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_DATE = (
    rf"(?:(?:on )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d|"
    r"(?:next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_AMOUNT = r"(?:[$€£¥] ?\d[\d.,]*\d?k?|\d[\d.,]*k? ?(?:dollars|euros|pounds|yuan|usd|eur|gbp|rmb))"
_CHANGED = (
    r"(?P<changed> is now| (?:has (?:been |just )*|was |got |is now )?(?:moved|pushed|postponed|"
    r"extended|changed|set|raised|increased|cut|reduced|lowered|brought forward)"
    r"(?: (?:back|up|down))?(?: from [^,;]{1,20}?)? to)"
)
_LANGUAGES = (
    "english|chinese|mandarin|french|german|spanish|japanese|korean|italian|portuguese|russian"
)
_LENGTHS = {
    "short": "short", "brief": "short", "concise": "short",
    "long": "long", "detailed": "long", "thorough": "long",
}  # fmt: skip
_NAME = r"(?-i:[A-Z])[\w'-]+"

ENGLISH_RULES = (
    settling(
        of_speaker(LANGUAGE, {"mandarin": "chinese"}),
        rf"{_LEAD}(?:answer|reply|respond|write|speak|talk)(?: back)?",
        r"(?: (?:to )?(?:me|us)| (?:all )?my (?:questions|messages))?(?: only| always)?",
        rf" in (?P<value>{_LANGUAGES}){_NOT_THE_OTHER}(?:, even [^,]{{1,60}})?{_END}",
    ),
    settling(
        of_speaker(LENGTH, _LENGTHS),
        rf"{_LEAD}(?:keep|make) (?:your |all |the )*(?:answers|replies|responses) (?:as )?",
        rf"(?:very |more |nice and )?(?P<value>{'|'.join(_LENGTHS)})(?: as possible)?{_END}",
    ),
    settling(
        of_speaker(ADDRESS),
        rf"{_LEAD}(?:call|address) me(?: as)? (?P<value>{_NAME}(?: {_NAME})?){_END}",
    ),
    settling(
        of_speaker(UNITS),
        rf"{_LEAD}(?:use|stick to|switch to|give me)(?: the)? (?P<value>metric|imperial)",
        rf" (?:units|system|measurements){_NOT_THE_OTHER}{_END}",
    ),
    settling(
        of_work,
        r"\W*(?:(?P<owner>the|our|my) )?(?P<new>new )?(?:final |hard |total )?",
        r"(?P<noun>budget|deadline|due date|launch date|submission date|delivery date)",
        r"(?: (?:for|of) (?:the |our |my )?(?P<thing>[\w' -]{1,30}?))?",
        rf"(?:\s?:| is|{_CHANGED})\s+(?P<value>{_AMOUNT}|{_DATE})",
        r"(?P<now> now| instead)?(?: again)?(?:, end of day)?\W*",
    ),
    settling(
        of_work,
        r"\W*we(?:'ve| have| are|'re)?(?: all| now)? (?:decided|agreed|chose|opted)",
        r"(?: (?:to use|to go with|(?P<changed>to switch to)|on))?",
        r" (?P<value>[\w.+#-]+(?: [\w.+#-]+)?) (?:for|as) the (?P<noun>[\w-]+(?: [\w-]+)?)",
        r"(?P<now> now| instead)?\W*",
    ),
)


_CHINESE_LEAD = (
    "\\W*(?:(?:好的?|另外|记住|请|麻烦|你|以后|今后|从现在(?:开始|起)|都|一律|始终|总是|只|尽量|要|"
    "务必|必须|改成?)[，,\\s]*)*"
)
_CHINESE_END = "(?:吧|就好|就行|即可|[，,]?谢谢)*\\W*"
_CHINESE_LANGUAGES = {
    "英语": "english", "英文": "english", "中文": "chinese", "汉语": "chinese",
    "普通话": "chinese", "法语": "french", "德语": "german", "西班牙语": "spanish",
    "日语": "japanese", "日文": "japanese", "韩语": "korean", "意大利语": "italian",
    "葡萄牙语": "portuguese", "俄语": "russian",
}  # fmt: skip
_CHINESE_LENGTHS = {
    "简短": "short", "简洁": "short", "简明": "short", "详细": "long", "详尽": "long",
}  # fmt: skip
_UNITS = {"公": "metric", "英": "imperial"}
_CHINESE_DATE = (
    "(?:\\d{4}年)?\\d{1,2}月\\d{1,2}[日号]?|(?:下?周|星期)[一二三四五六日天]|[本下]?月底|"
    "\\d{4}-\\d\\d-\\d\\d"
)
_CHINESE_AMOUNT = (
    "[¥￥]?\\d[\\d.,]*[万千]?(?:元|块钱?|美元|欧元)|[一二两三四五六七八九十百千万]+(?:元|块钱?)"
)
_CHINESE_CHANGED = (
    "(?P<changed>现在是|目前是|(?:现在|已经?|又)?(?:改[成为到]|调整[为到]|推迟到|延[期后]?到|提前到|"
    "增加到|提高到|减少?到|降低?到)了?)"
)

CHINESE_RULES = (
    settling(
        of_speaker(LANGUAGE, _CHINESE_LANGUAGES),
        f"{_CHINESE_LEAD}(?:用|以|使用)(?P<value>{'|'.join(_CHINESE_LANGUAGES)})(?:来)?",
        f"(?:回[答复]|交流)(?:我们?)?(?:的?(?:所有)?问题)?{_CHINESE_END}",
    ),
    settling(
        of_speaker(LENGTH, _CHINESE_LENGTHS),
        f"{_CHINESE_LEAD}(?:你的)?回[答复](?:我?的?问题)?(?:的?时候?|时)?(?:请|要|尽量|都|得|务必|一律)*",
        f"(?P<value>{'|'.join(_CHINESE_LENGTHS)})(?:一?[些点])?{_CHINESE_END}",
    ),
    settling(
        of_speaker(ADDRESS),
        f"{_CHINESE_LEAD}(?:叫|称呼)我[为作做]?",
        f"(?P<value>(?!起|醒|一声|[去来上下吃睡])[\u4e00-\u9fff]{{1,4}}?|[A-Za-z]+){_CHINESE_END}",
    ),
    settling(
        of_speaker(UNITS, _UNITS),
        f"{_CHINESE_LEAD}(?:用|使用|采用|换成)(?P<value>[公英])制(?:单位)?{_CHINESE_END}",
    ),
    settling(
        of_work,
        "\\W*(?:(?P<owner>我们的?|我的?|咱们的?)|(?P<thing>\\w{1,10}?)的)?(?P<new>新的?)?总?",
        "(?P<noun>预算|截止日期|截止时间|最后期限|交付日期|上线日期|上线时间|发布日期)",
        f"(?:{_CHINESE_CHANGED}|是|为|定[在为]|[：:])\\s*(?P<value>{_CHINESE_AMOUNT}|{_CHINESE_DATE})",
        "(?:之?前|下班前)?(?P<now>了)?\\W*",
    ),
    settling(
        of_work,
        "\\W*(?:我们|咱们|团队|大家)(?:最终|最后|已经|一致)*(?:决定|商定)",
        "(?:(?P<changed>改用|换成|换用)|用|使用)\\s?(?P<value>[A-Za-z][\\w.+#-]*(?: [\\w.+#-]+)?)",
        "\\s?来?(?:做|作为|当)\\s?(?P<noun>[\u4e00-\u9fff]{1,8}?)[了吧]*\\W*",
    ),
)


_RULES = (*ENGLISH_RULES, *CHINESE_RULES)


def settled_by(sentence: str) -> Settled | None:
    """Return what a sentence settles, if it says no more than that; None: nothing."""
    said = sentence.strip().replace("’", "'")
    for rule in _RULES:
        if found := rule.pattern.fullmatch(said):
            return rule.read(found)
    return None
