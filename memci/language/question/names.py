"""Names in a question: people, places, products, titles (R10).

Precision comes before recall: a missed name costs little, for its characters are searched anyway,
but a word taken for a name finds the wrong memories. A Latin name has a capital that the sentence
does not give it; a Chinese name is found by its surname and the words beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from memci.language.detection import Language, language_of
from memci.language.names import Entity, entities_named, is_pronoun, is_speaker
from memci.language.times.ranges import TimeExpression

_L = r"[0-9A-Za-zÀ-ÖØ-öø-ɏ_]"
_PART = rf"[A-ZÀ-ÖØ-Þ]{_L}*(?:[-'’.&+#/]{_L}+)*[+#]*"
_LINK = "(?:of the|of|de|da|van|von|the|and the) "
_NAME = re.compile(
    rf"(?<!{_L})(?<!['’-])(?:(?:Dr|Mr|Mrs|Ms|St)\. )?{_PART}"
    rf"(?: (?:{_LINK})?(?:{_PART}|\d[0-9A-Za-z.]*))*"
)
# iPhone, npm2, o200k_base: a capital or a figure inside a word marks a product or an identifier.
_MADE = re.compile(
    rf"(?<!{_L})(?<!['’/.$€£-])(?:[a-z]+[A-Z]{_L}*|[A-Za-z]+-?\d+{_L}*)(?!{_L})(?!/)"
)
# In a Chinese question Latin letters are names: of people, products, programs.
_FOREIGN = re.compile(rf"(?<!{_L})[A-Za-zÀ-ɏ]{_L}+(?:[-.'’]{_L}+)*(?: {_L}+)*[+#]*")
_OWNER = re.compile(rf"({_L}+)['’]s ")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_SENTENCE_BEGINS = re.compile(r"(?:\A|[.!?。！？:：;；\n]|[\"“(])[\s\"“(—–-]*\Z")
_TITLES = ("Dr.", "Mr.", "Mrs.", "Ms.", "St.")
_NEAR = 8
_NO_NAMES = frozenset(
    """
    a an the this that these those such both each every all any some no none another other others
    i i'm i've i'd i'll me my mine you your yours he him his she her hers it its we us our ours they
    them their theirs myself yourself ourselves
    who whom whose what which when where why how whether if because since though although while
    am is are was were be been being do does did done doing have has had having can could will would
    shall should may might must let let's isn't aren't wasn't weren't don't doesn't didn't hasn't
    haven't can't couldn't won't wouldn't
    what's who's where's when's how's that's there's it's
    and or but nor so yet not also then than too very just only even still already now here there
    of in on at by for from to into onto with without within about above across after against along
    among around as before behind below beneath beside besides between beyond despite down during
    except inside like near off out outside over past through throughout toward towards under until
    till up upon via per according
    tell give list name show find describe explain summarize summarise compare say remind recall
    remember mention discuss state write read help check look think consider suppose imagine please
    ok okay yes hey hi hello thanks thank sorry well oh ah
    first second third last next today yesterday tomorrow tonight recently lately currently
    earlier later again once ever never always sometimes usually often
    how's many much more most less least several few
    mr mrs ms dr sir madam tv pc
    monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december
    am pm ok q a's
    """.split()  # noqa: SIM905
)
# After these a word with a capital that opens the sentence is somebody who does something.
_DOING = re.compile(
    r"['’]s\b|,? (?:and|or|&) [A-Z]|[ ](?:said|says|told|went|goes|likes|liked|loves|"
    r"wants|wanted|lives|lived|works|worked|made|got|bought|met|mentioned|recommended|asked|called)\b"
)
_NOT_OPENING = re.compile(r"(?:ing|ly|ed)\Z")
_SHORTEST_FOREIGN = 2


def _latin_names(text: str, language: Language) -> Iterator[tuple[int, str]]:
    """Yield each name with its position.

    Capitals do not count in a text without small letters.
    """
    if language is Language.CHINESE:
        for match in _FOREIGN.finditer(text):
            if len(match[0]) >= _SHORTEST_FOREIGN and match[0].lower() not in _NO_NAMES:
                yield match.start(), match[0]
        return
    if not any(each.islower() for each in text):
        return
    for match in _MADE.finditer(text):
        yield match.start(), match[0]
    opening: list[tuple[int, str]] = []
    inside: set[str] = set()
    for match in _NAME.finditer(text):
        for start, name in _apart(*_trimmed(match)):
            if _opens(text, start) and not _surely_a_name(name, text[start + len(name) :]):
                opening.append((start, name))
            else:
                inside.add(name)
                yield start, name
    yield from ((start, name) for start, name in opening if name in inside)


def _trimmed(match: re.Match[str]) -> tuple[str, int]:
    """Drop capitalised words at both ends that are no names, and possessives."""
    words = match[0].split(" ")
    start = match.start()
    while words and _no_name(words[0]):
        start += len(words.pop(0)) + 1
    while words and _no_name(words[-1]):
        words.pop()
    name = _POSSESSIVE.sub("", " ".join(words)).rstrip(".")
    return ("", start) if not name or name[0].isdigit() or len(name) == 1 else (name, start)


def _apart(name: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield an owner and its property separately: Evan and Prius of "Evan's Prius"."""
    owner = _OWNER.match(name)
    if owner and not _no_name(owner[1]):
        yield start, owner[1]
        name, start = name[owner.end() :], start + owner.end()
    if name and not name[0].isdigit():
        yield start, name


