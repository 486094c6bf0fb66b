"""What Chinese sentences assert, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from re import Match

from memci.domain.memory.claim import Claim
from memci.smallmodel.offline.claims.chinese_names import FIRM, LASTING, PAST, PLACE, THIS
from memci.smallmodel.offline.claims.places import level

_SENTENCE = re.compile(r"[^。！？!?\n；;]+[。！？!?\n；;]?")
_CLAUSE = re.compile(r"[，,：:]|(?:但是|不过|而且|所以|因为)")
# Characters. Nobody is sure what a longer sentence asserts.
LONGEST = 300
_NOT_ASSERTED = re.compile(
    r"如果|要是|假如|假设|万一|除非|可能|也许|或许|大概|恐怕|希望|但愿|梦见|梦想|想要|想去|想在|想搬|打算|"
    r"计划|准备|考虑|觉得|以为|应该|听说|据说|他说|她说|说过|告诉|问我|比如|例如|好像|似乎|以前|曾经|从前|"
    r"过去|小时候|当年|那时|那年|原来|本来|差点|差不多|几乎|开玩笑|临时|暂时|的话|吗|呢？|怎么|什么|谁|哪|[\"“”「」『』]"
)
_LEAD = re.compile(
    rf"(?:(?:{PAST}|其实|现在|目前|最近|如今|今天|刚刚|另外|对了|那个|更正|更新|提醒|顺便说一下|告诉你|你好|嗨|嗯|"
    r"哦|好的|是的|不对|抱歉|对不起|请记住|记住|记一下|请注意|注意|因为|所以|而且|不过|但是|那|然后)[，,：:\s]*)+"
)
_TAIL = re.compile(r"(?:了|啦|啊|呢|吧|哦|呀|的|哈|而已|的时候|工作|生活)+$")
_KIN = "妈妈|爸爸|母亲|父亲|妻子|老婆|丈夫|老公|老板|经理|女朋友|男朋友|女友|男友|未婚妻|未婚夫"
_SURNAMES = (
    "王李张刘陈杨赵黄吴孙徐胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
    "阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙段雷钱汤尹黎易常武乔贺赖龚文"
)
_NAME = rf"(?:小|老|阿)[\u4e00-\u9fff]|[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[A-Z][A-Za-z]+"
_NOW = "(?:现在|目前|已经|刚|最近|终于|今年|又|就|都|也)*"
# Where somebody lives and works may have changed at any time that is over.
_SINCE = rf"(?:现在|目前|已经|刚|最近|终于|又|就|都|也|{PAST}|(?:{THIS})(?=.*了))*"
_WORKER = rf"(?P<who>我(?:的?(?:{_KIN}))?|{_NAME}){_SINCE}"
_WITH = "(?:[和跟与同][^，,]{1,6}?(?:一起)?)?"
_DWELLER = rf"(?P<who>我(?:们?(?:全家|一家人?|家)?|的?(?:{_KIN}))?|{_NAME}){_WITH}{_SINCE}"
# Who says so goes on about himself: "I changed jobs, and now at …".
_TURN = re.compile(
    rf"我们?{_SINCE}(?:(?P<home>搬家|搬走)|换了?(?:一?个)?新?工作|跳槽|辞职|离职|离开)"
)
_GOES_ON = re.compile(r"(?:现在|目前|如今)+(?=[住在搬]|定居)")
_AT_FIRM = re.compile(rf"在{FIRM}$")
_WHO = rf"(?P<who>我(?:的?(?:{_KIN}))?|{_NAME}){_NOW}"
_DAY = (
    r"(?:\d|[一二三四五六七八九十]+(?:月|号|日|点)|(?:周|星期|礼拜)[一二三四五六日天末]|[今明后]天|月底|月初|"
    r"年底|年初|季度末)"
)


def _has(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern)
    return lambda value: bool(found.search(value))


_LONGEST = 10


def _short(value: str) -> bool:
    return 0 < len(value) <= _LONGEST and not re.search(r"[的了是]", value)


_ATTRIBUTES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "手机号码?|电话号码?|电话|手机": ("phone", _has(r"(?:\d[\s-]*){5}")),
    "邮箱地址|电子邮箱|邮箱|邮件地址": ("email", _has("@")),
    "家庭住址|住址|地址": ("address", _has(r"[路街道号区]|\d")),
    "生日|出生日期": ("birthday", _has(_DAY)),
    "年龄": ("age", _has(r"[\d一二三四五六七八九十]")),
    "名字|姓名": ("name", _short),
    "截止日期|截止时间|交付日期|上线日期|上线时间|发布日期|婚礼日期|最后期限": (
        "deadline",
        _has(_DAY),
    ),
    "价格|售价|预算|房租|租金|工资|薪水|月薪|费用": ("price", _has(r"[\d百千万]")),
    "版本号?": ("version", _has(r"\d")),
    "状态": ("status", _short),
}
_NOUNS = "|".join(_ATTRIBUTES)
# Two words for one thing.
_SAME = {"结婚": "已婚", "离婚": "离异", "吃素": "素食"}
_IS = (
    "(?:现在|目前|已经|已)*(?:是|为|改成了?|改为了?|改到了?|变成了?|变为了?|换成了?|调整为|调整到|定在|定为|定成|"
    "推迟到了?|延期到了?|延到了?|提前到了?|涨到了?|涨到|降到了?|升到了?|更新为|更新到|：|:)"
)


def claims_of(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a text, in its order."""
    return [
        claim
        for sentence in _SENTENCE.findall(text)
        if len(sentence) <= LONGEST
        and sentence.strip()[-1:] not in {"?", "？"}
        and not _NOT_ASSERTED.search(sentence)
        for clause, told in _told(list(_clauses(sentence)))
        for claim in _claims(clause, told, speaker)
    ]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut a sentence into clauses; the two halves of a correction stay together."""
    whole = sentence.strip().strip("。！!；;").strip()
    if any(each.match(_led(whole)) for each in _CORRECTIONS):
        yield whole
        return
    yield from filter(None, (part.strip() for part in _CLAUSE.split(whole)))


def _told(clauses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each clause, and what it tells: with the subject that it shares with the one before."""
    for before, clause in pairwise(["", *clauses]):
        told = _led(clause)
        turn = _TURN.match(_led(before))
        if turn and _GOES_ON.match(clause):
            told = "我" + clause
            if not turn["home"] and _AT_FIRM.search(told):
                told += "工作"
        yield clause, told


