"""What English sentences say for good to who works for somebody (R7).

Friends say "never give up", "we decided to go camping" and "I prefer tea", too, and none of that is
to stand in every context. So most cues count only beside a thing that is worked on, an amount, or
the way in which answers are wanted.
"""

from __future__ import annotations

import re

from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

# Names of things that people have made by somebody who works for them.
_WORK = any_of(
    r"\b(?:code(?:base)?|scripts?|functions?|methods?|class(?:es)? (?:names?|diagram)|modules?|"
    r"librar(?:y|ies)|"
    r"packages?|dependenc(?:y|ies)|frameworks?|api|apis|endpoints?|servers?|services?|"
    r"micro-?services?|"
    r"backend|back-end|frontend|front-end|databases?|schemas?|migrations?|quer(?:y|ies)|tables? "
    r"(?:names?|schema)|index(?:es)?|indices|caches?|queues?|pipelines?|workflows?|deploy(?:s|ed|"
    r"ing|ments?)?|"
    r"releases?|commits?|branch(?:es)?|pull requests?|repos?(?:itory|itories)?|refactor\w*|unit "
    r"tests?|"
    r"tests?|test suite|coverage|lint\w*|types?|type hints?|tabs|spaces|variables?|logging|logs?|"
    r"errors?|exceptions?|"
    r"bugs?|configs?|configuration|replication|algorithms?|docker\w*|kubernetes|python|javascript|"
    r"typescript|java|rust|golang|"
    r"react|postgres\w*|mysql|sqlite|redis|sql|json|yaml|csv|xml|html|css|markdown|pdf|excel|"
    r"spreadsheets?|slides?|slide deck|dashboards?|websites?|web ?sites?|web ?apps?|landing "
    r"pages?|apps?|"
    r"applications?|user interface|ui|cli|command[- ]line|datasets?|data sets?|notebooks?|reports?|"
    r"documents?|documentation|docs|readme|essays?|papers?|articles?|summar(?:y|ies)|newsletters?|"
    r"proposals?|itinerar(?:y|ies)|invoices?|contracts?|customers?|clients?|e-?mails?|tickets?|"
    r"prompts?|language models?|tokens?|credentials?|passwords?|secrets?|production|staging|"
    r"stakeholders?|"
    r"files?|folders?|director(?:y|ies)|translations?|transcripts?|parsers?|crawlers?|scrapers?)\b",
    r"`[^`]+`",
    r"\b\w+\.(?:py|js|ts|go|rs|java|md|json|toml|ya?ml|sql|csv|txt)\b",
    r"\b[a-z]+_[a-z_]+\b",
)
_AMOUNT = any_of(
    r"[$€£¥]\s?\d",
    r"\b\d[\d,.]*\s?(?:%|percent|usd|eur|dollars?|euros?|pounds?|ms|milliseconds?|seconds?|"
    r"minutes?|words?|"
    r"characters?|lines?|pages?|sentences?|tokens?|[kmg]b|requests?|rows?|bullets?|nights?|stars?|"
    r"hours?|people|guests?)\b",
)
_ANSWERS = any_of(
    r"\b(?:your (?:answers?|replies|reply|responses?|explanations?|messages?|output|tone|"
    r"comments?)|"
    r"(?:answers|replies|responses|explanations)\b(?! (?:to|from) (?:my|her|his|their)))"
)
_MADE_OF_WORK = re.compile(f"{_WORK.pattern}|{_AMOUNT.pattern}|{_ANSWERS.pattern}", re.IGNORECASE)
# Words before the point of a sentence.
_LEAD = (
    r"^\W*(?:(?:and|also|but|so|ok|okay|please|remember|note|again|finally|important|first|one "
    r"more thing|"
    r"from now on|in general|additionally|oh|hi|hello|hey)\b[\s,:!–-]*)*"
)
_MAKE = (
    r"(?:build|implement|write|create|develop|refactor|rewrite|migrate|port|design|set up|prepare|"
    r"draft|"
    r"plan|organi[sz]e|research|analy[sz]e|translate|convert|generate|automate|optimi[sz]e|debug|"
    r"deploy|"
    r"review|summari[sz]e|document|replace|redesign|move|split|upgrade|ship|launch|produce|"
    r"compile|fix|add|make|find|book|compare)"
)
_ASKED = (
    r"(?:i(?:'d| would)? (?:need|want|like) you to|you(?:'ll| will| are going to| need to| have "
    r"to| should) "
    r"(?:help (?:me|us) )?|(?:can|could|would|will) you (?:please )?(?:help (?:me|us) )?(?:to )?|"
    r"help (?:me|us) (?:to )?|we(?:'re| are) (?:going to |about to )?|we(?: now)? (?:need|want|"
    r"have) to |"
    r"i(?: now)? (?:need|want|have) to |let's |i(?:'m| am) (?:trying to |working on |going to ))"
)
_MAKING = (
    r"(?:building|implementing|writing|developing|refactoring|rewriting|migrating|porting|"
    r"designing|"
    r"creating|planning|preparing|replacing|automating)"
)

