"""What English sentences say for good to who works for somebody (R7).

Friends say "never give up", "we decided to go camping" and "I prefer tea", too, and none of that is
to stand in every context. So most cues count only beside a thing that is worked on, an amount, or
the way in which answers are wanted.
"""

from __future__ import annotations

from memci.domain.context.cues import english_standing, english_tasks
from memci.domain.context.cues.english_things import (
    ANSWERS,
    LEAD,
    MADE_OF_WORK,
    OF_WORK_OR_SIZE,
    SAME_CLAUSE,
    SIZE,
    WORK,
)
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

# Asked, joked, wished, guessed, or left open: nothing that holds.
NO_KEYS = any_of(
    r"\?[\"')\]]*\s*$",
    r"^\W*(?:maybe|perhaps|i wonder|what if|should (?:we|i)|why|how|what|who|when|where|did|do "
    r"(?:you|we)|"
    r"does|is|are|was|were)\b",
    r"\b(?:i wish|you must (?:be|have|feel|really)|must (?:be|have been|feel) (?:so |very |really "
    r"|a |an |the |hard|"
    r"tough|nice|great|exciting|fun|amazing|proud)|haha|lol|never give up|don't (?:worry|give up|"
    r"be so hard|stress|"
    r"sweat)|might|not sure|haven't decided|have not decided|undecided|never (?:mind|know|knew|"
    r"thought|heard|seen|"
    r"been|had|would have)|can't wait|take care|good luck|looking forward)\b",
    # For this once.
    r"\bthis (?:once|time)\b",
    r"\bmust(?:'ve| have) (?:been|felt|had|made|taken|gone|done|seen|given|cost|meant|put)\b",
)

# What the speaker himself has to do or cannot do is no rule for who reads it; what he cannot pay,
# use or change is. Nor is it one that nobody has to do something.
_NOT_I = (
    r"(?<!\bi )(?<!\bi just )(?<!\bi also )(?<!\bi really )(?<!\bi still )(?<!\bi always )"
    r"(?<!^)(?<!n't )(?<!\bnot )(?<!\bnever )"
)
_RULED = (
    r"(?:(?<!\bi )(?:must not|must|mustn't|cannot|can't)|may not|needs to|has to|"
    rf"{_NOT_I}(?:need|have) to|should (?:never|always|not|only)|"
    r"shouldn't|is not allowed|are not allowed|is forbidden|is required|are required|is "
    r"mandatory|is off[- ]limits|are off[- ]limits)\b"
    r"(?=(?: [\w'-]+){0,4}? (?:be|stay|run|work|support|fit|remain|use|have|pass|exceed|contain|"
    r"touch|change|break|return|keep|cost|leave|go|allowed|finish|include|add|take|handle|deploy|"
    r"store|log|limits|mandatory|required|forbidden)\b)"
)
# What is wanted lies in the clause of the wish: "I'd rather wait until the bugs are fixed" is none.
_WANTED = f"{SAME_CLAUSE}(?:{WORK}|{SIZE}|{ANSWERS})"
_BY_NOW = r"(?:'ve| have|'s| has)?(?: all| now| just| finally| already)?"
# "No worries", "No, it is mine": nothing is forbidden. "Keep going", "Keep up the good work" cheer.
_NO_ANSWER = (
    r"(?! (?:problem|worr|doubt|wonder|way|idea|need|thanks|one|like|better|beats|not)\w*)"
    r"(?!.*\b(?:i|you|your|he|she|they|we|it|me|my)\b)"
)
_NO_CHEER = r"(?! (?:up|it up|me|at|(?:on )?(?!log|nam|format|test|cach|every|any)\w+ing)\b)"

