"""Names how a memory relates to a focus point (M6), by the clause that mentions it.

A wrong name is worse than "about": so a rule fits only where the focus is what the verb is about,
or what does it, in a clause that neither asks, denies nor supposes. The name says what the memory
tells of the focus, and serves both directions: recall writes "[forgotten] plans: Lisbon" and
"[forgotten] plans: We go to Lisbon in May".
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memci.domain.language import Language
from memci.smallmodel.offline.clauses import clauses, has_negation
from memci.smallmodel.offline.sentences import sentences


@dataclass(frozen=True, slots=True)
class _Rule:
    """The relation, when ``pattern`` is in a clause.

    ``{}`` in it is the focus, ``<>`` the focus where it is not part of a longer name of a thing:
    "went to London", not "went to a London pub".
    ``denied``: the rule itself says no, so a negation is no objection.
    """

    relation: str
    pattern: str
    denied: bool = False


# Some words between a verb and its object, none of which begins another phrase.
_SOME = (
    r"(?:(?!(?:with|in|at|on|from|of|like|that|which|who|when|because|to|for|by|but|so|if|as|about)\b)"
    r"[\w'’-]+ ){0,4}[\"“'‘(]?"
)
_ANY = r"(?:[\w'’.-]+,? ){0,8}[\"“'‘(]?"
_THE = r"(?:the |a |an |my |our |his |her |their )?[\"“'‘(]?"
_NAMED = r"(?:\b(?:he|she)|(?-i:\b[A-Z]\w+))"
_ADVERB = "(?:just |also |still |always |really |and i )?"
_ENGLISH = (
    _Rule(
        "decided",
        rf"\b(?:decided (?:to|on|against)|chose|agreed (?:to|on)|settled on|going with) {_ANY}<>",
        denied=True,
    ),
    _Rule(
        "dislikes",
        r"\b(?:hates?|hated|dislikes?|can't stand|cannot stand|allergic to|"
        r"(?:do|does|did)(?:n't| not) (?:really )?"
        rf"(?:like|enjoy|want|love)) {_SOME}<>",
        denied=True,
    ),
    _Rule(
        "likes",
        rf"(?:\b(?:i|we|they) {_ADVERB}(?:like|love|enjoy|prefer)|"
        rf"{_NAMED} {_ADVERB}(?:likes|loves|enjoys|prefers)|"
        rf"(?:\b(?:i|we|they)|{_NAMED}) {_ADVERB}(?:liked|loved|enjoyed|preferred)) {_SOME}<>"
        r"|{} (?:is|are|was) (?:\w+ )?(?:one of )?(?:my|our|his|her|their) (?:\w+ )?favou?rites?"
        r"|favou?rites?[\w ]{0,24}(?:\b(?:is|are|was)|,|:) (?:the )?[\"“]?<>"
        r"|\b(?:fond|fan) of (?:the )?<>",
    ),
    _Rule(
        "plans",
        r"\b(?:plan(?:s|ned|ning)? (?:to|on|for|a|an|our|my|the)|(?:am|are|is|'m|'re|'s) going to|"
        rf"intends? to|booked|signed up for|off to|looking forward to) {_ANY}<>",
    ),
    _Rule(
        "works at",
        r"\b(?:(?:works?|worked|working|interned) (?:as an? (?:\w+ ){1,3})?(?:at|for)|"
        rf"(?:employed|hired) by|(?:job|internship) (?:at|with)) {_THE}<>",
    ),
    _Rule(
        "visited",
        r"(?<!want to )(?<!wanting to )(?<!wanted to )(?<!love to )(?<!like to )"
        r"\b(?:visit(?:ed|ing)?|(?:went|been|flew|travel(?:l?ed|l?ing)?|(?:trips?|journey|vacation|"
        rf"holiday)) (?:\w+ ){{0,3}}(?:to|in|through|around)) {_THE}<>",
    ),
    _Rule(
        "located in",
        r"\b(?:lives?|lived|living|located|based|moved|moving|born|grew up) "
        rf"(?:\w+ ){{0,2}}(?:in|at|to|near) {_THE}<>"
        rf"|\b(?:i'm|i am|we're|he's|she's|they're|comes?) from {_THE}<>",
    ),
    _Rule("fixed", rf"\b(?:fix(?:ed|es)?|solved|resolved|repaired) {_SOME}<>"),
    _Rule(
        "created",
        r"\b(?:built|created|wrote|painted|designed|developed|founded|published|"
        rf"made (?:an?|the|my|our)) {_SOME}<>",
    ),
    _Rule(
        "is responsible",
        r"{} (?:owns|leads|manages|is (?:responsible|in charge)|takes care of|will (?:own|lead))\b",
    ),
    _Rule("learned", rf"\b(?:learn(?:ed|t|ing|s)) (?:about |how to |to )?{_SOME}<>"),
    _Rule("owns", rf"\b(?:owns|(?:i|we|they) own|owned|bought|adopted) {_SOME}<>"),
    _Rule(
        "uses",
        r"\b(?:use|uses|used(?! to)|using|runs? on|built with|depends? on|switch(?:ed)? to) "
        rf"{_SOME}<>",
    ),
    _Rule("met", r"\b(?:met|meet|meeting|talked to|spoke to|saw) (?:up )?(?:with )?<>"),
    _Rule(
        "belongs to",
        r"\b(?:is|was|are|were|that's|it's) {}['’]s \w|"
        r"\b(?:belongs? to|part of|owned by) (?:the )?<>",
    ),
    _Rule(
        "is",
        r"(?:^|[,\"] ?)(?:the |my )?{} (?:is|was) (?:an?|the|my|our|his|her|their)\b"
        r"|\b(?:name is|name's|i'm called|(?:is|are|was) (?:called|named)|named|called) [\"“]?{}",
    ),
)
_FEW = '[^，。！？；、,.!?如的]{0,4}[《“"]?'
_MORE = '[^，。！？；,.!?如之的]{0,10}[《“"]?'
_CHINESE = (
    _Rule("负责", "{}(?:来)?(?:负责|牵头|主管)|由{}|(?:负责|主管){}"),
    _Rule("决定", f"(?:决定|敲定|商定|选定|采用){_MORE}{{}}", denied=True),
    _Rule(
        "不喜欢",
        f"(?:不喜欢|不太喜欢|讨厌|不爱(?:吃|喝|看)?|受不了){_FEW}{{}}|对{{}}(?:很|严重)?过敏",
        denied=True,
    ),
    _Rule(
        "喜欢",
        "(?:(?<!你)喜欢|最爱|偏好|热爱|(?<!可)爱(?:吃|喝|看))(?:的[^，。！？]{0,4}是)?"
        '[^，。！？；的]{0,8}[《“"]?{}',
    ),
    _Rule(
        "计划",
        f"(?:计划|打算|准备(?:去|在|把|学|买|参加)|预定|预约|下周|下个?月|明年|安排){_MORE}{{}}",
    ),
    _Rule("任职于", "{}(?:公司)?(?:工作|上班|任职)|(?:加入|入职)了?{}"),
    _Rule("去过", "(?:去了|(?<![看见遇听])到了|去过|来到|来过|游览了?|参观了?|飞往|前往){}"),
    _Rule("位于", "(?:位于|住在|来自|搬到|出生在|定居在?){}"),
    _Rule("学到", f"(?:学会|学到)了?{_FEW}{{}}"),
    _Rule("解决", f"(?:解决|修复|修好)了?{_FEW}{{}}"),
    _Rule("创作", f"(?:写了|画了|创作了?|设计了|开发了){_MORE}{{}}"),
    _Rule("使用", "(?:使用|基于|依赖|迁移?到|用了?){}"),
    _Rule("遇见", "(?:遇到|遇见|见了|见到|认识了?){}"),
    _Rule("拥有", f"(?:买了|养了|拥有|有一[只个条台辆]){_FEW}{{}}"),
    _Rule("属于", "属于{}"),
    _Rule(
        "是",
        "(?:我|他|她|名字|你)(?:是|叫|名叫|叫做|叫作){}(?=[，。！、,.!\\s的]|$)|{}是(?:一|我|我们|他|她|最)",
    ),
)
_RULES = {Language.ENGLISH: _ENGLISH, Language.CHINESE: _CHINESE}
_ABOUT = {Language.ENGLISH: "about", Language.CHINESE: "关于"}
# The focus was carried over from an earlier segment: this one does not mention it.
_CONCERNS = {Language.ENGLISH: "concerns", Language.CHINESE: "涉及"}
# Stands for the focus in a clause; nobody writes it.
_FOCUS = "\ue000"
_LONGEST_CLAUSE = 400
_OPEN = re.compile(
    r"[?？]\W*$|\b(?:if|unless|whether|would|might|maybe|perhaps|wish)\b|"
    "如果|要是|假如|若|也许|或许|可能|是否|吗|呢[？?]?$|哪|什么",
    re.IGNORECASE,
)
# What may follow a whole object; another word would be what the focus only describes.
_NOTHING_MORE = (
    r"(?! (?!(?:and|or|in|on|at|with|for|to|from|last|this|next|too|now|when|because|but|so|as|by|"
    r"a|an|the|is|was|are|were|after|before|yesterday|today|since|then|during|while|who|which|that|"
    r"tomorrow|again|once|together|about|until|my|our|i|we|a?lot|very|very much|also|where|of)\b)"
    r"(?-i:[a-z]))"
)
_LATIN = re.compile(r"[0-9A-Za-zÀ-ɏ]")


class OfflineRelationNamer:
    """The first rule that fits a clause with the focus in it, else "about" or "concerns"."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation for each focus point, in their order."""
        return [self.name(text, each, language) for each in focus]

    def name(self, text: str, focus: str, language: Language) -> str:
        """Return a relation such as "about" or "关于", in ``language``."""
        if not focus or focus.lower() not in text.lower():
            return _CONCERNS[language]
        mention = re.compile(_whole_word(focus), re.IGNORECASE)
        if not mention.search(text):
            return _CONCERNS[language]
        for said in _said(text, language):
            marked, found = mention.subn(_FOCUS, said)
            if found:
                denied = has_negation(marked, language)
                for rule in _RULES[language]:
                    if (rule.denied or not denied) and _compiled(rule.pattern).search(marked):
                        return rule.relation
        return _ABOUT[language]


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a rule once: the clauses have the mark in the place of the focus."""
    whole = pattern.replace("<>", _FOCUS + _NOTHING_MORE)
    return re.compile(whole.replace("{}", _FOCUS), re.IGNORECASE)


@functools.lru_cache(maxsize=64)  # a segment is asked about for every focus point
def _said(text: str, language: Language) -> tuple[str, ...]:
    """Return the clauses, then the sentences, that neither ask nor suppose."""
    found = [(each.text, each.end) for each in clauses(text, language)]
    found += [(each, "") for each in sentences(text)]
    shorter = [(said[:_LONGEST_CLAUSE].replace(_FOCUS, " "), end) for said, end in found]
    return tuple(said for said, end in shorter if not _OPEN.search(said + end))


def _whole_word(focus: str) -> str:
    """Match the focus, but not inside another word: "ER" is not in "easier"."""
    before = r"(?<![0-9A-Za-zÀ-ɏ])" if _LATIN.match(focus) else ""
    after = r"(?![0-9A-Za-zÀ-ɏ])" if _LATIN.match(focus[-1]) else ""
    return before + re.escape(focus) + after