def _no_name(word: str) -> bool:
    bare = _POSSESSIVE.sub("", word.lower()).rstrip(".")
    return word not in _TITLES and (bare in _NO_NAMES or word.lower() in _NO_NAMES)


def _opens(text: str, start: int) -> bool:
    """Return True if a sentence begins at this place, where any word has a capital."""
    before = text[max(0, start - _NEAR) : start]
    return bool(_SENTENCE_BEGINS.search(before)) and not before.endswith(_ABBREVIATIONS)


_ABBREVIATIONS = ("Dr. ", "Mr. ", "Mrs. ", "Ms. ", "St. ")


def _surely_a_name(name: str, rest: str) -> bool:
    if " " in name or not name[1:].islower():
        return True
    return not _NOT_OPENING.search(name) and bool(_DOING.match(rest))


_SURNAMES = (
    "王李张刘陈杨黄赵吴徐孙朱胡郭林罗郑梁谢宋唐韩冯邓曹彭肖田董袁潘蒋蔡余杜叶程苏魏吕丁沈姚卢姜崔钟谭陆汪"
    "范廖贾夏韦邹孟熊秦邱尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵钱严覃戴莫孔汤施樊葛邢齐乔伍庞颜倪庄聂鲁岳翟詹"
    "欧耿焦俞柳"
)
# Surnames that begin usual words as well, and how those go on.
_COMMON = (
    "周(?![末一二三四五六日天围边年期到游岁长])|许(?![多久可])|何(?![时地处人以况必等为种日事])|"
    "曾(?![经])|任(?![何务意])|方(?![法案便面式向言])|高(?![兴中考级度铁达分手峰效速])|"
    "马(?![上路拉桶术])|白(?![天色])|金(?![额融钱牌])|江(?![苏南西边])|万(?![一圣])|"
    "于(?![是])|石(?![头油])"
)
_NOT_GIVEN = (
    "的了是在和有我你他她它这那哪什么怎为吗呢吧啊个都也就还要会能可不没去来到说给跟与或及过上下里对把"
    "被从向让叫问推告喜做看听想吃住买最近曾昨今前后每第多少几先老总经"
)
_GIVEN = f"[^\\W\\da-zA-Z{_NOT_GIVEN}]"
_SIDE = "和跟与给对向找问见陪由让叫把被比像是的、，。？！；：“”《》 "
_NEXT = (
    "的|是|在|和|与|跟|有|去|来|到|说|喜欢|给|了|为|什么|怎|最|曾|昨|今|明天|明年|去年|上|现在|住|买|哪|"
    "多|几|会|想|要|送|推荐|告诉|提|过|一起|对|被|把|不|没|还|也|都|以前|之前|小时候|爱|做|看|学|吃|养|教|"
    "工作|生日|家|聊|谈|讲|参加|打算|计划|负责|认识|觉得|\\.|、|，|。|？|！|；|：|,|\\?|!|\\s|\\Z"
)
_PERSON = f"(?:(?<=[{_SIDE}])|\\A)(?P<name>(?:[{_SURNAMES}]|{_COMMON}){_GIVEN}{{1,2}})(?={_NEXT})"
_CALLED = (
    f"(?P<name>(?:[小老阿][{_SURNAMES}周许何曾任方高马白金江万于石](?!{_GIVEN}(?:的|说))"
    f"|(?:[{_SURNAMES}]|{_COMMON})(?:{_GIVEN}{{1,2}})?(?:先生|女士|老师|医生|教授|经理|阿姨|叔叔|师傅|同学)))"
)
_KIND = (
    "公园|大学|学院|中学|小学|医院|公司|机场|车站|博物馆|图书馆|美术馆|广场|酒店|餐厅|书店|山庄|山|湖|岛|"
    "寺|河|古镇|大街|路"
)
_TO_A_PLACE = "[去在到来往从游爬逛]"
_UNNAMED = "我你他她它这那哪个家某有和的了是一座几两新附近同什么很多些"
_PLACE = f"{_TO_A_PLACE}过?了?(?P<name>[^\\W\\da-zA-Z{_UNNAMED}去在到来往从过]{{2,5}}?(?:{_KIND}))"
_TRAVELLED = (
    f"{_TO_A_PLACE}过?了?(?P<name>[^\\W\\da-zA-Z{_UNNAMED}去在到来往从看过上下玩]{{2,4}}?)"
    "(?=旅游|旅行|出差|玩|读书|上学|工作|度假|游玩|留学|参观)"
)
_NO_PLACE = r"(?:国外|国内|外地|外面|公司|学校|郊外|海边|山上|家里|图书馆|博物馆|公园|超市|医院)\Z"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Compile the patterns at first use: most processes never need them."""
    return tuple(map(re.compile, (_PERSON, _CALLED, _PLACE, _TRAVELLED)))


def _chinese_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield names of people and places with their positions."""
    for pattern in _patterns():
        for match in pattern.finditer(text):
            if not re.fullmatch(_NO_PLACE, match["name"]):
                yield match.start("name"), match["name"]