RULES: tuple[CueRule, ...] = (
    # Labels: who writes them means to be held to what follows.
    english_tasks.LABEL,
    CueRule(
        PinKind.CONSTRAINT,
        any_of(r"^\W*(?:constraint|requirement|hard limit|rule|deadline|budget)s?\W{0,3}:\s*\S"),
    ),
    CueRule(PinKind.DECISION, any_of(r"^\W*(?:decision|decided|agreed)\W{0,3}:\s*\S")),
    CueRule(PinKind.PREFERENCE, any_of(r"^\W*(?:preference)s?\W{0,3}:\s*\S")),
    english_tasks.GIVEN,
    english_tasks.GOAL,
    CueRule(
        PinKind.DECISION,
        any_of(
            rf"\b(?:we|the team|everyone){_BY_NOW} (?:decided|agreed|settled|opted|voted) "
            r"(?:to|on|that|for|against|not)\b",
            rf"\bi{_BY_NOW} (?:decided|agreed|settled|opted) (?:on|that|for|against|not|to (?:use|"
            r"keep|drop|go|stay|stick|switch|store|replace|move|support|rename|merge|not))\b",
            LEAD + r"(?:let's|we(?:'ll| will)|we(?:'re| are)|i(?:'ll| will)) (?:go(?:ing)? with"
            r"(?! (?:my|your|his|her|our|him|them|us|me|you)\b)|"
            r"stick(?:ing)? (?:with|to)|"
            r"stay(?:ing)? (?:with|on)|use|switch(?:ing)? to|adopt|drop(?:ping)?)\b",
            r"\bwe(?:'ve| have)? (?:chosen|chose|picked|selected)\b",
            r"\b(?:the )?(?:final )?decision is\b",
            r"\b(?:is|are) (?:now )?(?:decided|approved|signed off)\b",
        ),
        (OF_WORK_OR_SIZE,),
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            r"(?:\bi(?:'d| would)?(?: (?:really|strongly|always|much|generally|also))? prefer\b|"
            r"\b(?:i|we) (?:like|want|love|hate|dislike|don't like) (?:it when|all|short|long|"
            r"concise|detailed|plain)\b|\b(?:i|we) want the\b|"
            r"\b(?:i|we) (?:like|want) (?:my|our|your)(?=[\w ]{1,30}? (?:to be|in|with|without|as|"
            r"short|brief|concise|detailed|simple|plain|clean|small|formatted|sorted)\b)|"
            r"\b(?:my|our) (?:preference|preferred)\b|"
            r"\bi(?:'d| would) rather\b(?! be\b))" + _WANTED,
        ),
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            LEAD + r"(?:always |only )?(?:answer|reply|respond|write|speak|talk|explain)(?: "
            r"to)?(?: me| us)?(?: back)?"
            r"(?: only| always)? (?:in (?:english|chinese|french|german|spanish|japanese|plain|"
            r"simple|short|full|"
            r"bullet|british|american|\w+ sentences)|briefly|concisely|with bullet)",
            LEAD + r"(?:keep|make) (?:your |all |the )?(?:answers|replies|responses|explanations|"
            r"messages)\b",
            LEAD + r"(?:from now on,? )?(?:please )?call me [A-Z]\w+\s*[.!]?$",
        ),
    ),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD + r"(?:always(?! (?:a|an|the|on|here|there|nice|good|great|fun|been)\b)|never|"
            r"(?:do not|don't|do n't)(?! (?:be (?:afraid|so|too|shy|sad|scared)|feel|fear|think|"
            r"let|mind|know|have|want)\b)|avoid|only|ensure|under no circumstances|"
            r"make sure|be sure|keep" + _NO_CHEER + r"|leave|stick to|"
            r"stay (?:within|under|below)|use only|limit)\b",
            LEAD + r"(?:no|nothing)(?= \w)" + _NO_ANSWER,
            r"\b" + _RULED,
            r"\bi (?:can't|cannot|must not) (?:spend|pay|exceed|use|change|install|upgrade|"
            r"touch)\b",
            r"\bi (?:have|need) to (?:stay|keep|remain) (?:within|under|below)\b",
            r"\b(?:at most|at least|no more than|no less than|no later than|maximum of|minimum of|"
            r"up to|within) \S*\d",
            r"\b(?:the )?(?:hard )?(?:deadline|budget|limit) (?:is|of)\b",
        ),
        (MADE_OF_WORK,),
    ),
    # An amount or a day close behind it, and nothing of how somebody feels about it.
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD + r"(?:the|our|my) (?:new |hard |final |total |maximum )?(?:deadline|(?:delivery|"
            r"submission|launch) date|budget)(?: (?:for|of) [^,;]{1,40}?)? (?:is|(?:has been |was "
            r"|is |got )?(?:moved|pushed|postponed|extended|changed|set|raised|increased|cut|"
            r"reduced|lowered|brought forward)(?: (?:back|up|down))?(?: from [^,;]{1,20}?)? to)"
            r"(?: now| still| only| about| at most| on| by| the){0,2} (?:[$€£¥]? ?\d|(?:next )?(?:"
            r"mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|"
            r"nov|dec)[a-z]* \d|(?:the )?end of\b|next (?:week|month)\b)"
        ),
        unless=any_of(r"\b(?:so|film|movie|wedding|birthday|gone|days? before)\b|!\W*$"),
        told=True,
    ),
    *english_standing.RULES,
    CueRule(PinKind.CONSTRAINT, any_of(r"\bi(?:'m| am) (?:(?!not\b)\w+ )?allergic to\b")),
    *english_tasks.TASKS,
)
