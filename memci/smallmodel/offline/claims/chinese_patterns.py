"""How Chinese clauses assert what they assert, most telling first."""

from __future__ import annotations

import re

from memci.smallmodel.offline.claims.chinese_attributes import IS, NOUNS
from memci.smallmodel.offline.claims.chinese_grammar import (
    DWELLER,
    KIN,
    NAME,
    RESIDENT,
    SURNAMES,
    WHO,
    WORKER,
)
from memci.smallmodel.offline.claims.chinese_names import CALLED, FIRM, LASTING, PLACE
from memci.smallmodel.offline.claims.chinese_readers import (
    Read,
    correction,
    dwells,
    employed,
    favourite,
    lives,
    owned,
    state,
    use,
    works,
)

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
