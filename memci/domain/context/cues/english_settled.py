"""English sentences that settle one thing and say nothing else (R6, R7)."""

from __future__ import annotations

from memci.domain.context.cues.settlement import (
    ADDRESS,
    LANGUAGE,
    LENGTH,
    UNITS,
    of_speaker,
    of_work,
    settling,
)

_LEAD = (
    r"\W*(?:(?:no|wait|sorry|actually|ok|okay|please|remember|note|and|also|so|from now on|"
    r"from here on|going forward|in future|always|only|just|could you|you should|you must)\b"
    r"[\s,:!]*)*"
)
_END = r"(?:,? (?:please|thanks|thank you|from now on|only|always|instead|now))*\W*"
# "Not English, but" still says nothing else.
_NOT_THE_OTHER = r"(?:,? (?:and )?(?:not|instead of)(?: in)? [a-z]+(?: units)?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_DATE = (
    rf"(?:(?:on )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d|"
    r"(?:next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_AMOUNT = r"(?:[$€£¥] ?\d[\d.,]*\d?k?|\d[\d.,]*k? ?(?:dollars|euros|pounds|yuan|usd|eur|gbp|rmb))"
_CHANGED = (
    r"(?P<changed> is now| (?:has (?:been |just )*|was |got |is now )?(?:moved|pushed|postponed|"
    r"extended|changed|set|raised|increased|cut|reduced|lowered|brought forward)"
    r"(?: (?:back|up|down))?(?: from [^,;]{1,20}?)? to)"
)
_LANGUAGES = (
    "english|chinese|mandarin|french|german|spanish|japanese|korean|italian|portuguese|russian"
)
_LENGTHS = {
    "short": "short", "brief": "short", "concise": "short",
    "long": "long", "detailed": "long", "thorough": "long",
}  # fmt: skip
_NAME = r"(?-i:[A-Z])[\w'-]+"

RULES = (
    settling(
        of_speaker(LANGUAGE, {"mandarin": "chinese"}),
        rf"{_LEAD}(?:answer|reply|respond|write|speak|talk)(?: back)?",
        r"(?: (?:to )?(?:me|us)| (?:all )?my (?:questions|messages))?(?: only| always)?",
        rf" in (?P<value>{_LANGUAGES}){_NOT_THE_OTHER}(?:, even [^,]{{1,60}})?{_END}",
    ),
    settling(
        of_speaker(LENGTH, _LENGTHS),
        rf"{_LEAD}(?:keep|make) (?:your |all |the )*(?:answers|replies|responses) (?:as )?",
        rf"(?:very |more |nice and )?(?P<value>{'|'.join(_LENGTHS)})(?: as possible)?{_END}",
    ),
    settling(
        of_speaker(ADDRESS),
        rf"{_LEAD}(?:call|address) me(?: as)? (?P<value>{_NAME}(?: {_NAME})?){_END}",
    ),
    settling(
        of_speaker(UNITS),
        rf"{_LEAD}(?:use|stick to|switch to|give me)(?: the)? (?P<value>metric|imperial)",
        rf" (?:units|system|measurements){_NOT_THE_OTHER}{_END}",
    ),
    settling(
        of_work,
        r"\W*(?:(?P<owner>the|our|my) )?(?P<new>new )?(?:final |hard |total )?",
        r"(?P<noun>budget|deadline|due date|launch date|submission date|delivery date)",
        r"(?: (?:for|of) (?:the |our |my )?(?P<thing>[\w' -]{1,30}?))?",
        rf"(?:\s?:| is|{_CHANGED})\s+(?P<value>{_AMOUNT}|{_DATE})",
        r"(?P<now> now| instead)?(?: again)?(?:, end of day)?\W*",
    ),
    settling(
        of_work,
        r"\W*we(?:'ve| have| are|'re)?(?: all| now)? (?:decided|agreed|chose|opted)",
        r"(?: (?:to use|to go with|(?P<changed>to switch to)|on))?",
        r" (?P<value>[\w.+#-]+(?: [\w.+#-]+)?) (?:for|as) the (?P<noun>[\w-]+(?: [\w-]+)?)",
        r"(?P<now> now| instead)?\W*",
    ),
)
