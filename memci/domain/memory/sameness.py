"""Whether two texts say the same (R5): a duplicate, or one that only says it at greater length.

Deliberately strict, since what is merged by mistake is lost and what is not merged only costs
room. Read as tokens (words of English, characters of Chinese; fillers left out), the shorter text
must stand in the longer one in its own order, and what the longer adds must be harmless: no
number, name, negation, date, or word that turns the meaning. So nothing is ever exchanged for
something else, nobody does what another did, and whatever the shorter one says, the longer says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# What the longer text may add, as a share of its tokens: more makes it another memory.
MOST_ADDED = 0.34

_FILLERS_TEXT = """
    a an the please thanks hi hello hey well so oh um uh ah hmm ok okay just really very quite
    actually basically anyway
    的 了 呢 吧 啊 嘛 哦 呀 请 嗯 呵 哈 喔 啦 哎 诶 嘿
"""
_FILLERS = frozenset(_FILLERS_TEXT.split())
# Each makes another fact of the rest, whichever side has it.
_TURNING_TEXT = """
    not no never none nothing nobody nowhere neither nor without hardly barely scarcely cannot
    except unless instead stop stopped quit against
    again also another other else more less most least only still already yet too enough almost
    nearly about around over under up down on off in out before after until since from to into
    and or but if than then because although though while whether
    will would shall should can could may might must need want
    was were had did used been
    maybe perhaps probably possibly likely allegedly
    all every each any some many much few several both half twice once double single
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion dozen pair couple
    first second third fourth fifth sixth seventh eighth ninth tenth last next
    am pm noon midnight today tomorrow yesterday tonight now later ago morning afternoon evening
    night day week month year weekend hour minute
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
    i you he she it we they me him her us them my your his its our their mine yours hers ours
    theirs who whom whose which what when where why how
    left right north south east west
"""
_TURNING = frozenset(_TURNING_TEXT.split())
_TURNING_CHARACTERS = frozenset(
    "不没沒无無非别別未勿莫毋否休免缺除甭"  # negations
    "一二三四五六七八九十百千万萬亿億两兩零〇几半双单多少每各全都只仅又再还也更最已将要会能可必应该曾"
    "年月日号時时分秒周週天早晚午夜昨今明前后後春夏秋冬节点刻期岁"
    "和跟与與或及同但却而若如果虽因所以从到在向往至被把给让对比为"
    "我你您他她它们咱谁自己某"
    "上下左右东南西北内外里大小高低长短"
    "吗嗎么什怎哪几"
)
# A surname in front of one or two characters, or one of these before a character, may be a name.
_MAYBE_NAMES = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃吴吳孙孫徐胡朱林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧"
    "程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔡贾丁魏薛叶阎余潘杜戴夏钟鍾汪田任姜范方石姚谭廖邹"
    "熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万段雷钱汤尹黎易常武乔贺赖龚文欧阿老小先女士"
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "＇": "'"})
_CONTRACTIONS = tuple(
    (re.compile(short, re.IGNORECASE), whole)
    for short, whole in (
        (r"\bcan't\b", "can not"),
        (r"\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\b(it|he|she|that|there|what|who|here|where)'s\b", r"\1 is"),
    )
)
_BE = frozenset(("am", "are", "is"))
_HAN_RANGES = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"[^\W\d_{_HAN_RANGES}]+"
_HAN = re.compile(f"[{_HAN_RANGES}]")
# Numbers, single Chinese characters, words, and the marks that change what a text says.
_TOKEN = re.compile(rf"\d+(?:[.,:/-]\d+)*%?|[{_HAN_RANGES}]|{_LETTERS}(?:'{_LETTERS})*|[?$€£¥#@+]")
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# Where a text names one time, it may stand at its beginning as well as at its end.
_WHEN = re.compile(
    rf"\b(?:(?:on|last|next|this|every) ){{0,3}}{_DAY}s?\b"
    r"|\b(?:last|next|this|every) (?:week|month|year|weekend|morning|evening|night)\b"
    r"|\b(?:today|tomorrow|yesterday|tonight)\b"
    r"|(?:上|下|这|本)?(?:周|星期|礼拜)[一二三四五六日天]|[今明昨后前]天|[今昨明]晚|[去今明]年",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as tokens in order, which of them have a capital, and the time that it names."""

    tokens: tuple[str, ...]
    named: frozenset[int]
    when: tuple[str, ...]


def same(one: str, other: str) -> bool:
    """Tell whether one of two texts says all that the other says, and nothing that differs.

    Symmetrical; a text is the same as itself, unless it has no words at all.
    """
    return tells_the_same(read(one), read(other))


def tells_the_same(one: Reading, other: Reading) -> bool:
    """Do as ``same`` for texts that were read."""
    shorter, longer = sorted((one, other), key=lambda each: len(each.tokens))
    if not shorter.tokens or shorter.when != longer.when:
        return False
    added = _added(shorter.tokens, longer.tokens)
    return added is not None and all(_harmless(place, longer) for place in added)


def says(text: str) -> int:
    """Return how much a text says: its tokens, fillers not counted."""
    return len(read(text).tokens)


def _added(shorter: Sequence[str], longer: Sequence[str]) -> list[int] | None:
    """Return the places of the longer text that the shorter lacks.

    None: it has others, or lacks too many.
    """
    most = len(longer) - len(shorter)
    if most > MOST_ADDED * len(longer):
        return None
    added: list[int] = []
    wanted = iter(shorter)
    want = next(wanted, None)
    for place, token in enumerate(longer):
        if token == want:
            want = next(wanted, None)
        elif len(added) == most:
            return None
        else:
            added.append(place)
    return added if want is None else None


def _harmless(place: int, reading: Reading) -> bool:
    token = reading.tokens[place]
    if _HAN.match(token):
        return token not in _TURNING_CHARACTERS and not _may_name(place, reading.tokens)
    return token[0].isalpha() and token not in _TURNING and place not in reading.named


def _may_name(place: int, tokens: Sequence[str]) -> bool:
    """Tell whether a character may be part of a person's name: at most two behind a surname."""
    return any(token in _MAYBE_NAMES for token in tokens[max(0, place - 2) : place + 1])


def read(text: str) -> Reading:
    """Read a text, to compare it with others."""
    plain = " ".join(unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).split())
    for pattern, whole in _CONTRACTIONS:
        plain = pattern.sub(whole, plain)
    when = tuple(" ".join(each.casefold().split()) for each in _WHEN.findall(plain))
    if len(when) > 1:
        when = ()  # which of them belongs to what is told by the order alone
    elif when:
        plain = _WHEN.sub(" ", plain)
    tokens: list[str] = []
    named = set()
    for word in _TOKEN.findall(plain):
        folded = word.casefold()
        if folded in _FILLERS:
            continue
        if word[0].isupper():
            named.add(len(tokens))
        tokens.append("be" if folded in _BE else folded)
    return Reading(tuple(tokens), frozenset(named), when)
