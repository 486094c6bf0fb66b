"""Reads claims out of English sentences by patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import Match

from memci.language.claims.claim import Claim
from memci.language.claims.places import HOME, SOME_HOME, WHEN, is_known, is_no_english_place, level

# The stop of an abbreviation ends no sentence: "St. Mary's".
SENTENCE = re.compile(
    r"[^.!?\n;]+(?:(?:(?<=\bSt)|(?<=\bDr)|(?<=\bMr)|(?<=\bMs)|(?<=\bMrs)|(?<=\bMt))\.[^.!?\n;]+"
    r"|\.(?=\S)[^.!?\n;]+)*[.!?;\n]?"
)
CLAUSE = re.compile(
    r",\s+|\s+(?:and|but|so|because|since)\s+(?=(?:i|we|my|our|the|it)\b)|:\s+", re.IGNORECASE
)
# Whoever says so asserts nothing, or nothing that holds now.
# Characters. Nobody is sure what a longer sentence asserts.
LONGEST = 300
NOT_ASSERTED = re.compile(
    r"""\b(?:if|unless|suppose|imagine|pretend|would|could|might|(?-i:may)|maybe|perhaps|probably|possibly
    |wish|hope|hoping|dream|dreamed|dreams|want|wants|wanted|plan|plans|planning|think|thinking|guess
    |thought|consider|considering|joke|joking|kidding|almost|nearly|as\ if|like\ to|said|says|saying
    |told|asked|heard|according|claims|claimed|rumou?r|supposedly|allegedly|apparently|used\ to|ago
    |back\ (?:then|when)|back\ in|when\ i\ was|as\ a\ (?:kid|child|teen|teenager)|growing\ up
    |once\ upon|years?\ later|temporarily|for\ example|e\.g|should|let's|never|ever)\b|["“”«»]""",
    re.IGNORECASE | re.VERBOSE,
)
LEAD = re.compile(
    rf"""(?:(?:{WHEN.replace(" ", "[ ]")}|since
    |well|so|and|but|oh|hey|hi|yes|yeah|yep|btw|by\ the\ way|fyi|update|correction|news
    |actually|now|currently|today|recently|nowadays|these\ days|right\ now|at\ the\ moment|also|ok
    |okay|just|anyway|in\ fact|as\ of\ (?:now|today)|turns\ out|sorry|great\ news|good\ news|no
    |(?:please\ )?(?:note|remember)(?:\ that)?|wait|guess\ what)
    \b[\s,:!-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
TAIL = re.compile(
    r"""\s+(?:now|these\ days|nowadays|currently|at\ the\ moment|right\ now|today|any\s?more|instead
    |again|already|actually|as\ well|too|though|by\ the\ way|btw|please|full[- ]time|part[- ]time
    |with|because|since|where|which|who|that|when|while|after|before|until|so|for|and|but|as|if|from
    |or|thanks|to|not)\b.*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
NAME = r"[A-Z][\w'’.&-]*(?:\s+(?:(?:of|the|de|la|del|von|van|upon|and|&)\s+)?[A-Z][\w'’.&-]*){0,4}"
PERSON = r"[A-Z][a-zA-Z’-]+(?: [A-Z][a-zA-Z’-]+)?"
_KIN = (
    r"(?:mom|mum|mother|dad|father|wife|husband|boss|manager|landlord|fianc[eé]e?|girlfriend"
    r"|boyfriend)"
)
WHO = rf"(?P<who>I(?=[ '’])|[Mm]y {_KIN}|{PERSON})"
OWNER = rf"(?P<who>[Mm]y|[Oo]ur|[Tt]he|[Mm]y {_KIN}['’]s|{PERSON}['’]s)"
NOW = r"(?:(?:now|currently|actually|still|just|recently|finally|have|has|'ve|’ve|been) )*"
IS = r"(?:is|are|'s|’s)(?: now| currently| actually| officially)*"
_MOVED = (
    r"(?:moved|changed|pushed|postponed|shifted|extended|brought forward|set|updated|raised|lowered"
    r"|increased|reduced|bumped|rescheduled|switched)"
)
BECOMES = (
    rf"(?:{IS}|(?:has been|have been|was|were|is|got|has|just)(?: just| now)? {_MOVED}"
    r"(?: back| up| down| forward)? (?:to|until|till)"
    r"|(?:moved|changed|went up|went down|rose|fell|dropped|increased|slipped)"
    r" (?:from .{1,40} )?to)"
)
_NOBODY_WORDS = """
    it this that there here he she they we you everyone someone everybody somebody nobody one what
    who which these those how why where when god the a an my our your his her their its all both
"""
NOBODY = frozenset(_NOBODY_WORDS.split())


_DATE = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:today|tomorrow|tonight|noon|midnight)\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\bend of|\bnext (?:week|month)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|\b(?:free|hundred|thousand|million|billion)\b", re.IGNORECASE)
SHORT = re.compile(r"^(?:[\w'’&+.#-]+\s?){1,5}$")
_NAMED = re.compile(r"^[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3}$")


