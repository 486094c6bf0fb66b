"""What weighs most in a life (R3): health and safety first; then family, home, work and one's word.

Each is a turn of phrase in which a speaker tells it; a mere mention ("a run for cancer research",
"Dad called") is not enough.

How much more a clause counts when a text is shortened, for what is at stake and who says it.
"""

from __future__ import annotations

import re
from enum import Enum

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
