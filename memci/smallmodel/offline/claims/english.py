"""What English sentences assert, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import Match

from memci.domain.memory.claim import Claim
from memci.smallmodel.offline.claims.english_names import HOME, WHEN, is_no_place
from memci.smallmodel.offline.claims.places import level

_SENTENCE = re.compile(r"[^.!?\n;]+(?:\.(?=\S)[^.!?\n;]+)*[.!?;\n]?")
_CLAUSE = re.compile(
    r",\s+|\s+(?:and|but|so|because|since)\s+(?=(?:i|we|my|our|the|it)\b)|:\s+", re.IGNORECASE
)
# Whoever says so asserts nothing, or nothing that holds now.
# Characters. Nobody is sure what a longer sentence asserts.
LONGEST = 300
_NOT_ASSERTED = re.compile(
    r"""\b(?:if|unless|suppose|imagine|pretend|would|could|might|(?-i:may)|maybe|perhaps|probably|possibly
    |wish|hope|hoping|dream|dreamed|dreams|want|wants|wanted|plan|plans|planning|think|thinking|guess
    |thought|consider|considering|joke|joking|kidding|almost|nearly|as\ if|like\ to|said|says|saying
    |told|asked|heard|according|claims|claimed|rumou?r|supposedly|allegedly|apparently|used\ to|ago
    |back\ (?:then|when)|back\ in|when\ i\ was|as\ a\ (?:kid|child|teen|teenager)|growing\ up
    |once\ upon|years?\ later|temporarily|for\ example|e\.g|should|let's|never|ever)\b|["“”«»]""",
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = re.compile(
    rf"""(?:(?:{WHEN.replace(" ", "[ ]")}|since
    |well|so|and|but|oh|hey|hi|yes|yeah|yep|btw|by\ the\ way|fyi|update|correction|news
    |actually|now|currently|today|recently|nowadays|these\ days|right\ now|at\ the\ moment|also|ok
    |okay|just|anyway|in\ fact|as\ of\ (?:now|today)|turns\ out|sorry|great\ news|good\ news|no
    |(?:please\ )?(?:note|remember)(?:\ that)?|wait|guess\ what)
    \b[\s,:!-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
_TAIL = re.compile(
    r"""\s+(?:now|these\ days|nowadays|currently|at\ the\ moment|right\ now|today|any\s?more|instead
    |again|already|actually|as\ well|too|though|by\ the\ way|btw|please|full[- ]time|part[- ]time
    |with|because|since|where|which|who|that|when|while|after|before|until|so|for|and|but|as|if|from
    |or|thanks|to|not)\b.*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_NAME = r"[A-Z][\w'’.&-]*(?:\s+(?:(?:of|the|de|la|del|von|van|upon|and|&)\s+)?[A-Z][\w'’.&-]*){0,4}"
_PERSON = r"[A-Z][a-zA-Z’-]+(?: [A-Z][a-zA-Z’-]+)?"
_KIN = (
    r"(?:mom|mum|mother|dad|father|wife|husband|boss|manager|landlord|fianc[eé]e?|girlfriend"
    r"|boyfriend)"
)
_WHO = rf"(?P<who>I(?=[ '’])|[Mm]y {_KIN}|{_PERSON})"
_OWNER = rf"(?P<who>[Mm]y|[Oo]ur|[Tt]he|[Mm]y {_KIN}['’]s|{_PERSON}['’]s)"
_NOW = r"(?:(?:now|currently|actually|still|just|recently|finally|have|has|'ve|’ve|been) )*"
_IS = r"(?:is|are|'s|’s)(?: now| currently| actually| officially)*"
_MOVED = (
    r"(?:moved|changed|pushed|postponed|shifted|extended|brought forward|set|updated|raised|lowered"
    r"|increased|reduced|bumped|rescheduled|switched)"
)
_BECOMES = (
    rf"(?:{_IS}|(?:has been|have been|was|were|is|got|has|just)(?: just| now)? {_MOVED}"
    r"(?: back| up| down| forward)? (?:to|until|till)"
    r"|(?:moved|changed|went up|went down|rose|fell|dropped|increased|slipped)"
    r" (?:from .{1,40} )?to)"
)
_NOBODY_WORDS = """
    it this that there here he she they we you everyone someone everybody somebody nobody one what
    who which these those how why where when god the a an my our your his her their its all both
"""
_NOBODY = frozenset(_NOBODY_WORDS.split())

_DATE = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:today|tomorrow|tonight|noon|midnight)\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\bend of|\bnext (?:week|month)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|\b(?:free|hundred|thousand|million|billion)\b", re.IGNORECASE)
_LONGEST_PURPOSE = 4  # words
_SHORT = re.compile(r"^(?:[\w'’&+.#-]+\s?){1,5}$")
_NAMED = re.compile(r"^[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3}$")


def _has(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.IGNORECASE)
    return lambda value: bool(found.search(value))


# What there is one of at a time, and how its value has to look.
_ATTRIBUTES: dict[str, tuple[str, Callable[[str], bool]]] = {
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
    r"status": ("status", lambda value: bool(_SHORT.match(value))),
    r"favou?rite (?!(?:thing|part|one|moment|memory|way|time)\b)[a-z]+(?: [a-z]+)?": (
        "favourite", lambda value: bool(_SHORT.match(value))),
}  # fmt: skip
_NOUNS = "|".join(_ATTRIBUTES)
_MARITAL = r"(?:single|married|engaged|divorced|widowed)"
_DIET = r"(?:vegan|vegetarian|pescatarian)"


def claims_of(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a text, in its order."""
    return [
        claim
        for sentence in _SENTENCE.findall(text)
        if len(sentence) <= LONGEST
        and not sentence.rstrip().endswith("?")
        and not _NOT_ASSERTED.search(sentence)
        for clause in _clauses(sentence)
        for claim in _claims(clause, speaker)
    ]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut a sentence into clauses; what stands before "not" in a correction stays with it."""
    whole = sentence.strip().rstrip(".!;").strip()
    if _CORRECTION.match(_led(whole)):
        yield whole
        return
    yield from filter(None, (part.strip() for part in _CLAUSE.split(whole)))


def _led(clause: str) -> str:
    lead = _LEAD.match(clause)
    return clause[lead.end() :].strip() if lead else clause


def _claims(clause: str, speaker: str) -> Iterator[Claim]:
    told = _led(clause)
    for pattern, read in _PATTERNS:
        found = pattern.match(told)
        if found is None:
            continue
        claim = read(found, speaker, clause)
        if claim is not None:
            yield claim
            return


def _subject(found: Match[str], speaker: str) -> str | None:
    """Return the key of whom a clause is about; None when it names nobody."""
    who = " ".join(found["who"].split())
    folded = re.sub(r"['’]s$", "", who).casefold()
    if folded in {"i", "my"}:
        return speaker
    if folded in {"our", "the"}:
        return "*"
    if folded.startswith("my "):
        return f"{speaker}/{folded[3:]}"
    return None if folded.split()[0] in _NOBODY else folded


def _value(found: Match[str]) -> str:
    return _TAIL.sub("", " " + found["value"].strip()).strip(" ,.'’!")


def _place(attribute: str) -> Callable[[Match[str], str, str], Claim | None]:
    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        subject, value = _subject(found, speaker), found["value"].strip(" .'’")
        if subject is None or (attribute == "lives in" and is_no_place(value)):
            return None
        key = f"{attribute}/{level(value)}" if attribute == "lives in" else attribute
        ends = bool(found.groupdict().get("ends"))
        return Claim(subject, key, None if ends else value, value if ends else None, clause)

    return read


def _shared(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where "we" live: whoever says so lives there."""
    value = found["value"].strip(" .'’")
    if is_no_place(value):
        return None
    return Claim(speaker, f"lives in/{level(value)}", value, None, clause)


def _owned(found: Match[str], speaker: str, clause: str) -> Claim | None:
    subject, noun, value = _subject(found, speaker), found["noun"].casefold(), _value(found)
    name, fits = next(
        rule for words, rule in _ATTRIBUTES.items() if re.fullmatch(words, noun, re.IGNORECASE)
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


def _state(attribute: str) -> Callable[[Match[str], str, str], Claim | None]:
    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        subject, value = _subject(found, speaker), found["value"].casefold()
        if subject is None:
            return None
        if found.groupdict().get("ends"):
            return Claim(subject, attribute, None, value, clause)
        return Claim(subject, attribute, value, None, clause)

    return read


def _job(found: Match[str], speaker: str, clause: str) -> Claim | None:
    subject, value = _subject(found, speaker), _value(found)
    if subject is None or not _SHORT.match(value):
        return None
    return Claim(subject, "job", value, None, clause)


def _use(found: Match[str], speaker: str, clause: str) -> Claim | None:
    del speaker
    purpose = " ".join(re.sub(r"\b(?:the|our|my|a)\b", "", found["thing"].casefold()).split())
    purpose = _TAIL.sub("", f" {purpose}").strip()
    value = found["value"].strip()
    if not purpose or not _SHORT.match(value) or len(purpose.split()) > _LONGEST_PURPOSE:
        return None
    return Claim("*", f"use for {purpose}", value, None, clause)


def _version(found: Match[str], speaker: str, clause: str) -> Claim | None:
    del speaker
    return Claim("*", f"version of {found['thing'].casefold()}", found["value"], None, clause)


def _correction(found: Match[str], speaker: str, clause: str) -> Claim | None:
    del speaker
    return Claim("", "", found["value"].strip(), found["wrong"].strip(" .!"), clause)


_BEING = rf"{_WHO}(?: am|['’]m| is|['’]ve| has)? "
_ENDS = r"(?P<ends>no longer |do(?:es)?n['’]t |do(?:es)? not )?"
_TOOL = r"(?P<value>[\w.+#-]+(?: [\w.+#-]+)?) (?:for|as) (?P<thing>[\w' -]+)"
_PATTERNS: list[tuple[re.Pattern[str], Callable[[Match[str], str, str], Claim | None]]] = [
    (re.compile(
        rf"{_BEING}{_ENDS}{_NOW}"
        rf"(?:lives?|living|resides?|based) (?:now )?in {HOME}(?P<value>{_NAME})"),
        _place("lives in")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has)? ?{_NOW}(?:(?:moved|relocated) (?:{WHEN} )?"
        rf"(?:(?:back|over|out|down|up|home|here|house) )*(?:from {_NAME} )?to"
        rf"|settled (?:down )?in) {HOME}(?P<value>{_NAME})"), _place("lives in")),
    (re.compile(
        rf"(?P<who>I) (?!.*\b(?:who|that)\b)[^,]{{1,60}}? and (?:am )?now (?:live|living) in "
        rf"{HOME}(?P<value>{_NAME})"), _place("lives in")),
    (re.compile(
        rf"[Ww]e(?:['’]re| are|['’]ve been| have been)? {_NOW}(?:live|living) {_NOW}in "
        rf"{HOME}(?P<value>{_NAME})"), _shared),
    (re.compile(
        rf"{_BEING}{_ENDS}{_NOW}"
        rf"(?:works?|working|employed) (?:at|for|by) (?P<value>{_NAME})"), _place("works at")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has)? ?{_NOW}(?:started|got|found|landed|took|accepted) "
        rf"(?:working|(?:a |my |his |her )?(?:new )?(?:job|position)) (?:at|with) "
        rf"(?P<value>{_NAME})"),
        _place("works at")),
    (re.compile(
        rf"(?P<who>I) (?!.*\b(?:who|that)\b)[^,]{{1,60}}? and (?:am )?now work(?:ing)? (?:at|for) "
        rf"(?P<value>{_NAME})"), _place("works at")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has)? ?{_NOW}(?:changed|switched) jobs (?:from {_NAME} )?to "
        rf"(?P<value>{_NAME})"), _place("works at")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has| was| got)* ?{_NOW}hired by (?P<value>{_NAME})"),
        _place("works at")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has)? ?{_NOW}joined (?P<value>{_NAME}) as (?:an?|the|their) "),
        _place("works at")),
    (re.compile(
        r"(?P<who>[Mm]y) new (?:job|employer|workplace) is (?:now )?(?:(?:at|with) )?"
        rf"(?P<value>{_NAME})"), _place("works at")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has)? ?{_NOW}"
        r"(?P<ends>quit|resigned from|(?:quit|left) (?:my|his|her|the) job (?:at|with)) "
        rf"(?P<value>{_NAME})"), _place("works at")),
    (re.compile(
        rf"{_WHO}(?:['’]ve| have| has)? ?{_NOW}(?P<ends>left) (?P<value>{_NAME}) for [A-Z]"),
        _place("works at")),
    (re.compile(
        rf"{_BEING}{_NOW}(?:work|works|working) as (?:an? |the )?(?P<value>[\w -]+)"),
        _job),
    (re.compile(
        rf"{_WHO}(?: am|'m|’m| is)? (?P<ends>no longer )?{_NOW}(?:studies|study|studying) "
        rf"at (?P<value>{_NAME})"), _place("studies at")),
    (re.compile(
        rf"{_OWNER} (?:current |new |latest |final )?(?P<noun>{_NOUNS})"
        rf"(?: (?:of|for) (?:the |our |my )?(?P<thing>[\w'’ -]{{1,40}}?))? "
        rf"{_BECOMES} (?P<value>.+)",
        re.IGNORECASE), _owned),
    (re.compile(
        rf"{_WHO}(?: am|'m|’m| is| just| have| has)? {_NOW}(?:turned )?(?P<value>\d{{1,3}})"
        r"(?: years?[ -]old| years of age)\b"), _state("age")),
    (re.compile(
        rf"{_WHO}(?: am|'m|’m| is| got| have gotten| has gotten) ?(?P<ends>no longer )?{_NOW}"
        rf"(?P<value>{_MARITAL})(?![\w-])(?! (?:in|by|with|on|out)\b)"), _state("marital status")),
    (re.compile(
        rf"{_WHO}(?: am|'m|’m| is| became| have become| went) ?(?P<ends>no longer )?{_NOW}(?:an? )?"
        rf"(?P<value>{_DIET})(?![\w-])(?! [a-z])"), _state("diet")),
    (re.compile(
        r"[Ww]e(?:['’]ve| have|['’]re| are)? ?(?:now )?"
        r"(?:decided|agreed|chose|settled|opted|going|went)"
        rf"(?: (?:to use|to go with|on|for|with|on using|upon))? {_TOOL}"), _use),
    (re.compile(
        r"[Ww]e(?:['’]ve| have)? ?(?:now )?(?:switched|moved|migrated|changed) "
        rf"(?:from [\w.+#-]+ )?to {_TOOL}"), _use),
    (re.compile(
        rf"(?:[Ww]e|I)(?:['’]ve| have)? ?{_NOW}(?:upgraded|updated|downgraded) "
        r"(?P<thing>[\w.+#-]+) "
        r"(?:from [\w.]+ )?to (?:version )?v?(?P<value>\d[\w.]*\d|\d+)"),
        _version),
]  # fmt: skip
_CORRECTION = re.compile(
    r"(?:it|that|he|she|they|the \w+)(?:['’]s| is|['’]re| are)(?: now| actually| really)* "
    r"(?P<value>(?!not\b)[\w@.'’: -]{1,40}?),? (?:and )?not (?P<wrong>[\w@.'’: -]{1,40})$",
    re.IGNORECASE,
)
_PATTERNS.append((_CORRECTION, _correction))