def _has(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.IGNORECASE)
    return lambda value: bool(found.search(value))


# What there is one of at a time, and how its value has to look.
ATTRIBUTES: dict[str, tuple[str, Callable[[str], bool]]] = {
    r"(?:phone|mobile|cell|telephone)(?: number)?": ("phone", _has(r"(?:\d[\s().-]*){5}")),
    r"e-?mail(?: address)?": ("email", _has(r"@")),
    r"(?:home |postal |street |new )?address": ("address", _has(r"\d")),
    r"birthday|date of birth": ("birthday", lambda value: bool(_DATE.search(value))),
    r"age": ("age", lambda value: bool(_NUMBER.search(value))),
    r"(?:full |last |first |new )?name": ("name", lambda value: bool(_NAMED.match(value))),
    r"deadline|due date|submission date|launch date|release date|delivery date|wedding date": (
        "deadline", lambda value: bool(_DATE.search(value))),
    r"price|cost|budget|rent|salary|fee|hourly rate": (
        "price", lambda value: bool(_NUMBER.search(value))),
    r"version": ("version", _has(r"\d")),
    r"status": ("status", lambda value: bool(SHORT.match(value))),
    r"favou?rite (?!(?:thing|part|one|moment|memory|way|time)\b)[a-z]+(?: [a-z]+)?": (
        "favourite", lambda value: bool(SHORT.match(value))),
}  # fmt: skip
NOUNS = "|".join(ATTRIBUTES)
MARITAL = r"(?:single|married|engaged|divorced|widowed)"
DIET = r"(?:vegan|vegetarian|pescatarian)"


Read = Callable[[Match[str], str, str], Claim | None]

_LONGEST_PURPOSE = 4  # words
# Where people also start who do not work there.
_TAUGHT = re.compile(
    r"\b(?:Uni(?:versity)?|Colleges?|School|Academy|Institute|Kindergarten|Nursery|Poly\w*|MIT|UCLA|UCL|"
    r"LSE|Stanford|Harvard|Yale|Princeton|Cornell|Oxford|Cambridge|Berkeley|Eton|Gym|PureGym|Fitness|"
    r"CrossFit|Yoga|Pilates|Club|Class|Course|Dance|Ballet|Swim\w*|Level|Stage|Step|Chapter|Page|Day)\b"
)


def subject_of(found: Match[str], speaker: str) -> str | None:
    """Return the key of whom a clause is about; None when it names nobody."""
    who = " ".join(found["who"].split())
    folded = re.sub(r"['’]s$", "", who).casefold()
    if folded in {"i", "my"}:
        return speaker
    if folded in {"our", "the"}:
        return "*"
    if folded.startswith("my "):
        return f"{speaker}/{folded[3:]}"
    return None if folded.split()[0] in NOBODY else folded


def value_of(found: Match[str]) -> str:
    """Return the value without what goes on behind it."""
    return TAIL.sub("", " " + found["value"].strip()).strip(" ,.'’!")


def place(attribute: str) -> Read:
    """Read where somebody lives, works or studies; group ``ends``: no longer."""

    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        subject, value = subject_of(found, speaker), found["value"].strip(" .'’")
        if subject is None or (attribute == "lives in" and is_no_english_place(value)):
            return None
        key = f"{attribute}/{level(value)}" if attribute == "lives in" else attribute
        ends = bool(found.groupdict().get("ends"))
        return Claim(subject, key, None if ends else value, value if ends else None, clause)

    return read


