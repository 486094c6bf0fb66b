"""What each relation is said with (M6): the first rule that fits names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """The relation, when ``pattern`` is in a clause.

    ``{}`` in it is the focus, ``<>`` the focus where it is not part of a longer name of a thing:
    "went to London", not "went to a London pub".
    ``denied``: the rule itself says no, so a negation is no objection. ``unless``: words that
    make a phrase of their own with the verb, when the focus ends with them.
    """

    relation: str
    pattern: str
    denied: bool = False
    unless: frozenset[str] = frozenset()


# Some words between a verb and its object, none of which begins another phrase.
_SOME = (
    r"(?:(?!(?:with|in|at|on|from|of|like|that|which|who|when|because|to|for|by|but|so|if|as|about|"
    r"being|how|why|what|it's|than)\b)"
    r"[\w'’-]+ ){0,4}[\"“'‘(]?"
)
_ANY = r"(?:[\w'’.-]+,? ){0,8}[\"“'‘(]?"
_THE = r"(?:the |a |an |my |our |his |her |their )?[\"“'‘(]?"
_NAMED = (
    r"(?:\b(?:he|she)|(?-i:\b(?!(?:My|Our|His|Her|Their|Your|The|A|An|To|Much|So|Most)\b)[A-Z]\w+))"
)
_KIN = (
    "wife|husband|son|daughter|mother|father|mom|mum|dad|sister|brother|partner|fianc[eé]e?|girlfriend|"
    "boyfriend|uncle|aunt|cousin|niece|nephew|grand(?:ma|pa|mother|father|son|daughter)|baby|twins"
)
_ADVERB = "(?:just |also |still |always |really |and i )?"
# "Made a difference", "made the decision": nothing was made.
_MADE_BY_SAYING = frozenset(
    (
        *("difference", "decision", "mistake", "choice", "point", "change", "plan", "impact"),
        *("start", "donation", "call", "move", "deal", "effort", "promise", "wish", "friend"),
        *("friends", "trip", "bunch", "lot", "commitment", "way", "progress", "sense", "time"),
    )
)
ENGLISH = (
    Rule(
        "decided",
        rf"\b(?:decided (?:to|on|against)|chose|agreed (?:to|on)|settled on|going with) {_ANY}<>",
        denied=True,
    ),
    Rule(
        "is allergic to",
        rf"\b(?:allergic|intolerant) to {_SOME}<>|\b(?:allergy|intolerance) to {_SOME}<>"
        r"|{} (?:allergy|allergies|intolerance)\b",
    ),
    Rule(
        "suffers from",
        r"\b(?:diagnosed with|suffer(?:s|ed|ing)? from) "
        rf"{_SOME}<>",
    ),
    Rule("fears", rf"\b(?:afraid|scared|terrified|frightened) of {_SOME}<>"),
    Rule(
        "dislikes",
        r"\b(?:hates?|hated|dislikes?|can't stand|cannot stand|"
        r"(?:do|does|did)(?:n['’]t| not) (?:really )?"
        rf"(?:like|enjoy|love)) {_SOME}<>",
        denied=True,
    ),
    Rule(
        "does not want",
        rf"\b(?:do|does|did)(?:n['’]t| not) (?:really )?want (?:to \w+ )?{_SOME}<>",
        denied=True,
    ),
    Rule(
        "is family",
        rf"\bmy (?:\w+ )?(?:{_KIN})(?: is| is called|['’]s name is|,)? {{}}"
        rf"|{{}},? (?:is )?my (?:\w+ )?(?:{_KIN})\b",
    ),
    Rule(
        "likes",
        rf"(?:\b(?:i|we|they) {_ADVERB}(?:like|love|enjoy|prefer)|"
        rf"{_NAMED} {_ADVERB}(?:likes|loves|enjoys|prefers)|"
        rf"(?:\b(?:i|we|they)|{_NAMED}) {_ADVERB}(?:liked|loved|enjoyed|preferred)) {_SOME}<>"
        r"|{} (?:is|are|was) (?:\w+ )?(?:one of )?(?:my|our|his|her|their) (?:\w+ )?favou?rites?"
        r"|favou?rites?[\w ]{0,24}(?:\b(?:is|are|was)|,|:) (?:the )?[\"“]?<>"
        r"|\b(?:fond|fan) of (?:the )?<>",
    ),
    Rule(
        "plans",
        r"\b(?:plan(?:s|ned|ning)? (?:to|on|for|a|an|our|my|the)|(?:am|are|is|'m|'re|'s) going to|"
        rf"intends? to|booked|signed up for|off to|looking forward to) {_ANY}<>",
    ),
    Rule(
        "works at",
        r"\b(?:(?:works?|worked|working|interned) (?:as an? (?:\w+ ){1,3})?(?:at|for)|"
        rf"(?:employed|hired) by|(?:job|internship) (?:at|with)) {_THE}<>",
    ),
    Rule(
        "visited",
        r"(?<!want to )(?<!wanting to )(?<!wanted to )(?<!love to )(?<!like to )"
        r"\b(?:visit(?:ed|ing)?|(?:went|been|flew|travel(?:l?ed|l?ing)?|(?:trips?|journey|vacation|"
        rf"holiday)) (?:\w+ ){{0,3}}(?:to|in|through|around)) {_THE}<>",
    ),
    Rule(
        "located in",
        r"\b(?:lives?|lived|living|located|based|moved|moving|born|grew up) "
        rf"(?!conditions|rooms?|standards|costs?)(?:\w+ ){{0,2}}(?:in|at|to|near) {_THE}<>"
        rf"|\b(?:i'm|i am|we're|he's|she's|they're|comes?) from {_THE}<>",
    ),
    Rule("fixed", rf"\b(?:fix(?:ed|es)?|solved|resolved|repaired) {_SOME}<>"),
    Rule(
        "created",
        r"\b(?:built|created|wrote|painted|designed|developed|founded|published|"
        rf"made (?:an?|the|my|our)) {_SOME}<>",
        unless=_MADE_BY_SAYING,
    ),
    Rule(
        "is responsible",
        r"{} (?:(?:owns|leads|manages) (?:the|an?|our|all|every|this)\b|"
        r"is (?:responsible|in charge)|takes care of|will (?:own|lead)\b)",
    ),
    Rule("learned", rf"\b(?:learn(?:ed|t|ing|s)) (?:about |how to |to )?{_SOME}<>"),
    Rule("owns", rf"\b(?:owns|(?:i|we|they) own|owned|bought|adopted) {_SOME}<>"),
    Rule(
        "uses",
        r"\b(?:use|uses|used(?! to)|using|runs? on|built with|depends? on|switch(?:ed)? to) "
        rf"{_SOME}<>",
    ),
    Rule("met", r"\b(?:met|meet|meeting|talked to|spoke to|saw) (?:up )?(?:with )?<>"),
    Rule(
        "belongs to",
        r"\b(?:is|was|are|were|that's|it's) {}['’]s \w|"
        r"\b(?:belongs? to|part of|owned by) (?:the )?<>",
    ),
    Rule(
        "is",
        r"(?:^|[,\"] ?)(?:the |my )?{} (?:is|was) (?:an?|the|my|our|his|her|their)\b"
        r"|\b(?:name is|name's|i'm called|(?:is|are|was) (?:called|named)|named|called) [\"“]?{}",
    ),
)
_FEW = '[^，。！？；、,.!?如的]{0,4}[《“"]?'
_MORE = '[^，。！？；,.!?如之的]{0,10}[《“"]?'
_CHINESE_KIN = (
    "妻子|老婆|太太|丈夫|老公|先生|儿子|女儿|妈妈|母亲|爸爸|父亲|姐姐|妹妹|哥哥|弟弟|爷爷|奶奶|外公|外婆|孙子|"
    "孙女|女朋友|男朋友|女友|男友|未婚妻|未婚夫"
)
CHINESE = (
    Rule("对…过敏", f"对{_FEW}{{}}(?:[^，。！？；]{{0,6}})过敏|{{}}(?:严重)?过敏"),
    Rule("负责", "{}(?:来)?(?:负责|牵头|主管)|由{}|(?:负责|主管){}"),
    Rule("决定", f"(?:决定|敲定|商定|选定|采用){_MORE}{{}}", denied=True),
    Rule(
        "不喜欢",
        f"(?:不喜欢|不太喜欢|讨厌|不爱(?:吃|喝|看)?|受不了){_FEW}{{}}",
        denied=True,
    ),
    Rule("害怕", f"(?:害怕|恐惧|(?<![恐哪可])怕){_FEW}{{}}"),
    Rule("患有", f"(?:患有|患了|(?<![获取赢懂值])得了|确诊了?|诊断出){_FEW}{{}}"),
    Rule(
        "家人",
        f"我的?(?:{_CHINESE_KIN})(?:的名字)?(?:名?叫|是)?{{}}(?=[，。！、,.!\\s的今在喜对]|$)"
        f"|{{}}是我的?(?:{_CHINESE_KIN})",
    ),
    Rule(
        "喜欢",
        "(?:(?<!你)喜欢|最爱|偏好|热爱|(?<!可)爱(?:吃|喝|看))(?:的[^，。！？]{0,4}是)?"
        '[^，。！？；的]{0,8}[《“"]?{}',
    ),
    Rule(
        "计划",
        f"(?:计划|打算|准备(?:去|在|把|学|买|参加)|预定|预约|下周|下个?月|明年|安排){_MORE}{{}}",
    ),
    Rule("任职于", "{}(?:公司)?(?:工作|上班|任职)|(?:加入|入职)了?{}"),
    Rule("去过", "(?:去了|(?<![看见遇听])到了|去过|来到|来过|游览了?|参观了?|飞往|前往){}"),
    Rule("位于", "(?:位于|住在|来自|搬到|出生在|定居在?){}"),
    Rule("学到", f"(?:学会|学到)了?{_FEW}{{}}"),
    Rule("解决", f"(?:解决|修复|修好)了?{_FEW}{{}}"),
    Rule("创作", f"(?:写了|画了|创作了?|设计了|开发了){_MORE}{{}}"),
    Rule("使用", "(?:使用|基于|依赖|迁移?到|用了?){}"),
    Rule("遇见", "(?:遇到|遇见|见了|见到|认识了?){}"),
    Rule("拥有", f"(?:买了|养了|拥有|有一[只个条台辆]){_FEW}{{}}"),
    Rule("属于", "属于{}"),
    Rule(
        "是",
        "(?:我|他|她|名字|你)(?:是|叫|名叫|叫做|叫作){}(?=[，。！、,.!\\s的]|$)|"
        "(?:^|[，。！？；,“《]){}[》”]?是(?:一|我|我们|他|她|最)",
    ),
)
