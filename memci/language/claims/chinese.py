"""Reads claims out of Chinese sentences by patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from re import Match

from memci.language.claims.claim import Claim
from memci.language.claims.places import (
    CALLED,
    FIRM,
    LASTING,
    PAST,
    PLACE,
    THIS,
    is_no_chinese_place,
    is_no_firm,
    level,
    place_name,
    town_of,
)

SENTENCE = re.compile(r"[^。！？!?\n；;]+[。！？!?\n；;]?")
CLAUSE = re.compile(r"[，,：:]|(?:但是|不过|而且|所以|因为)")
# Characters. Nobody is sure what a longer sentence asserts.
LONGEST = 300
NOT_ASSERTED = re.compile(
    r"如果|要是|假如|假设|万一|除非|可能|也许|或许|大概|恐怕|希望|但愿|梦见|梦想|想要|想去|想在|想搬|打算|"
    r"计划|准备|考虑|觉得|以为|应该|听说|据说|他说|她说|说过|告诉|问我|比如|例如|好像|似乎|以前|曾经|从前|"
    r"过去|小时候|当年|那时|那年|原来|本来|差点|差不多|几乎|开玩笑|临时|暂时|的话|吗|呢？|怎么|什么|谁|哪|[\"“”「」『』]"
)
LEAD = re.compile(
    rf"(?:(?:{PAST}|其实|现在|目前|最近|如今|今天|刚刚|另外|对了|那个|更正|更新|提醒|顺便说一下|告诉你|你好|嗨|嗯|"
    r"哦|好的|是的|不对|抱歉|对不起|请记住|记住|记一下|请注意|注意|因为|所以|而且|不过|但是|那|然后)[，,：:\s]*)+"
)
TAIL = re.compile(r"(?:了|啦|啊|呢|吧|哦|呀|的|哈|而已|的时候|工作|生活)+$")
KIN = "妈妈|爸爸|母亲|父亲|妻子|老婆|丈夫|老公|老板|经理|女朋友|男朋友|女友|男友|未婚妻|未婚夫"
SURNAMES = (
    "王李张刘陈杨赵黄吴孙徐胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
    "阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙段雷钱汤尹黎易常武乔贺赖龚文"
)
NAME = rf"(?:小|老|阿)[\u4e00-\u9fff]|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[A-Z][A-Za-z]+"
NOW = "(?:现在|目前|已经|刚|最近|终于|今年|又|就|都|也)*"
# Where somebody lives and works may have changed at any time that is over.
SINCE = rf"(?:现在|目前|已经|刚|最近|终于|又|就|都|也|{PAST}|(?:{THIS})(?=.*了))*"
WORKER = rf"(?P<who>我(?:的?(?:{KIN}))?|{NAME}){SINCE}"
WITH = "(?:[和跟与同][^，,]{1,6}?(?:一起)?)?"
DWELLER = rf"(?P<who>我(?:们?(?:全家|一家人?|家)?|的?(?:{KIN}))?|{NAME}){WITH}{SINCE}"
# Whose home or job is told as it is now.
RESIDENT = rf"(?P<who>我(?:们?(?:全家|一家人?)|的?(?:{KIN}))?|{NAME}){WITH}{NOW}(?:一直)?"
# Said by somebody of himself, and the next clause goes on about him.
IDENTITY = re.compile(r"我(?:现在)?是(?!说|指|因为|想|在)[^，,]{1,10}$")
ELLIPTIC = re.compile(
    rf"{NOW}(?:住|在|搬|定居|入职|跳槽|单身|已婚|离异|吃素|今年|是(?!说|指|因为|想))"
)
WHO = rf"(?P<who>我(?:的?(?:{KIN}))?|{NAME}){NOW}"


DAY = (
    r"(?:\d|[一二三四五六七八九十]+(?:月|号|日|点)|(?:周|星期|礼拜)[一二三四五六日天末]|[今明后]天|月底|月初|"
    r"年底|年初|季度末)"
)


def _has(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern)
    return lambda value: bool(found.search(value))


LONGEST_VALUE = 10


def short(value: str) -> bool:
    """Tell whether a value is one or two words, and no clause."""
    return 0 < len(value) <= LONGEST_VALUE and not re.search(r"[的了是]", value)


ATTRIBUTES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "手机号码?|电话号码?|电话|手机": ("phone", _has(r"(?:\d[\s-]*){5}")),
    "邮箱地址|电子邮箱|邮箱|邮件地址": ("email", _has("@")),
    "家庭住址|住址|地址": ("address", _has(r"[路街道号区]|\d")),
    "生日|出生日期": ("birthday", _has(DAY)),
    "年龄": ("age", _has(r"[\d一二三四五六七八九十]")),
    "名字|姓名": ("name", short),
    "截止日期|截止时间|交付日期|上线日期|上线时间|发布日期|婚礼日期|最后期限": (
        "deadline",
        _has(DAY),
    ),
    "价格|售价|预算|房租|租金|工资|薪水|月薪|费用": ("price", _has(r"[\d百千万]")),
    "版本号?": ("version", _has(r"\d")),
    "状态": ("status", short),
}
NOUNS = "|".join(ATTRIBUTES)
# Two words for one thing.
SAME = {"结婚": "已婚", "离婚": "离异", "吃素": "素食"}
IS = (
    "(?:现在|目前|已经|已)*(?:是|为|改成了?|改为了?|改到了?|变成了?|变为了?|换成了?|调整为|调整到|定在|定为|定成|"
    "推迟到了?|延期到了?|延到了?|提前到了?|增加到了?|提高到了?|减少?到了?|降低到了?|涨到了?|涨到|降到了?|升到了?|更新为|更新到|：|:)"
)


Read = Callable[[Match[str], str, str], Claim | None]


def subject_of(found: Match[str], speaker: str) -> str:
    """Return the key of whom a clause is about; ``*``: all who talk."""
    who = found["who"]
    if who is None:
        return "*"
    if who.startswith("我们"):
        return "*"
    if who.startswith("我"):
        kin = who[1:].removeprefix("的")
        return f"{speaker}/{kin}" if kin else speaker
    return who.casefold()


_PASSING = re.compile(rf"{PAST}|今[天晚]|昨晚|这[几两]天|出差|旅[游行]|度假")
_OURS = re.compile("我们?(?:全家|一家人?|家)?")


def clean(value: str) -> str:
    """Return a value without the particles behind it."""
    return TAIL.sub("", value.strip()).strip()


def lives(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read where somebody lives, or no longer does (group ``ends``)."""
    if is_no_chinese_place(found["value"]):
        return None
    value = place_name(found["value"])
    return _settled(f"lives in/{level(town_of(value))}", value, found, speaker, clause)


