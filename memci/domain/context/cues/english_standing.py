"""What is to be done, or left, each time: English orders to who works for somebody (R7).

Their things are those of any life, units or guests or a phone number. So an order has to be about
what an assistant alone does for somebody, or to say that it is about what is the speaker's; and
neither about what is before both of them at the moment.
"""

from __future__ import annotations

from memci.domain.context.cues.english_things import LEAD
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

# What people do for themselves, too.
_ARRANGE = (
    r"(?:book|schedule|order|buy|reserve|arrange|pay|charge|contact|e-?mail|message|share|send|"
    r"post|publish|delete|accept|forward|cancel|reschedule|subscribe|use|include|list|mention|"
    r"(?:tell|give|show|call|wake|interrupt) (?:me|us))\b"
)
_ASSIST = (
    r"(?:convert|cite|quote|recommend|suggest|propose|invent|make up|translate|reply|respond|"
    r"answer (?:in|with|me|us|my)|reveal|disclose|confirm with me|double-check|check with me|"
    r"ask (?:me|us)|remind me|warn me)\b"
)
_FOR_ME = any_of(
    r"\b(?:i|me|us|my|our|mine|ours|anything|anyone|anybody|any)\b|"
    r"\b(?:flights?|hotels?|tickets?|trains?|seats?|meetings?|appointments?|calls?|e-?mails?|"
    r"restaurants?|invoices?|payments?|prices?|times?|dates?|units|currency|euros|dollars|"
    r"recipes?|sources?|references?|links?|emojis?|bullet points?|tables?|headings?|code blocks?|"
    r"examples?|places|dishes|products|time zones?|celsius|fahrenheit|24-hour|12-hour)\b|"
    r"\byour (?:sources?|references?|reasoning|assumptions|steps|calculations?)\b"
)
_FROM_NOW_ON = r"\b(?:from now on|from here on|from today on|going forward|henceforth)\b"
_IN_FUTURE = r"^\W*(?:please\s+)?in (?:the )?future,"
# What is before both at the moment, and good advice, which is about who gets it.
_PASSING = (
    r"\b(?:this|these|those|yet|now(?<!from now)|today|tonight|tomorrow|more|further|else|it|"
    r"them|just|first|second|third|last|next|another)\b|\bthat(?= \w+\s*[.!]?$)|"
    r"\bthat (?:word|one|file)\b|"
    r"\byour(?:self|selves)?\b(?! (?:answers?|replies|responses?|messages?|suggestions?|sources?|"
    r"references?|reasoning|assumptions|steps|calculations?|work)\b)|"
    r"\b(?:life|love|heart|dreams?|happiness|feelings|others|(?:for|to|with) you|(?:how|what) you|"
    r"made me|trust me|made of)\b"
)

RULES: tuple[CueRule, ...] = (
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD + rf"(?:always|never|(?:do not|don't) ever) {_ASSIST}",
            LEAD + r"you (?:(?:must|are to) (?:always|never|not|only)|should (?:always|never)|"
            rf"mustn't|may (?:never|not|only)|are not allowed to) (?:ever )?{_ASSIST}",
            rf"(?=.*{_FROM_NOW_ON}|{_IN_FUTURE}){LEAD}(?:always |never |only |do not |don't )?"
            rf"(?:{_ASSIST}|{_ARRANGE})",
            LEAD + r"(?:every|each) time you [^,]{4,60}, (?:please |always |never |do not |don't |"
            rf"first )*(?:{_ASSIST}|{_ARRANGE}|ask\b)",
        ),
        unless=any_of(_PASSING),
    ),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD + rf"(?:always|never|(?:do not|don't) ever) {_ARRANGE}",
            LEAD + r"you (?:(?:must|are to) (?:always|never|not|only)|should (?:always|never)|"
            rf"mustn't|may (?:never|not|only)|are not allowed to) (?:ever )?{_ARRANGE}",
            LEAD + rf"(?:do not|don't) {_ARRANGE} (?:me |us )?(?:anything|any (?=\w)|"
            r"meetings?\b|calls?\b|appointments?\b|flights?\b)",
            LEAD + r"(?:do not|don't) (?:recommend|suggest|reveal|disclose) (?:anything|any (?=\w)|"
            r"my\b|places\b|restaurants\b|hotels\b|dishes\b|recipes\b|products\b)",
        ),
        (_FOR_ME,),
        unless=any_of(_PASSING),
    ),
)