def shared(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where "we" live: whoever says so lives there."""
    value = found["value"].strip(" .'’")
    if is_no_english_place(value):
        return None
    return Claim(speaker, f"lives in/{level(value)}", value, None, clause)


def shared_move(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where "we" moved; teams move as well, to tools: only towns and homes are sure."""
    home = found["home"] or is_known(found["value"].strip(" .'’"))
    return shared(found, speaker, clause) if home else None


def began(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where somebody has started, unless it may be to learn or to train."""
    return None if _TAUGHT.search(found["value"]) else place("works at")(found, speaker, clause)


def owned(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what an attribute of somebody or something is: "my rent is …"."""
    subject, noun, value = subject_of(found, speaker), found["noun"].casefold(), value_of(found)
    name, fits = next(
        rule for words, rule in ATTRIBUTES.items() if re.fullmatch(words, noun, re.IGNORECASE)
    )
    denied = re.match(r"(?:no longer|not)\b", value, re.IGNORECASE)
    if subject is None or denied or not fits(value):
        return None
    thing = " ".join((found["thing"] or "").casefold().split())
    if name == "price" and subject in {speaker, "*"}:
        name = noun
    if name == "favourite":
        name = noun.replace("favorite", "favourite")
        if subject == "*":
            return None
    if subject == "*" and name in {"age", "name", "phone", "email", "birthday"} and not thing:
        return None
    return Claim(subject, " of ".join(filter(None, (name, thing))), value, None, clause)


def state(attribute: str) -> Read:
    """Read what somebody is: 34 years old, married, vegan."""

    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        subject, value = subject_of(found, speaker), found["value"].casefold()
        if subject is None:
            return None
        if found.groupdict().get("ends"):
            return Claim(subject, attribute, None, value, clause)
        return Claim(subject, attribute, value, None, clause)

    return read


def job(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read as what somebody works."""
    subject, value = subject_of(found, speaker), value_of(found)
    if subject is None or not SHORT.match(value):
        return None
    return Claim(subject, "job", value, None, clause)


def use(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what "we" use for something."""
    del speaker
    purpose = " ".join(re.sub(r"\b(?:the|our|my|a)\b", "", found["thing"].casefold()).split())
    purpose = TAIL.sub("", f" {purpose}").strip()
    value = found["value"].strip()
    if not purpose or not SHORT.match(value) or len(purpose.split()) > _LONGEST_PURPOSE:
        return None
    return Claim("*", f"use for {purpose}", value, None, clause)


def version(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read to which version something was brought."""
    del speaker
    return Claim("*", f"version of {found['thing'].casefold()}", found["value"], None, clause)


def correction(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read "it's Y, not Z"."""
    del speaker
    return Claim("", "", found["value"].strip(), found["wrong"].strip(" .!"), clause)


_BEING = rf"{WHO}(?: am|['’]m| is|['’]ve| has)? "
_ENDS = r"(?P<ends>no longer |do(?:es)?n['’]t |do(?:es)? not )?"
_WAY = rf"(?:(?:back|over|out|down|up|home|here|house) )*(?:from {NAME} )?"
# Who moves for the weekend lives elsewhere, and what is moved to "for the database" is a tool.
_REASON = r"(?:my|his|her|our|work|good|(?:an? )?(?:new )?job)\b"
_FOR_GOOD = rf"(?! (?:for|as) (?!{_REASON})|,? and then\b)(?![\w'’-])"
_AS = r"(?: as (?:an? |the )?[\w-]+(?: [\w-]+){0,2}?)?"
_TOOL = r"(?P<value>[\w.+#-]+(?: [\w.+#-]+)?) (?:for|as) (?P<thing>[\w' -]+)"
PATTERNS: list[tuple[re.Pattern[str], Read]] = [
    (re.compile(
        rf"{_BEING}{_ENDS}{NOW}"
        rf"(?:lives?|living|resides?|based) (?:now )?in {HOME}(?P<value>{NAME})"),
        place("lives in")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}(?:(?:moved|relocated) (?:{WHEN} )?"
        rf"{_WAY}(?:to|into)"
        rf"|settled (?:down )?in) {HOME}(?P<value>{NAME})"), place("lives in")),
    (re.compile(
        rf"(?P<who>I) (?!.*\b(?:who|that)\b)[^,]{{1,60}}? and (?:am )?now (?:live|living) in "
        rf"{HOME}(?P<value>{NAME})"), place("lives in")),
    (re.compile(
        rf"[Ww]e(?:['’]re| are|['’]ve been| have been)? {NOW}(?:live|living) {NOW}in "
        rf"{HOME}(?P<value>{NAME})"), shared),
    (re.compile(
        rf"[Ww]e(?:['’]ve| have)? ?{NOW}(?:moved|relocated) (?:{WHEN} )?{_WAY}(?:to|into) "
        rf"(?P<home>{SOME_HOME})?(?P<value>{NAME}){_FOR_GOOD}"), shared_move),
    (re.compile(
        rf"{_BEING}{_ENDS}{NOW}"
        rf"(?:works?|working|employed) (?:at|for|by) (?P<value>{NAME})"), place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}(?:started|got|found|landed|took|accepted) "
        rf"(?:working|(?:a |my |his |her |the )?(?:new )?(?:job|position|role){_AS}) (?:at|with) "
        rf"(?P<value>{NAME})"),
        place("works at")),
    (re.compile(
        rf"{WHO}(?: am| is|['’]m)? (?:starts?|starting|begins?|beginning) "
        rf"(?:a |my |his |her |the )?new (?:job|position|role){_AS} (?:at|with) (?P<value>{NAME})"),
        place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}(?:accepted|took|taken) (?:an?|the|their) (?:job )?"
        rf"offer (?:from|at|by|with) (?P<value>{NAME})"), place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}started (?:work )?(?:over )?at (?P<value>{NAME})"),
        began),
    (re.compile(
        rf"(?P<who>I) (?!.*\b(?:who|that)\b)[^,]{{1,60}}? and (?:am )?now work(?:ing)? (?:at|for) "
        rf"(?P<value>{NAME})"), place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}(?:changed|switched) jobs (?:from {NAME} )?to "
        rf"(?P<value>{NAME})"), place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has| was| got)* ?{NOW}hired by (?P<value>{NAME})"),
        place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}joined (?P<value>{NAME}) as (?:an?|the|their) "),
        place("works at")),
    (re.compile(
        r"(?P<who>[Mm]y) new (?:job|employer|workplace) is (?:now )?(?:(?:at|with) )?"
        rf"(?P<value>{NAME})"), place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}"
        r"(?P<ends>quit|resigned from|(?:quit|left) (?:my|his|her|the) job (?:at|with)) "
        rf"(?P<value>{NAME})"), place("works at")),
    (re.compile(
        rf"{WHO}(?:['’]ve| have| has)? ?{NOW}(?P<ends>left) (?P<value>{NAME}) for [A-Z]"),
        place("works at")),
    (re.compile(
        rf"{_BEING}{NOW}(?:work|works|working) as (?:an? |the )?(?P<value>[\w -]+)"),
        job),
    (re.compile(
        rf"{WHO}(?: am|'m|’m| is)? (?P<ends>no longer )?{NOW}(?:studies|study|studying) "
        rf"at (?P<value>{NAME})"), place("studies at")),
    (re.compile(
        rf"{OWNER} (?:current |new |latest |final )?(?P<noun>{NOUNS})"
        rf"(?: (?:of|for) (?:the |our |my )?(?P<thing>[\w'’ -]{{1,40}}?))? "
        rf"{BECOMES} (?P<value>.+)",
        re.IGNORECASE), owned),
    (re.compile(
        rf"{WHO}(?: am|'m|’m| is| just| have| has)? {NOW}(?:turned )?(?P<value>\d{{1,3}})"
        r"(?: years?[ -]old| years of age)\b"), state("age")),
    (re.compile(
        rf"{WHO}(?: am|'m|’m| is| got| have gotten| has gotten) ?(?P<ends>no longer )?{NOW}"
        rf"(?P<value>{MARITAL})(?![\w-])(?! (?:in|by|with|on|out)\b)"), state("marital status")),
    (re.compile(
        rf"{WHO}(?: am|'m|’m| is| became| have become| went) ?(?P<ends>no longer )?{NOW}(?:an? )?"
        rf"(?P<value>{DIET})(?![\w-])(?! [a-z])"), state("diet")),
    (re.compile(
        r"[Ww]e(?:['’]ve| have|['’]re| are)? ?(?:now )?"
        r"(?:decided|agreed|chose|settled|opted|going|went)"
        rf"(?: (?:to use|to go with|on|for|with|on using|upon))? {_TOOL}"), use),
    (re.compile(
        r"[Ww]e(?:['’]ve| have)? ?(?:now )?(?:switched|moved|migrated|changed) "
        rf"(?:from [\w.+#-]+ )?to {_TOOL}"), use),
    (re.compile(
        rf"(?:[Ww]e|I)(?:['’]ve| have)? ?{NOW}(?:upgraded|updated|downgraded) "
        r"(?P<thing>[\w.+#-]+) "
        r"(?:from [\w.]+ )?to (?:version )?v?(?P<value>\d[\w.]*\d|\d+)"),
        version),
]  # fmt: skip
CORRECTION = re.compile(
    r"(?:it|that|he|she|they|the \w+)(?:['’]s| is|['’]re| are)(?: now| actually| really)* "
    r"(?P<value>(?!not\b)[\w@.'’: -]{1,40}?),? (?:and )?not (?P<wrong>[\w@.'’: -]{1,40})$",
    re.IGNORECASE,
)
PATTERNS.append((CORRECTION, correction))


def claims_of(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a text, in its order."""
    return [
        claim
        for sentence in SENTENCE.findall(text)
        if len(sentence) <= LONGEST
        and not sentence.rstrip().endswith("?")
        and not NOT_ASSERTED.search(sentence)
        for clause in _clauses(sentence)
        for claim in _claims(clause, speaker)
    ]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut a sentence into clauses; what stands before "not" in a correction stays with it."""
    whole = sentence.strip().rstrip(".!;").strip()
    if CORRECTION.match(_led(whole)):
        yield whole
        return
    yield from filter(None, (part.strip() for part in CLAUSE.split(whole)))


def _led(clause: str) -> str:
    lead = LEAD.match(clause)
    return clause[lead.end() :].strip() if lead else clause


def _claims(clause: str, speaker: str) -> Iterator[Claim]:
    told = _led(clause)
    for pattern, read in PATTERNS:
        found = pattern.match(told)
        if found is None:
            continue
        claim = read(found, speaker, clause)
        if claim is not None:
            yield claim
            return