def dwells(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read where somebody stays, unless that was so for a day or is over: 昨天我住在上海."""
    return None if _PASSING.search(clause) else lives(found, speaker, clause)


def works(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read for whom somebody works, or no longer does (group ``ends``)."""
    value = found.groupdict().get("called") or found["value"]
    if is_no_firm(value):
        return None
    return _settled("works at", value, found, speaker, clause)


def employed(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read for whom somebody works, unless that was so for a day or is over."""
    return None if _PASSING.search(clause) else works(found, speaker, clause)


def _settled(attribute: str, value: str, found: Match[str], speaker: str, clause: str) -> Claim:
    # Who speaks of a home or a job as "ours" shares it.
    subject = speaker if _OURS.fullmatch(found["who"]) else subject_of(found, speaker)
    if found.groupdict().get("ends"):
        return Claim(subject, attribute, None, value, clause)
    return Claim(subject, attribute, value, None, clause)


def owned(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what an attribute of somebody or something is."""
    noun, value = found["noun"], clean(found["value"])
    name, fits = next(rule for words, rule in ATTRIBUTES.items() if re.fullmatch(words, noun))
    if not value or value.startswith("不") or not fits(value):
        return None
    subject = subject_of(found, speaker)
    thing = found["thing"] or ""
    if subject == "*" and name in {"age", "name", "phone", "email", "birthday"}:
        return None
    if name == "price":
        name = noun
    return Claim(subject, " of ".join(filter(None, (name, thing))), value, None, clause)


def state(attribute: str) -> Read:
    """Read what somebody is: 三十岁, 已婚, 吃素."""

    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        value = SAME.get(found["value"], found["value"])
        subject = subject_of(found, speaker)
        if found.groupdict().get("ends"):
            return Claim(subject, attribute, None, value, clause)
        return Claim(subject, attribute, value, None, clause)

    return read


def favourite(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what somebody likes best of a kind."""
    value = clean(found["value"])
    if not short(value):
        return None
    return Claim(subject_of(found, speaker), f"favourite {found['thing']}", value, None, clause)


def use(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what is used for something."""
    del speaker
    value = clean(found["value"])
    return Claim("*", f"use for {found['thing']}", value, None, clause) if value else None


def correction(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read 是甲，不是乙."""
    del speaker
    value, wrong = clean(found["value"]), clean(found["wrong"])
    return Claim("", "", value, wrong, clause) if value and wrong else None


CORRECTIONS = (
    re.compile(
        r"(?:那?不是|并不是)(?P<wrong>[^，,是]{1,12})[，,](?:而)?是(?P<value>[^，,是不]{1,12})$"
    ),
    re.compile(
        r"(?:应?是|[^，,不]{0,6}(?<!不)是)(?P<value>[^，,是不]{1,12})[，,]?(?:而)?不是(?P<wrong>[^，,是]{1,12})$"
    ),
)
_TOOL = r"[A-Za-z][\w.+#-]*(?: [\w.+#-]+)?|[\u4e00-\u9fff]{2,6}?"
PATTERNS: list[tuple[re.Pattern[str], Read]] = [
    *((each, correction) for each in CORRECTIONS),
    (re.compile(
        rf"{DWELLER}(?P<ends>不再|已经不|不)?(?:从{PLACE})?(?:住[到进]了?|搬家?[到去来回至]了?|[迁移]居到?了?|"
        rf"迁[到至]了?|定居[在于到]?了?|落户[在到]?了?)(?P<value>{PLACE})(?:这边|那边|来|去)?"
        rf"(?:了|工作|生活|定居|居住|住)*(?:{LASTING}了?)?(?:$|[\s。！])"), lives),
    (re.compile(rf"{DWELLER}[回到去]了?(?P<value>{PLACE})(?:定居|生活|居住)了$"),
        lives),
    (re.compile(
        rf"{RESIDENT}(?P<ends>不再|已经不|不)?(?:住在?|居住在)(?P<value>{PLACE})(?:这边|那边)?"
        rf"(?:了|工作|生活|定居|居住|住)*(?:{LASTING}了?)?(?:$|[\s。！])"), dwells),
    (re.compile(
        rf"{RESIDENT}(?P<ends>不再|已经不|不)?在(?P<value>{PLACE})(?:这边|那边)?(?:居住|定居|住|生活)了?$"),
        dwells),
    (re.compile(
        rf"{RESIDENT}(?P<ends>不再|已经不|不)?在(?:{CALLED}|(?P<value>{FIRM}))"
        r"(?:工作|上班|任职|就职|供职|[当做]了?(?:一?[名个位])?[\u4e00-\u9fff]{2,6}|担任[\u4e00-\u9fff]{2,8})了?$"),
        employed),
    (re.compile(
        rf"{WORKER}(?:从{FIRM})?(?:跳槽|换工作|入职|加入|加盟)(?:到|去)?了?(?P<value>{FIRM})(?:工作|上班)?了?$"),
        works),
    (re.compile(rf"{WORKER}(?:从{FIRM})?[换转调][到去]了?(?P<value>{FIRM})(?:工作|上班|任职)了?$"),
        works),
    (re.compile(rf"{WORKER}[去到]了?(?P<value>{FIRM})(?:工作|上班|任职)了$"), works),
    (re.compile(rf"{WORKER}离开了?{FIRM}(?:以?后)?(?:去|到|加入|跳槽到)了?(?P<value>{FIRM})(?:工作|上班)?了?$"),
        works),
    (re.compile(rf"{WORKER}(?P<ends>离开|从|辞去|辞掉|辞)了?在?(?P<value>{FIRM})(?:的工作|离职|辞职)?了?$"),
        works),
    (re.compile(rf"(?P<who>我)的?(?:新|现在的|目前的)(?:公司|单位|东家|雇主)(?:现在)?是(?P<value>{FIRM})$"),
        works),
    (re.compile(
        rf"(?:把|将)?(?:(?P<who>我们|我(?:的?(?:{KIN}))?|{NAME})的?)?(?:(?P<thing>[\w]{{1,10}}?)的)?(?:新的?|最新的?|当前的?)?"
        rf"(?P<noun>{NOUNS})(?:从.{{1,12}}?)?{IS}(?P<value>.{{1,24}})$"), owned),
    (re.compile(rf"{WHO}(?:年龄是)?(?P<value>\d{{1,3}}|[一二三四五六七八九十]{{1,3}})岁了?$"),
        state("age")),
    (re.compile(rf"{WHO}(?P<ends>不再|不)?(?:是)?(?P<value>单身|已婚|离异)(?:的|了)?$"),
        state("marital status")),
    (re.compile(rf"{WHO}(?P<value>结婚|离婚|订婚)了$"), state("marital status")),
    (re.compile(rf"{WHO}(?P<ends>不再|不)?(?:是)?(?P<value>吃素|素食|纯素)(?:者|主义者)?了?$"),
        state("diet")),
    (re.compile(rf"{WHO}最(?:喜欢|爱)的(?P<thing>[\u4e00-\u9fff]{{1,5}}?)(?:现在|已经)*(?:是|变成了?|换成了?)"
                r"(?P<value>.{1,16})$"), favourite),
    (re.compile(rf"(?P<who>我)(?:改名)?(?:叫|的名字叫)(?P<value>[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|[A-Z][a-z]+)$"),
        state("name")),
    (re.compile(rf"我们?(?:决定|已经决定|商定)(?:改)?用\s?(?P<value>{_TOOL})\s?(?:来)?(?:做|作为|当|写)"
                r"\s?(?P<thing>[\u4e00-\u9fffA-Za-z]{1,10})$"), use),
    (re.compile(rf"(?P<thing>[\u4e00-\u9fffA-Za-z]{{1,10}}?)(?:我们)?(?:已经)?(?:决定|最终|最后)*"
                rf"(?:改用|换成|换用|决定用|决定使用)了?\s?(?P<value>{_TOOL})了?$"), use),
]  # fmt: skip


# Who says so goes on about himself: "I changed jobs, and now at …".
_TURN = re.compile(
    rf"我们?{SINCE}(?:(?P<home>搬家|搬走)|换了?(?:一?个)?新?工作|跳槽|辞职|离职|离开)"
)
_GOES_ON = re.compile(r"(?:现在|目前|如今)+(?=[住在搬]|定居)")
_AT_FIRM = re.compile(rf"在{FIRM}$")


def claims_of(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a text, in its order."""
    return [
        claim
        for sentence in SENTENCE.findall(text)
        if len(sentence) <= LONGEST
        and sentence.strip()[-1:] not in {"?", "？"}
        and not NOT_ASSERTED.search(sentence)
        for claim in _told(_clauses(sentence), speaker)
    ]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut a sentence into clauses; the two halves of a correction stay together."""
    whole = sentence.strip().strip("。！!；;").strip()
    if any(each.match(_led(whole)) for each in CORRECTIONS):
        yield whole
        return
    yield from filter(None, (part.strip() for part in CLAUSE.split(whole)))


def _told(clauses: Iterable[str], speaker: str) -> Iterator[Claim]:
    """Yield the claims of clauses in a row; one without a subject has that of the one before."""
    before, of_speaker = "", False
    for clause in clauses:
        told = _led(clause)
        turn = _TURN.match(before)
        if turn and _GOES_ON.match(clause):
            told = "我" + clause
            if not turn["home"] and _AT_FIRM.search(told):
                told += "工作"
        elif of_speaker and ELLIPTIC.match(clause):
            told = "我" + clause
        claim = _claim(clause, told, speaker)
        if claim is not None:
            yield claim
        # Of anybody else it is not sure who the next clause is about.
        mine = claim is not None and claim.subject == speaker
        before, of_speaker = told, mine or IDENTITY.match(told) is not None


def _led(clause: str) -> str:
    lead = LEAD.match(clause)
    return clause[lead.end() :] if lead and lead.end() < len(clause) else clause


def _claim(clause: str, told: str, speaker: str) -> Claim | None:
    for pattern, read in PATTERNS:
        found = pattern.match(told)
        claim = read(found, speaker, clause) if found else None
        if claim is not None:
            return claim
    return None
