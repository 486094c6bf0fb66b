"""Names how a memory relates to a focus point (M6), by the sentence that mentions it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memci.domain.language import Language
from memci.smallmodel.offline.clauses import clauses
from memci.smallmodel.offline.sentences import sentences


@dataclass(frozen=True, slots=True)
class _Rule:
    """The relation, when ``pattern`` is in a sentence that mentions the focus (``{}`` in it)."""

    relation: str
    pattern: str


_ENGLISH = (
    _Rule("decided", r"\b(?:decid\w+|chose\w*|agreed (?:to|on)|settled on|going with)\b"),
    _Rule(
        "dislikes",
        r"\b(?:hates?|dislikes?|can't stand|do(?:es)?n't (?:like|enjoy|want)|allergic)\b",
    ),
    _Rule("likes", r"\b(?:likes?|loves?|enjoys?|prefers?|favou?rites?|fond of)\b"),
    _Rule(
        "plans",
        r"\b(?:plan(?:s|ned|ning)?|going to|intends?|next (?:week|month|year)|deadline|"
        r"schedul\w+)\b",
    ),
    _Rule(
        "works at", r"\b(?:works?|working|job|employed|joined|hired)\b[^.!?]*\b(?:at|for|with) {}"
    ),
    _Rule(
        "located in",
        r"\b(?:lives?|located|based|moved|travel\w*|visit\w*|stay\w*|born|from|flew|"
        r"trip)\b[^.!?]*\b(?:in|at|to|from|near|through|around) (?:the )?{}",
    ),
    _Rule("learned", r"\b(?:learn(?:ed|t)|lesson|realized|root cause|turns out|turned out)\b"),
    _Rule("fixed", r"\b(?:fix(?:ed|es)?|solved|resolved|repaired)\b"),
    _Rule(
        "created", r"\b(?:built|made|created|wrote|painted|designed|developed|founded|published)\b"
    ),
    _Rule("is responsible", r"{} (?:owns|leads|is (?:responsible|in charge)|takes care of)\b"),
    _Rule("owns", r"\b(?:own|has an?|have an?|got an?|bought|adopted)\b"),
    _Rule("uses", r"\b(?:us(?:e|es|ed|ing)|runs? on|built with|depends? on|via)\b"),
    _Rule("met", r"\b(?:met|meet(?:ing)?|talked (?:to|with)|spoke (?:to|with)|saw) (?:with )?{}"),
    _Rule("belongs to", r"{}['’]s\b|\b(?:belongs? to|part of|owned by|of) (?:the )?{}"),
    _Rule("is", r"{} (?:is|are|was|were)\b"),
)
_CHINESE = (
    _Rule("负责", "{}负责|由{}|负责{}|主管|牵头"),
    _Rule("决定", "决定|敲定|商定|选定|采用"),
    _Rule("不喜欢", "不喜欢|讨厌|不爱|不想|过敏"),
    _Rule("喜欢", "喜欢|最爱|偏好|爱好|热爱|爱吃"),
    _Rule("计划", "计划|打算|准备|安排|下周|下个?月|明年|截止|预定|预约"),
    _Rule("任职于", "{}(?:公司)?(?:工作|上班|任职)|(?:加入|入职)了?{}"),
    _Rule("位于", "(?:去了?|到了?|在|位于|住在|来自|前往|飞往|搬到){}"),
    _Rule("学到", "学到|学会|教训|原来|意识到|明白了"),
    _Rule("解决", "解决|修复|修好"),
    _Rule("创作", "写了|画了|创作|设计|开发|建立"),
    _Rule("使用", "使用|采用|用了?{}|基于|依赖|迁移?到"),
    _Rule("遇见", "(?:遇到|遇见|见了?|见到|认识了?){}"),
    _Rule("拥有", "买了|养了|拥有|有一[只个条台辆]"),
    _Rule("属于", "属于|{}的"),
    _Rule("是", "{}是|(?:我|你|他|她)(?:是|叫){}"),
)
_RULES = {Language.ENGLISH: _ENGLISH, Language.CHINESE: _CHINESE}
_ABOUT = {Language.ENGLISH: "about", Language.CHINESE: "关于"}
# The focus was carried over from an earlier segment: this one does not mention it.
_CONCERNS = {Language.ENGLISH: "concerns", Language.CHINESE: "涉及"}
_LONGEST_SENTENCE = 1_000


class OfflineRelationNamer:
    """The first rule that fits a sentence with the focus in it, else "about" or "concerns"."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation for each focus point, in their order."""
        return [self.name(text, each, language) for each in focus]

    def name(self, text: str, focus: str, language: Language) -> str:
        """Return a relation such as "about" or "关于", in ``language``."""
        lower = focus.lower()
        # The clause first: its sentence may say other things of others.
        found = [each.text for each in clauses(text, language) if lower in each.text.lower()]
        found += [each for each in sentences(text) if lower in each.lower()]
        if not found or not focus:
            return _CONCERNS[language]
        for sentence in found:
            for rule in _RULES[language]:
                pattern = rule.pattern.replace("{}", re.escape(focus))
                if re.search(pattern, sentence[:_LONGEST_SENTENCE], re.IGNORECASE):
                    return rule.relation
        return _ABOUT[language]