def _led(clause: str) -> str:
    lead = _LEAD.match(clause)
    return clause[lead.end() :] if lead and lead.end() < len(clause) else clause


def _claims(clause: str, told: str, speaker: str) -> Iterator[Claim]:
    for pattern, read in _PATTERNS:
        found = pattern.match(told)
        claim = read(found, speaker, clause) if found else None
        if claim is not None:
            yield claim
            return


def _subject(found: Match[str], speaker: str) -> str:
    who = found["who"]
    if who is None:
        return "*"
    if who.startswith("我们"):
        return "*"
    if who.startswith("我"):
        kin = who[1:].removeprefix("的")
        return f"{speaker}/{kin}" if kin else speaker
    return who.casefold()


_OURS = re.compile("我们?(?:全家|一家人?|家)?")


def _clean(value: str) -> str:
    return _TAIL.sub("", value.strip()).strip()


def _place(attribute: str) -> Callable[[Match[str], str, str], Claim | None]:
    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        value = found["value"]
        key = f"{attribute}/{level(value)}" if attribute == "lives in" else attribute
        ends = bool(found.groupdict().get("ends"))
        # Who speaks of a home or a job as "ours" shares it.
        subject = speaker if _OURS.fullmatch(found["who"]) else _subject(found, speaker)
        return Claim(subject, key, None if ends else value, value if ends else None, clause)

    return read


def _owned(found: Match[str], speaker: str, clause: str) -> Claim | None:
    noun, value = found["noun"], _clean(found["value"])
    name, fits = next(rule for words, rule in _ATTRIBUTES.items() if re.fullmatch(words, noun))
    if not value or value.startswith("不") or not fits(value):
        return None
    subject = _subject(found, speaker)
    thing = found["thing"] or ""
    if subject == "*" and name in {"age", "name", "phone", "email", "birthday"}:
        return None
    if name == "price":
        name = noun
    return Claim(subject, " of ".join(filter(None, (name, thing))), value, None, clause)


def _state(attribute: str) -> Callable[[Match[str], str, str], Claim | None]:
    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        value = _SAME.get(found["value"], found["value"])
        subject = _subject(found, speaker)
        if found.groupdict().get("ends"):
            return Claim(subject, attribute, None, value, clause)
        return Claim(subject, attribute, value, None, clause)

    return read


def _favourite(found: Match[str], speaker: str, clause: str) -> Claim | None:
    value = _clean(found["value"])
    if not _short(value):
        return None
    return Claim(_subject(found, speaker), f"favourite {found['thing']}", value, None, clause)


def _use(found: Match[str], speaker: str, clause: str) -> Claim | None:
    del speaker
    value = _clean(found["value"])
    return Claim("*", f"use for {found['thing']}", value, None, clause) if value else None


def _correction(found: Match[str], speaker: str, clause: str) -> Claim | None:
    del speaker
    value, wrong = _clean(found["value"]), _clean(found["wrong"])
    return Claim("", "", value, wrong, clause) if value and wrong else None