# Asked, joked and wished, or left open: nothing that holds.
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
)

RULES: tuple[CueRule, ...] = (
    # Labels: who writes them means to be held to what follows.
    CueRule(PinKind.TASK, any_of(r"^\W*(?:task|goal|objective|mission|assignment)s?\W{0,3}:\s*\S")),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(r"^\W*(?:constraint|requirement|hard limit|rule|deadline|budget)s?\W{0,3}:\s*\S"),
    ),
    CueRule(PinKind.DECISION, any_of(r"^\W*(?:decision|decided|agreed)\W{0,3}:\s*\S")),
    CueRule(PinKind.PREFERENCE, any_of(r"^\W*(?:preference)s?\W{0,3}:\s*\S")),
    CueRule(
        PinKind.TASK,
        any_of(
            _LEAD + r"(?:your|the|this|our)(?: \w+)? (?:task|assignment|mission|job|goal|"
            r"objective|aim)"
            r"(?: (?:here|now|today|for (?:today|now|this \w+)))? (?:is|will be) (?:to\b|that\b|:|"
            r"a\b|an\b)"
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.DECISION,
        any_of(
            r"\b(?:we|i|the team|everyone)(?:'ve| have|'s| has)?(?: all| now| just| finally| "
            r"already)? (?:decided|agreed|settled|"
            r"opted|voted) (?:to|on|that|for|against|not)\b",
            _LEAD + r"(?:let's|we(?:'ll| will)|we(?:'re| are)|i(?:'ll| will)) (?:go(?:ing)? with|"
            r"stick(?:ing)? (?:with|to)|"
            r"stay(?:ing)? (?:with|on)|use|switch(?:ing)? to|adopt|drop(?:ping)?)\b",
            r"\bwe(?:'ve| have)? (?:chosen|chose|picked|selected)\b",
            r"\b(?:the )?(?:final )?decision is\b",
            r"\b(?:is|are) (?:now )?(?:decided|approved|signed off)\b",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            r"\bi(?:'d| would)?(?: (?:really|strongly|always|much|generally|also))? prefer\b",
            r"\b(?:i|we) (?:like|want|love|hate|dislike|don't like) (?:my|our|your|it when|the|"
            r"all|short|long|concise|"
            r"detailed|plain)\b",
            r"\b(?:my|our) (?:preference|preferred)\b",
            r"\bi(?:'d| would) rather\b",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            _LEAD + r"(?:always |only )?(?:answer|reply|respond|write|speak|talk|explain)(?: "
            r"to)?(?: me| us)?(?: back)?"
            r"(?: only| always)? (?:in (?:english|chinese|french|german|spanish|japanese|plain|"
            r"simple|short|full|"
            r"bullet|british|american|\w+ sentences)|briefly|concisely|with bullet)",
            _LEAD + r"(?:keep|make) (?:your |all |the )?(?:answers|replies|responses|explanations|"
            r"messages)\b",
            _LEAD + r"(?:from now on,? )?(?:please )?call me [A-Z]\w+\s*[.!]?$",
        ),
    ),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            _LEAD + r"(?:always|never|do not|don't|do n't|avoid|only|ensure|no|nothing|under no "
            r"circumstances|"
            r"make sure|be sure|keep|leave|stick to|stay (?:within|under|below)|use only|limit)\b",
            r"\b(?:must|must not|mustn't|may not|cannot|can't|needs? to|has to|have to|should "
            r"(?:never|always|not|only)|"
            r"shouldn't|is not allowed|are not allowed|is forbidden|is required|are required|is "
            r"mandatory|is off[- ]limits|"
            r"are off[- ]limits)\b(?=.*\b(?:be|stay|run|work|support|fit|remain|use|have|pass|"
            r"exceed|contain|touch|change|"
            r"break|return|keep|cost|leave|go|allowed|finish|include|add|take|handle|deploy|store|"
            r"log|limits|mandatory|required|forbidden)\b)",
            r"\b(?:at most|at least|no more than|no less than|no later than|maximum of|minimum of|"
            r"up to|within) \S*\d",
            r"\b(?:the )?(?:hard )?(?:deadline|budget|limit) (?:is|of)\b",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(r"\bi(?:'m| am) (?:\w+ )?allergic to\b"),
    ),
    CueRule(
        PinKind.TASK,
        any_of(
            _LEAD + _ASKED + r"\s*(?:also |then |now )?" + _MAKE + r"\b",
            _LEAD + r"we(?:'re| are)(?: currently| now)? " + _MAKING + r"\b",
            _LEAD + r"i(?:'m| am)(?: currently| now)? " + _MAKING + r"\b",
            _LEAD + _MAKE + r" (?:me |us )?(?:a|an|our|the|this|all|\d+)\b",
            _LEAD + r"the (?:goal|task|job|aim|idea|plan|point|objective) (?:here )?is to " + _MAKE,
        ),
        (_WORK,),
    ),
)
