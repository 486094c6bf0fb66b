"""How much a text is worth keeping (R3).

Each is a turn of phrase in which a speaker tells it; a mere mention ("a run for cancer research",
"Dad called") is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from memci.language.cue_phrases import EPISODIC, Cue, cues_of, is_social
from memci.language.sentences import sentences
from memci.language.small_talk import telling_words

_PEOPLE = (
    "wife|husband|sons?|daughters?|mother|father|mom|mum|dad|sisters?|brothers?|partner|fianc[eé]e?|"
    "girlfriend|boyfriend|uncle|aunt|cousins?|niece|nephew|grand(?:ma|pa|mother|father|son|daughter)s?|"
    "kids?|child|children|twins|siblings?|baby"
)
_CHINESE_PEOPLE = (
    "妻子|老婆|太太|丈夫|老公|儿子|女儿|孩子|妈妈?|母亲|爸爸?|父亲|姐姐|妹妹|哥哥|弟弟|爷爷|奶奶|外公|外婆|"
    "孙子|孙女|女朋友|男朋友|女友|男友|未婚妻|未婚夫"
)


def _says(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Read in small letters: a pattern that ignores case takes four times as long.
_VITAL = re.compile(
    r"\b(?:allerg(?:y|ies|ic)\b|intoleran(?:t|ce)|anaphyla|epipen|insulin|diabet|asthma|epilep|"
    r"seizures?\b|tumou?r|(?:a|her|his|my|the) stroke\b(?! of)|pacemaker|"
    r"heart (?:attack|disease|condition|failure)|blood (?:type|pressure|thinner)|hiv\b|"
    r"diagnos|surgery|chemo|dementia|alzheimer|parkinson|depression\b|ptsd\b|adhd\b|autis(?:m|tic)|suicid|"
    r"self-harm|overdos|addict(?:ed|ion) to|an? alcoholic|wheelchair|deaf\b|"
    r"blind\b(?! (?:date|spot))|hard of hearing|medication|prescribed|hospitali[sz]|in (?:the )?"
    r"hospital\b|miscarr|disabled\b|disability|chronic\b|migraines?\b|pregnant|celiac|coeliac|"
    r"emergency contact|restraining order|stalk(?:s|ed|ing)|abus(?:es|ed|ive) (?:me|her|him|us)|"
    r"(?:could|would|will|might) kill (?:me|him|her)|"
    r"(?:can't|cannot|can not|must not|mustn't|must never|not allowed to) "
    r"(?:eat|drink|swallow|digest|swim)|"
    r"(?:has|have|had|got|with) (?:\w+ )?(?:cancer|leuka?emia)\b"
    r"(?! (?:research|awareness|charity)))"
)
_VITAL_CHINESE = re.compile(
    "过敏|不耐受|糖尿病|胰岛素|哮喘|癫痫|癌症?|肿瘤|[肾肝胃肺]病|休克|肾上腺素|[高低]血压|心脏病|心梗|中风|血型|怀孕|流产|确诊|手术|化疗|"
    "抑郁症|焦虑症|自闭症|自杀|轮椅|失明|失聪|听不见|看不见|残疾|痴呆|起搏器|医生开的|[在要每]天?.{0,4}(?:吃药|"
    "服药|打针)|住院|紧急联系人|家暴|慢性病|偏头痛|不[能可](?:吃|喝|碰|游泳)|忌口",
)
_LIFE = _says(
    rf"\b(?:my|our) (?:\w+ )?(?:{_PEOPLE})(?:['’]s name)? (?:(?:is|are|was) "
    r"(?:an?\b|the\b|my\b|in\b|at\b|"
    r"from\b|called\b|named\b|born\b|sick\b|ill\b|dead\b|\d|(?-i:[A-Z]))|lives?\b|works?\b|died\b|"
    r"turn(?:s|ed) \d|started (?:school|college|university|kindergarten|work)\b)",
    rf"\b(?:i|we) have (?:an?|two|three|four|five|\d+|no) (?:\w+ )?(?:{_PEOPLE})\b",
    r"\b(?:married|divorc|engaged\b(?! (?:in|with))|widow|gave birth|passed away|died|adopted)",
    r"\b(?:i|we) (?:now |still |both )?(?:live|lived|moved|am from|grew up|was born)\b"
    r"(?= (?:in|to|at|near|into|from|on)\b)|\bi'm from\b|"
    r"\bour (?:house|flat|home)\b[^.!?]{0,20}\bis\b|"
    r"\b(?:bought|sold|rent(?:ed)?) (?:an?|our|my|the) (?:\w+ )?"
    r"(?:house|flat|apartment)\b",
    r"\b(?:work|works|worked) (?:as an?|for|at)\b|\bnew job\b|\b(?:got|was|were|been) (?:hired|"
    r"fired|promoted|laid off)|\b(?:quit|lost|left) my job\b|\bretire[ds]?\b|"
    r"\bi(?:'m| am) an? (?:\w+ )?(?:\w+(?:er|or|ist|ian|ant)|nurse|cook|chef|pilot|judge|"
    r"student)\b",
    r"\bbirthday is\b|\bdate of birth\b|\bborn (?:on|in)\b",
    r"\b(?:i|we|he|she|they) (?:\w+ )?promised?\b|\b(?:i|we) swear\b|\bgave (?:\w+ )?my word\b",
    r"\b(?:i|we|he|she) (?:\w+ )?(?:hates?|can't stand|cannot stand|adores?|detests?)\b"
    r"(?! (?:being|not|that|this|it|when|how|to)\b)|"
    r"\b(?:absolutely|truly) loves?\b|\b(?:afraid|scared|terrified) of\b|"
    r"\b(?:i'll|i will|i|we) never (?:again )?(?:eat|drink|smoke|drive|fly|wear|use)|"
    r"\bmy (?:all-time )?favou?rite (?:\w+ ){1,2}is\b|\b(?:quit|stopped) (?:smoking|drinking)\b",
    rf"我(?:的|们的?)?(?:{_CHINESE_PEOPLE})(?:叫|是|在|今年|住|得|有|\d|名)",
    rf"有(?:[一二两三四五\d]个|过?)(?:{_CHINESE_PEOPLE})|结婚|离婚|订婚|去世|过世|收养|(?<!发)生了(?:个|一)",
    "我(?:们|家)?(?:现在|目前|一直|还)?(?:住在|住|老家|来自|搬到|搬家)|搬到了|买了(?:房|一?套)|"
    "出生|生日是",
    "我(?:们)?(?:现在|目前)?在.{1,12}(?:工作|上班|任职|当)|我是一?[名位个].{0,6}[师员生士工家医]|"
    "换(?:了|到了?)新?工作|辞职|跳槽|升职|失业|被裁|退休|入职",
    "我.{0,6}(?:答应|承诺|保证|发誓)|我.{0,2}(?:讨厌|受不了|最喜欢|最爱|最讨厌|特别喜欢|特别讨厌|恨)|"
    "我.{0,2}(?:再也不|从不|绝不)|我.{0,2}(?:怕高|恐高|害怕)|戒(?:了|掉)?[烟酒]",
)  # fmt: skip


class Weight(Enum):
    """How much is at stake; the value is the worth (0 to 10) of saying no more than that."""

    VITAL = 8.0
    LIFE = 7.0


def is_vital(clause: str) -> bool:
    """Say whether health or safety is at stake."""
    if _VITAL.search(clause.lower()):
        return True
    return not clause.isascii() and bool(_VITAL_CHINESE.search(clause))


def weight_of(sentence: str) -> Weight | None:
    """Say how much is at stake in what a sentence tells, None where no more than usual."""
    if is_vital(sentence):
        return Weight.VITAL
    return Weight.LIFE if _LIFE.search(sentence) else None


# Health and safety stay longest, then what must (not) be done, and how somebody is reached.
_VITAL_FACTOR = 2.4
_STRICT = 2.0
_REACHED = 1.5
# What an assistant says back is mostly an echo, a promise to remember, or general knowledge.
_ASSISTANT = 0.45
_NOTED = 0.4
_NOTES = re.compile(
    r"\bI(?:['’]ll| will| have|['’]ve) (?:\w+ )?(?:remember|keep|kept|note|remind|make|bear|add)|"
    "(?:我会|会|帮您|帮你|我)(?:记|提醒|注意|写)",
    re.IGNORECASE,
)
_SPOKEN_BY_ASSISTANT = re.compile(r"(?:Assistant|AI|Bot|Tool|助手|助理|工具)\s?[:：]")
_STRICTLY = re.compile(
    r"\b(?:must(?: not|n['’]t| never)|under no circumstances|important(?::| that)|urgent)\b|"
    r"important:|绝对(?:不|别|禁)|千万(?:别|不|要)|切勿|切忌|严禁|禁止|一定(?:要|不)|务必|必须|"
    r"重要(?:[:：]|的是)|紧急|只能吃",
    re.IGNORECASE,
)
_REACH = re.compile(r"[\w.+-]@[\w-]|\d{7}|\d-\d{3}-?\d{3}|\bTel\b|电话|手机号|微信号")


def stake_of_clause(text: str, label: str) -> tuple[float, bool]:
    """Return the factor of a clause behind ``label``, and whether health or safety is at stake."""
    vital = is_vital(text)
    if label and _SPOKEN_BY_ASSISTANT.match(label):
        return _ASSISTANT * (_NOTED if _NOTES.search(text) else 1.0), vital
    if vital:
        return _VITAL_FACTOR, True
    if _STRICTLY.search(text):
        return _STRICT, False
    return _REACHED if _REACH.search(text) else 1.0, False


# What every memory that is long-term at once reaches by default (long_term_importance_threshold).
_WORTH_OF_KIND = 6.0
_WORTH_OF_ANOTHER = 0.6
_WORTH_OF_EVENT = 5.2  # something happened to the speaker: with any detail it is a fact
_WORTH_OF_TRIFLE = 3.0  # something did, that nobody asks for a week later
_WORTH_OF_STATEMENT = 1.2
_WORTH_OF_DETAIL = 0.8  # a number or a date; a name; more than a remark
_WORTH_OF_SMALL_TALK = 0.5
_HIGHEST = 10.0
_ROUNDED = 1
_LONG_ENOUGH_TO_TELL = 120
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万两]+(?:个|年|月|日|号|点|次|元|天|周|岁|人|台)"
)
# Turns of life, keys and figures, choices and denials, beside what ``cues`` knows: those also
# steer what a compression keeps, these do not.
_FACT = re.compile(
    r"\b(?:died|dies|passed away|pregnant|gave birth|engaged|divorc|broke up|widow|quit|resign|"
    r"retir|got fired|laid off|hired|promoted|diagnos|surgery|adopted|bankrupt|"
    r"(?:i|we) (?:don't|do not|never) (?:eat|drink|smoke|drive|own|use|work)|"
    r"(?:code|password|pin|number|e-?mail|size|budget|rent|salary|price|fee)\b[^.!?]{0,30}"
    r"(?:\d|@))|"
    "去世|过世|怀孕|离婚|分手|订婚|辞职|换(?:了)?工作|跳槽|被裁|失业|退休|升职|确诊|手术|收养|"
    r"(?:密码|号码|编号|账号|邮箱|尺码|预算|价格|房租|工资)[^。！？]{0,12}[\d@一二三四五六七八九]",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:go|goes|went) with\b|\blet's (?:use|take|stick)\b|就用|就选", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"\bnot \w+(?: \w+){0,3},? but\b|, not \b|\bthat's (?:wrong|not (?:right|true))|"
    r"^\W*不对|不是.{1,12}(?:而是|，?是)|是.{1,12}，不是",
    re.IGNORECASE,
)
_OWN = {Cue.FACT: _FACT, Cue.DECISION: _DECISION, Cue.CORRECTION: _CORRECTION}
_OWN_EVENT = re.compile(r"\b(?:i|we|my|our)\b|我", re.IGNORECASE)
# "It must have been hard", "I have always been": nobody is told what to do.
_NO_CONSTRAINT = re.compile(
    r"\b(?:must (?:have been|be so|feel)|(?:have|has|had|'ve|'s) (?:always|never)|"
    r"(?:i|it|he|she|they|we|that|you)(?:'s|'re|'m| is| are| was)? (?:always|never)|"
    r"(?:i|we|they) (?:don't|do not)|(?:don't|do not|never) (?:give up|worry|hesitate)|"
    r"important (?:to|for) (?:me|us|you|them|him|her))\b",
    re.IGNORECASE,
)
# Meals, drinks, walks, the weather, tiredness and what was on: day by day the same.
_TRIFLE = re.compile(
    r"\b(?:had|have|ate|eat|drank|drink|grab|grabbed|get|got|made|finished|having) "
    r"(?:\w+ ){0,2}(?:coffee|tea|lunch|dinner|breakfast|brunch|pizza|snack|sandwich|"
    r"beers?|drinks?|nap|shower|ice cream)\b|"
    r"\b(?:watch|watched|saw|see|watching) (?:\w+ ){0,2}(?:movie|film|video|show|game|series|tv)\b|"
    r"\b(?:went|go|going) (?:out )?(?:for a (?:walk|run|drive)|to (?:bed|sleep))\b|"
    r"\b(?:tired|sleepy|hungry|bored|weather|sunny|raining)\b|"
    "天气|吃(?:了|晚|午|早|个)?.{0,2}(?:饭|披萨|早餐|午餐|晚餐)|"
    "喝了?.{0,3}(?:咖啡|茶|水|酒)|看了.{0,3}(?:电影|视频|电视)|"
    "散步|睡觉|好累|好困|好饿|累死|无聊",
    re.IGNORECASE,
)
# "I love that song", "I like your idea": said to be kind, and of nothing that is named.
_NO_PREFERENCE = re.compile(
    r"\b(?:like|love|enjoy|hate)s? (?:that|this|these|those|your|it|how|the way)\b|"
    r"\benjoy(?:ed)? (?:our|talking|chatting)|喜欢(?:你|这|那|和你|跟你)",
    re.IGNORECASE,
)
# A plan of the next minutes.
_AT_ONCE = re.compile(
    r"\b(?:going to|gonna|off to|about to) (?:grab|get|have|eat|make|go|take|bed)\b|"
    r"\bfinally (?:had|finished|got|ate|watched|saw|made)\b|"
    "准备去?(?:吃|睡|喝)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a text is worth keeping for the long term, and how much (R3)."""

    eligible: bool  # it holds a decision, a preference, a fact, a plan, a lesson or a correction
    worth: float  # 0 to 10