_CORRECTIONS = (
    re.compile(
        r"(?:那?不是|并不是)(?P<wrong>[^，,是]{1,12})[，,](?:而)?是(?P<value>[^，,是不]{1,12})$"
    ),
    re.compile(
        r"(?:应?是|[^，,不]{0,6}(?<!不)是)(?P<value>[^，,是不]{1,12})[，,]?(?:而)?不是(?P<wrong>[^，,是]{1,12})$"
    ),
)
_TOOL = r"[A-Za-z][\w.+#-]*(?: [\w.+#-]+)?|[\u4e00-\u9fff]{2,6}?"
_PATTERNS: list[tuple[re.Pattern[str], Callable[[Match[str], str, str], Claim | None]]] = [
    *((each, _correction) for each in _CORRECTIONS),
    (re.compile(
        rf"{_DWELLER}(?P<ends>不再|已经不|不)?(?:从{PLACE})?(?:住[在到进]?|搬家?[到去来回至]了?|[迁移]居到?了?|"
        rf"迁[到至]了?|定居[在于到]?了?|落户[在到]?了?)(?P<value>{PLACE})(?:这边|那边|来|去)?"
        rf"(?:了|工作|生活|定居|居住|住)*(?:{LASTING}了?)?(?:$|[\s。！])"), _place("lives in")),
    (re.compile(rf"{_DWELLER}[回到去]了?(?P<value>{PLACE})(?:定居|生活|居住)了$"),
        _place("lives in")),
    (re.compile(
        rf"{_WORKER}(?P<ends>不再|已经不|不)?在(?P<value>{FIRM})"
        r"(?:工作|上班|任职|就职|供职|当[\u4e00-\u9fff]{2,6})了?$"),
        _place("works at")),
    (re.compile(
        rf"{_WORKER}(?:从{FIRM})?(?:跳槽|换工作|入职|加入|加盟)(?:到|去)?了?(?P<value>{FIRM})(?:工作|上班)?了?$"),
        _place("works at")),
    (re.compile(rf"{_WORKER}(?:从{FIRM})?[换转调][到去]了?(?P<value>{FIRM})(?:工作|上班|任职)了?$"),
        _place("works at")),
    (re.compile(rf"{_WORKER}[去到]了?(?P<value>{FIRM})(?:工作|上班|任职)了$"), _place("works at")),
    (re.compile(rf"{_WORKER}离开了?{FIRM}(?:以?后)?(?:去|到|加入|跳槽到)了?(?P<value>{FIRM})(?:工作|上班)?了?$"),
        _place("works at")),
    (re.compile(rf"{_WORKER}(?P<ends>离开|从|辞去|辞掉|辞)了?在?(?P<value>{FIRM})(?:的工作|离职|辞职)?了?$"),
        _place("works at")),
    (re.compile(rf"(?P<who>我)的?(?:新|现在的|目前的)(?:公司|单位|东家|雇主)(?:现在)?是(?P<value>{FIRM})$"),
        _place("works at")),
    (re.compile(
        rf"(?:把|将)?(?:(?P<who>我(?:的?(?:{_KIN}))?|我们|{_NAME})的?)?(?:(?P<thing>[\w]{{1,10}}?)的)?(?:新的?|最新的?|当前的?)?"
        rf"(?P<noun>{_NOUNS})(?:从.{{1,12}}?)?{_IS}(?P<value>.{{1,24}})$"), _owned),
    (re.compile(rf"{_WHO}(?:年龄是)?(?P<value>\d{{1,3}}|[一二三四五六七八九十]{{1,3}})岁了?$"),
        _state("age")),
    (re.compile(rf"{_WHO}(?P<ends>不再|不)?(?:是)?(?P<value>单身|已婚|离异)(?:的|了)?$"),
        _state("marital status")),
    (re.compile(rf"{_WHO}(?P<value>结婚|离婚|订婚)了$"), _state("marital status")),
    (re.compile(rf"{_WHO}(?P<ends>不再|不)?(?:是)?(?P<value>吃素|素食|纯素)(?:者|主义者)?了?$"),
        _state("diet")),
    (re.compile(rf"{_WHO}最(?:喜欢|爱)的(?P<thing>[\u4e00-\u9fff]{{1,5}}?)(?:现在|已经)*(?:是|变成了?|换成了?)"
                r"(?P<value>.{1,16})$"), _favourite),
    (re.compile(rf"(?P<who>我)(?:改名)?(?:叫|的名字叫)(?P<value>[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}|[A-Z][a-z]+)$"),
        _state("name")),
    (re.compile(rf"我们?(?:决定|已经决定|商定)(?:改)?用(?P<value>{_TOOL})(?:来)?(?:做|作为|当|写)"
                r"(?P<thing>[\u4e00-\u9fffA-Za-z]{1,10})$"), _use),
    (re.compile(rf"(?P<thing>[\u4e00-\u9fffA-Za-z]{{1,10}}?)(?:我们)?(?:已经)?(?:决定|最终|最后)*"
                rf"(?:改用|换成|换用|决定用|决定使用)了?(?P<value>{_TOOL})了?$"), _use),
]  # fmt: skip
