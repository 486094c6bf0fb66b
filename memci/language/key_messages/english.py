"""Rules for key messages in English (R7).

Patterns are not compiled: cues are built with them.

Their things are those of any life, units or guests or a phone number. So an order has to be about
what an assistant alone does for somebody, or to say that it is about what is the speaker's; and
neither about what is before both of them at the moment.

A task is asked of who reads it. What somebody tells of himself is a goal to work on only where it
says what is to be made: not what he is busy with, dreams of, or plans with others.

Friends say "never give up", "we decided to go camping" and "I prefer tea", too, and none of that is
to stand in every context. So most cues count only beside a thing that is worked on, an amount, or
the way in which answers are wanted.
"""

from __future__ import annotations

from memci.language.key_messages.rules import CueRule, PinKind, any_of

# Things that somebody makes or mends for somebody, and that are seldom anything else.
MADE = (
    r"(?:\b(?:code(?:base)?|scripts?|functions?|methods?|modules?|packages?|dependenc(?:y|ies)|"
    r"frameworks?|api|apis|endpoints?|servers?|micro-?services?|backend|back-end|frontend|"
    r"front-end|databases?|schemas?|migrations?|quer(?:y|ies)|tables? (?:names?|schema)|"
    r"index(?:es)?|indices|caches?|queues?|pipelines?|workflows?|deploy(?:s|ed|ing|ments?)?|"
    r"releases?|commits?|pull requests?|repos?(?:itory|itories)?|refactor\w*|unit tests?|"
    r"test suite|lint\w*|type hints?|variables?|logging|bugs?|configs?|configuration|"
    r"replication|docker\w*|kubernetes|python|javascript|typescript|java|golang|postgres\w*|"
    r"mysql|sqlite|redis|sql|json|yaml|csv|xml|html|css|markdown|pdf|excel|spreadsheets?|"
    r"slides?|slide deck|dashboards?|web ?sites?|web ?apps?|landing pages?|apps?|applications?|"
    r"user interface|ui|cli|command[- ]line|datasets?|data sets?|notebooks?|reports?|"
    r"documents?|documentation|docs|readme|essays?|articles?|summar(?:y|ies)|newsletters?|"
    r"proposals?|itinerar(?:y|ies)|invoices?|e-?mails?|prompts?|language models?|credentials?|"
    r"translations?|transcripts?|parsers?|crawlers?|scrapers?)\b|"
    r"`[^`]+`|\b\w+\.(?:py|js|ts|go|rs|java|md|json|toml|ya?ml|sql|csv|txt)\b|"
    r"\b[a-z]+_[a-z_]+\b)"
)
# Words for things of work that name things of everyday life as well.
_EVERYDAY_TOO = (
    r"\b(?:class(?:es)? (?:names?|diagram)|librar(?:y|ies)|services?|branch(?:es)?|tests?|"
    r"coverage|types?|tabs|spaces|logs?|errors?|exceptions?|algorithms?|rust|react|papers?|"
    r"contracts?|customers?|clients?|tickets?|tokens?|passwords?|secrets?|production|staging|"
    r"stakeholders?|files?|folders?|director(?:y|ies))\b"
)
WORK = f"(?:{MADE}|{_EVERYDAY_TOO})"
# How much something costs or holds, and how long or for how many people it is besides.
SIZE = (
    r"(?:[$€£¥]\s?\d|"
    r"\b\d[\d,.]*\s?(?:%|percent|usd|eur|dollars?|euros?|ms|milliseconds?|"
    r"words?|characters?|lines?|sentences?|tokens?|[kmg]b|requests?|rows?|bullets?|stars?)\b)"
)
_AMOUNT = (
    rf"(?:{SIZE}|"
    r"\b\d[\d,.]*\s?(?:pounds?|seconds?|minutes?|pages?|nights?|hours?|people|guests?)\b)"
)
ANSWERS = (
    r"\b(?:your (?:answers?|replies|reply|responses?|explanations?|messages?|output|tone|"
    r"comments?)|"
    r"(?:answers|replies|responses|explanations)\b(?! (?:to|from) (?:my|her|his|their)))"
)
OF_WORK = any_of(WORK)
OF_WORK_OR_SIZE = any_of(WORK, SIZE)
MADE_OF_WORK = any_of(WORK, _AMOUNT, ANSWERS)

# Words before the point of a sentence.
LEAD = (
    r"^\W*(?:(?:(?:no|wait|sorry|actually)(?=[,:])|and|also|but|so|ok|okay|please|"
    r"remember|note|again|finally|important|first|one more thing|"
    r"from now on|from here on(?: out)?|from today on|going forward|henceforth|in (?:the )?future|"
    r"in general|additionally|oh|hi|hello|hey)\b[\s,:!–-]*)*"
)
# What lies between a cue and a thing of the same clause.
SAME_CLAUSE = (
    r"(?:(?!\b(?:when|whenever|because|but|since|while|after|before|until|till|if|although|"
    r"though|so)\b|[;:–—]).)*?"
)


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

RULES_OF_ORDERS: tuple[CueRule, ...] = (
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

KEY_MESSAGE_RULES: tuple[CueRule, ...] = (
    # Labels: who writes them means to be held to what follows.
    LABEL,
    CueRule(
        PinKind.CONSTRAINT,
        any_of(r"^\W*(?:constraint|requirement|hard limit|rule|deadline|budget)s?\W{0,3}:\s*\S"),
    ),
    CueRule(PinKind.DECISION, any_of(r"^\W*(?:decision|decided|agreed)\W{0,3}:\s*\S")),
    CueRule(PinKind.PREFERENCE, any_of(r"^\W*(?:preference)s?\W{0,3}:\s*\S")),
    GIVEN,
    GOAL,
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
    *RULES_OF_ORDERS,
    CueRule(PinKind.CONSTRAINT, any_of(r"\bi(?:'m| am) (?:(?!not\b)\w+ )?allergic to\b")),
    *TASKS,
)
