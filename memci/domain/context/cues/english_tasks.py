"""How English sentences give somebody a task, and how they tell of a goal (R7).

A task is asked of who reads it. What somebody tells of himself is a goal to work on only where it
says what is to be made: not what he is busy with, dreams of, or plans with others.
"""

from __future__ import annotations

from memci.domain.context.cues.english_things import (
    LEAD,
    MADE,
    MADE_OF_WORK,
    OF_WORK,
    SAME_CLAUSE,
)
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

_MAKE = (
    r"(?:build|implement|write|create|develop|refactor|rewrite|migrate|port|design|set up|prepare|"
    r"draft|"
    r"plan|organi[sz]e|research|analy[sz]e|translate|convert|generate|automate|optimi[sz]e|debug|"
    r"deploy|"
    r"review|summari[sz]e|document|replace|redesign|move|split|upgrade|ship|launch|produce|"
    r"compile|fix|add|make|find|book|compare)\b"
)
_MAKING = (
    r"(?:building|implementing|writing|developing|refactoring|rewriting|migrating|porting|"
    r"designing|"
    r"creating|planning|preparing|replacing|automating)\b"
)
_SOON = r"\s*(?:also |then |now |first )?"
# Some other doing may come first: "go through the code and fix the errors".
_AND = r"(?:(?:[\w'-]+ ){1,8}?and (?:then )?)?"
_START = LEAD + r"(?:(?:now|then|next|today|yes|sure|great|thanks)\b[\s,:!–-]*)?"
_REQUEST = (
    r"(?:i(?:'d| would)? (?:need|want|like) you to |"
    r"(?:can|could|would|will) you (?:please )?(?:help (?:me|us) )?(?:to )?|"
    r"(?:you can |please )?help (?:me|us) (?:to )?|please )"
)
# Among friends this is advice.
_INSTRUCTION = r"you(?:'ll| will| are going to| need to| have to) (?:help (?:me|us) (?:to )?)?"
_NEED = (
    r"(?:we(?:'re| are) (?:going |about )to |(?:we|i)(?: now)? (?:need|want) to |we have to |"
    r"(?:we|i)(?:'d| would) like to |let's )"
)
_TO_BE = (
    r"(?: (?:here|now|today|(?:for )?this \w+|for (?:today|now)))? (?:is|will be) "
    r"(?:to\b|that\b|:)"
)
_GOAL = (
    r"(?:(?:my|our|your|the|this)(?: \w+)? (?:task|assignment|goal|objective|aim)|"
    r"the (?:idea|plan|point|job|mission))" + _TO_BE
)
_PRODUCT = (
    r"(?:scripts?|functions?|programs?|tools?|quer(?:y|ies)|endpoints?|dashboards?|templates?|"
    r"web ?sites?|web ?apps?|apps?|parsers?|scrapers?|crawlers?|spreadsheets?|slide decks?|"
    r"reports?|summar(?:y|ies)|documents?|e-?mails?|essays?|proposals?|itinerar(?:y|ies)|"
    r"translations?|regex|workflows?|pipelines?)"
)
_BY_THEN = (
    r"\bby (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bby (?:tomorrow|tonight|eod|the end of|"
    r"end of|next|the \d|\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)\b"
)
_PEOPLE = (
    r"(?:kids?|child(?:ren)?|sons?|daughters?|wife|husband|partner|girlfriend|boyfriend|mom|mum|"
    r"mother|dad|father|parents|grand\w+|family|friends?|buddy|brothers?|sisters?|cousins?|"
    r"neighbou?rs?|roommates?)"
)
# One's own life: some day, long since, for fun, with others, and how one feels.
_LIFE = any_of(
    r"\b(?:some ?day|one day|lately|recently|these days|for fun|hobb(?:y|ies)|"
    r"dream(?:s|ed|ing)?|(?:free|spare) time|always wanted|"
    r"when i (?:have (?:kids|time|a)|get (?:home|back|older|married)|grow|was|retire))\b",
    rf"\b(?:with|when) (?:my|our|the|some|a few) (?:\w+ )?{_PEOPLE}\b",
    r"\b(?:i'm|i am|i feel|feeling)(?: \w+)? (?:stuck|nervous|excited|tired|stressed|scared|"
    r"afraid|bored|proud|happy|thrilled|worried|overwhelmed|passionate)\b",
)
_ADVICE = any_of(
    r"\byour(?:self)?\b",
    r"\b(?:help|helps|for|to|with|suits?) you\b",
    r"\byou (?:need|want|like|love|enjoy|feel)\b",
)
_NOW_HERE = any_of(
    r"\b(?:here|today|this session|this week)\b",
    r"\bthis (?:repo|repository|project|codebase|chat|thread|conversation|workspace|notebook|"
    r"document|file)\b",
)

LABEL = CueRule(
    PinKind.TASK,
    any_of(
        r"^\W*(?:(?:your|the|next|main) )?(?:task|goal|objective|mission|assignment)s?\W{0,3}:\s*\S"
    ),
)
GOAL = CueRule(
    PinKind.TASK,
    any_of(LEAD + _GOAL + SAME_CLAUSE + MADE),
    unless=_LIFE,
    told=True,
)
# Who says "your task" speaks to who reads it.
GIVEN = CueRule(
    PinKind.TASK,
    any_of(LEAD + r"(?:your|this)(?: \w+)? (?:task|assignment|job|mission)" + _TO_BE),
    (MADE_OF_WORK,),
)
TASKS = (
    CueRule(
        PinKind.TASK,
        any_of(_START + _REQUEST + _SOON + _AND + _MAKE + "(?! your\\b)"),
        (OF_WORK,),
    ),
    # An imperative; what is for the reader's own good is advice.
    CueRule(
        PinKind.TASK,
        any_of(
            LEAD + _MAKE + r" (?:(?:me|us|my|a|an|our|the|this|these|those|all|each|every|both|"
            r"\d+)\b|`)"
        ),
        (OF_WORK,),
        unless=_ADVICE,
    ),
    CueRule(
        PinKind.TASK,
        any_of(
            rf"{_START}(?:{_NEED}|{_INSTRUCTION}){_SOON}(?!find\b){_MAKE}{SAME_CLAUSE}{MADE}",
            LEAD + r"(?:i|we)(?:'d like| would like| need| want|'re looking for|'m looking for) "
            rf"(?:a|an|another|one|some|\d+) (?:[\w-]+ ){{0,3}}?{_PRODUCT}"
            r"(?=[,:]| (?:that|which|to|for|with|in|of|about|on|covering)\b)",
        ),
        unless=_LIFE,
        told=True,
    ),
    # Done by "us", and not in general.
    CueRule(
        PinKind.TASK,
        any_of(
            LEAD + r"(?:(?:today|here|now),? )?we(?:'re| are)(?: currently| now)? " + _MAKING,
            LEAD + r"i(?:'m| am)(?: currently| now)? " + _MAKING + r".*\bin this \w+",
        ),
        (OF_WORK, _NOW_HERE),
        unless=_LIFE,
        told=True,
    ),
    CueRule(
        PinKind.TASK,
        any_of(
            LEAD + r"we (?:need|have|want) to (?:ship|release|deploy|launch|migrate|refactor|"
            r"finish|deliver|roll out)\b"
        ),
        (any_of(_BY_THEN),),
        unless=_LIFE,
        told=True,
    ),
)
