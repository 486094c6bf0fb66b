"""What is to be done, or left, each time: English orders to who works for somebody (R7).

Their things are those of any life, units or guests or a phone number; so what is done tells them
from what friends advise: what an assistant does for somebody, and not what he does for himself.
"""

from __future__ import annotations

from memci.domain.context.cues.english_things import LEAD
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

_ARRANGE = (
    r"(?:book|schedule|order|buy|reserve|arrange|pay|charge|sign me|contact|e-?mail|message|share|"
    r"send|post|publish|reveal|disclose|delete|accept|forward|cancel|reschedule|subscribe)"
)
_TELL = (
    r"(?:use|include|convert|cite|quote|round|format|mention|bring up|recommend|suggest|propose|"
    r"invent|make up|guess|assume|list|translate|reply|answer|respond|address|confirm|"
    r"double-check|verify|check with|ask(?! (?:yourself|for help|questions))|warn|remind|"
    r"(?:tell|give|show|call|wake|interrupt) (?:me|us))"
)
_DO = rf"(?:{_ARRANGE}|{_TELL})\b"
_EACH_TIME = (
    r"\b(?:from now on|from here on|from today on|going forward|henceforth|in (?:the )?future|"
    r"ever again)\b"
)
# Good advice is about who gets it.
_ADVICE = (
    r"\byour(?:self|selves)?\b(?! (?:answers?|replies|responses?|messages?|suggestions?)\b)|"
    r"\b(?:life|love|heart|dreams?|happiness|feelings|others|there|(?:for|to|with) you|"
    r"(?:how|what) you|made me|trust me)\b"
)

RULES: tuple[CueRule, ...] = (
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD + rf"(?:always|never|(?:do not|don't) ever) (?:again )?{_DO}",
            # "The only book left" begins like this, too.
            LEAD + rf"only {_DO}(?! (?:left|th(?:at|is|em)|it|on|in|i|we|you|was|is|has)\b)",
            LEAD + r"you (?:(?:must|are to) (?:always|never|not|only)|should (?:always|never)|"
            rf"mustn't|may (?:never|not|only)|are not allowed to) (?:ever )?{_DO}",
            rf"(?=.*{_EACH_TIME}){LEAD}(?:always |never |only |do not |don't )?(?:{_DO}|avoid\b)",
            LEAD + r"(?:every|each) time you [^,]{4,60}, (?:please |always |never |do not |don't |"
            rf"first )*{_DO}",
        ),
        unless=any_of(_ADVICE),
        told=True,
    ),
    # What is forbidden, and not for now alone.
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD + rf"(?:never|do not|don't)(?: ever)? {_ARRANGE} (?:me |us )?(?:anything|"
            r"any (?=\w)|meetings?\b|calls?\b|appointments?\b|flights?\b)",
            LEAD + r"(?:do not|don't) (?:recommend|suggest|propose|bring up|reveal|disclose|"
            r"invent|make up) (?!that\b)\w",
        ),
        unless=any_of(
            r"\b(?:yet|now|more|further|else|today|tonight|tomorrow|this|these|those|it|them)\b",
            _ADVICE,
        ),
        told=True,
    ),
)