def judged(text: str, names: Callable[[], bool]) -> Judgement:
    """Judge a text; ``names``, asked only where something is told: it names something.

    A decision, preference, fact, plan, lesson, correction or rule is eligible and reaches 6, what
    weighs in a life 7, health and safety 8; talk is not and does not.
    """
    told = [sentence for sentence in sentences(text) if _states(sentence)]
    if not told:
        return Judgement(eligible=False, worth=_WORTH_OF_SMALL_TALK)
    whole = "\n".join(told)
    kinds = {kind for sentence in told for kind in _kinds(sentence)}
    details = sum((bool(_NUMBER.search(whole)), names(), len(whole) >= _LONG_ENOUGH_TO_TELL))
    events = [each for each in told if _OWN_EVENT.search(each) and EPISODIC.search(each)]
    happened = any(not _TRIFLE.search(each) for each in events)
    stakes = [found.value for found in map(weight_of, told) if found is not None]
    if kinds or stakes:
        worth = max(stakes, default=_WORTH_OF_KIND)
        worth += _WORTH_OF_ANOTHER * min(3, max(0, len(kinds) - 1))
    elif happened:
        worth = _WORTH_OF_EVENT
    else:
        worth = _WORTH_OF_TRIFLE if events else _WORTH_OF_STATEMENT
    return Judgement(
        eligible=bool(kinds or stakes) or (happened and details > 0),
        worth=round(min(_HIGHEST, worth + _WORTH_OF_DETAIL * details), _ROUNDED),
    )


def _states(sentence: str) -> bool:
    """Tell whether a sentence states something: no question, no courtesy, no empty words."""
    if sentence.endswith(("?", "？")) or is_social(sentence):
        return False
    return bool(telling_words(sentence))


def _kinds(sentence: str) -> set[Cue]:
    kinds = set(cues_of(sentence))
    if Cue.CONSTRAINT in kinds and _NO_CONSTRAINT.search(sentence):
        kinds.discard(Cue.CONSTRAINT)
    if Cue.PREFERENCE in kinds and _NO_PREFERENCE.search(sentence):
        kinds.discard(Cue.PREFERENCE)
    if _TRIFLE.search(sentence):
        kinds.discard(Cue.LESSON)
        kinds -= {Cue.PLAN, Cue.DECISION} if _AT_ONCE.search(sentence) else set()
    return kinds | {kind for kind, pattern in _OWN.items() if pattern.search(sentence)}


# Characters read of one text, as the annotator does.