_MOST = 12
_LONGEST = 64
# A character alone is in too many words.
_SHORTEST_CHINESE = 2
_TITLE = re.compile(
    r"[《〈]([^《》〈〉\n]{1,40})[》〉]|[「『]([^「」『』\n]{2,40})[」』]|[“\"]([^“”\"\n]{2,40})[”\"]"
)


def speakers_called(entities: Iterable[str], names: Collection[str]) -> frozenset[str]:
    """Return the names that an entity abbreviates where only one is possible: "Mel"."""
    found = set()
    for entity in entities:
        meant = [name for name in names if is_speaker(entity, (name,))]
        if len(meant) == 1:
            found.update(meant)
    return frozenset(found)


def speakers_in(text: str, names: Collection[str]) -> frozenset[str]:
    """Return the names that a question holds as whole words, in any case.

    Chinese names match by their characters; those of one character are not searched.
    """
    by_key: dict[str, list[str]] = {}
    for name in names:
        key = Entity.named(name).key
        chinese = language_of(name) is Language.CHINESE
        if key and (not chinese or len(key) >= _SHORTEST_CHINESE):
            by_key.setdefault(key, []).append(name)
    return frozenset(name for key in entities_named(text, by_key) for name in by_key[key])


def entities_in(
    text: str, language: Language, known: Collection[str], expressions: Iterable[TimeExpression]
) -> tuple[str, ...]:
    """Return the names in a question, at most 12, in order of first mention.

    ``known``: names that count whatever their letters. Expressions of time are no names.
    """
    masked = _masked(text, expressions)
    found: dict[str, tuple[int, str]] = {}
    for at, name in (*_known(text, known), *_named(masked, language)):
        key = Entity.named(name).key
        if key and len(name) <= _LONGEST and not is_pronoun(name):
            found[key] = min(found.get(key, (at, name)), (at, name))
    return tuple(name for _, name in sorted(_longest(found).values())[:_MOST])


def _named(text: str, language: Language) -> Iterator[tuple[int, str]]:
    for match in _TITLE.finditer(text):
        title = next(group for group in match.groups() if group).strip()
        if match[3] is None or _is_title(title):
            yield match.start(), title
    if language is Language.CHINESE:
        yield from _chinese_names(text)
    yield from _latin_names(text, language)


def _known(text: str, known: Collection[str]) -> Iterator[tuple[int, str]]:
    lower = text.casefold()
    for name in known:
        place = lower.find(name.casefold())
        yield max(place, 0), name


def _longest(found: dict[str, tuple[int, str]]) -> dict[str, tuple[int, str]]:
    """Drop names that are part of another: "Smith" beside "Ada Smith"."""
    return {
        key: place
        for key, place in found.items()
        if not any(key != other and key in entities_named(other, (key,)) for other in found)
    }


def _masked(text: str, expressions: Iterable[TimeExpression]) -> str:
    """Return the text with a dot for each character of a time: dates and holidays name nobody."""
    for each in expressions:
        text = text[: each.start] + "." * (each.end - each.start) + text[each.end :]
    return text


def _is_title(quoted: str) -> bool:
    """Return True if the long words of a quotation have capitals, or it is Chinese."""
    words = [word for word in quoted.split() if len(word) > 3]  # noqa: PLR2004
    return language_of(quoted) is Language.CHINESE or (
        bool(words) and all(not word[0].islower() for word in words)
    )
