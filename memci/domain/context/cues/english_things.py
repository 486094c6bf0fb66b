"""What English sentences are about when they are said to who works for somebody (R7).

Patterns are not compiled: cues are built with them.
"""

from __future__ import annotations

from memci.domain.context.cues.rule import any_of

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
