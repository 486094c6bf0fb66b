"""Read claims in a text by patterns, in English and Chinese: few, but reliable (R6).

``data/claims.*.toml`` holds the patterns. Each rule there names the function below that reads its
matches.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from memci.language.claims.claim import Claim
from memci.language.detection import Language, language_of
from memci.language.loading import TaskData

_DATA = TaskData("claims")
_SENTENCE = {each: _DATA.pattern("sentence", each, flags=0) for each in Language}
_CLAUSE, _NOT_ASSERTED, _LEAD, _TAIL, _SHORT = (
    {each: _DATA.pattern(name, each) for each in Language}
    for name in ("clause", "not_asserted", "lead", "tail", "short")
)
# The claims of longer sentences are uncertain.
_LONGEST_SENTENCE = 300
_LONGEST_PURPOSE = 4  # words
_DENIED = re.compile(r"(?:no longer|not)\b|不", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:the|our|my|a)\b")
# A speaker who says "ours" of a home or a job shares it.
_OURS = re.compile("我们?(?:全家|一家人?|家)?")
_NOBODY = _DATA.words("nobody")
_SAME_STATE: dict[str, str] = _DATA.table("same", Language.CHINESE)
# Attributes of persons: "the phone is …" names none.
_PERSONAL = frozenset(("age", "name", "phone", "email", "birthday"))

_TOWNS, _COUNTRIES, _STATES = (
    frozenset(_DATA.source(name).split("|")) for name in ("towns", "countries", "states")
)
_PARTS_OF_TOWNS = ("区", "镇", "村", "路", "街", "street", "road", "avenue", "district")
_NO_PLACE_WORDS = _DATA.words("no_places")
_NO_PLACE = _DATA.pattern("no_place", flags=0)
_CITY_MARK = _DATA.pattern("city_mark", flags=0)
_PROVINCE_MARK = _DATA.pattern("province_mark", flags=0)
_DISTRICT_OF_CITY = _DATA.pattern("in_a_city", flags=0)
_NO_FIRM = _DATA.pattern("no_firm", flags=0)
_FIRMS = frozenset(_DATA.source("firms").split("|"))

_SPEAKER_IS = _DATA.pattern("identity", flags=0)
_ELLIPTIC = _DATA.pattern("elliptic", flags=0)
_TURN = _DATA.pattern("turn", flags=0)
_GOES_ON = _DATA.pattern("goes_on", flags=0)
_AT_FIRM = _DATA.pattern("at_firm", flags=0)


class _Attribute(NamedTuple):
    nouns: re.Pattern[str]
    key: str
    value: re.Pattern[str]  # the form of its value


_ATTRIBUTES = {
    language: [
        _Attribute(
            re.compile(row["nouns"], re.IGNORECASE),
            row["key"],
            _DATA.compile(row["value"], language),
        )
        for row in _DATA.rows("attributes", language)
    ]
    for language in Language
}


@dataclass(frozen=True, slots=True)
class _Match:
    found: re.Match[str]
    speaker: str
    clause: str
    language: Language
    attribute: str  # of the rule

    def group(self, name: str) -> str:
        return self.found.groupdict().get(name) or ""

    def cleaned(self, name: str) -> str:
        """Return a group without its tail."""
        return self.without_tail(self.group(name)).strip(" ,.'’!")

    def without_tail(self, text: str) -> str:
        return _TAIL[self.language].sub("", f" {text.strip()}").strip()

    @property
    def subject(self) -> str | None:
        """The key of the subject; ``*`` for all participants; None if the clause names none."""
        who = re.sub(r"['’]s$", "", " ".join(self.group("who").split())).casefold()
        if who in {"", "our", "the"} or who.startswith("我们"):
            return "*"
        if who in {"i", "my", "我"}:
            return self.speaker
        for mine in ("my ", "我的", "我"):
            if who.startswith(mine):
                return f"{self.speaker}/{who.removeprefix(mine)}"
        return None if who.split()[0] in _NOBODY else who

    @property
    def resident(self) -> str | None:
        """The key of the person whose home or workplace the clause names."""
        shared = self.group("ours") or _OURS.fullmatch(self.group("who"))
        return self.speaker if shared else self.subject

    def claim(self, subject: str | None, attribute: str, value: str) -> Claim | None:
        if subject is None:
            return None
        if self.group("ends"):
            return Claim(subject, attribute, None, value, self.clause)
        return Claim(subject, attribute, value, None, self.clause)


def _home(match: _Match) -> Claim | None:
    """Read where somebody lives."""
    name = match.group("value").strip(" .'’")
    if name.casefold().split()[0] in _NO_PLACE_WORDS or _NO_PLACE.fullmatch(name):
        return None
    name = _PROVINCE_MARK.sub(r"\1", _CITY_MARK.sub(r"\1", name))
    district = _DISTRICT_OF_CITY.fullmatch(name)
    level = place_level(district[1] if district else name)
    return match.claim(match.resident, f"lives in/{level}", name)


def _move(match: _Match) -> Claim | None:
    """Read where "we" moved, if it is a town or a home: teams also move to tools."""
    name = " ".join(match.group("value").strip(" .'’").casefold().split())
    known = name in _TOWNS | _COUNTRIES | _STATES
    return _home(match) if known or match.group("home") else None


def _place(match: _Match) -> Claim | None:
    """Read where somebody works or studies."""
    name = match.group("called") or match.group("value").strip(" .'’")
    if name not in _FIRMS and _NO_FIRM.fullmatch(name):
        return None
    return match.claim(match.resident, match.attribute, name)


def _owned(match: _Match) -> Claim | None:
    """Read an attribute of a person or thing: "my rent is …"."""
    noun, value, subject = match.group("noun").casefold(), match.cleaned("value"), match.subject
    attribute = next(each for each in _ATTRIBUTES[match.language] if each.nouns.fullmatch(noun))
    if not value or _DENIED.match(value) or not attribute.value.search(value):
        return None
    thing = " ".join(match.group("thing").casefold().split())
    key = attribute.key
    if key == "price":
        key = noun
    if key == "favourite":
        key = noun.replace("favorite", "favourite")
    if subject == "*" and (
        attribute.key == "favourite" or (key in _PERSONAL and (not thing or not thing.isascii()))
    ):
        return None
    return match.claim(subject, " of ".join(filter(None, (key, thing))), value)


def _state(match: _Match) -> Claim | None:
    """Read a state of a person: 34 years old, married, vegan."""
    value = match.group("value")
    return match.claim(match.subject, match.attribute, _SAME_STATE.get(value, value))


def _short(match: _Match) -> Claim | None:
    """Read a value of few words: a job, a version, a favourite."""
    value = match.cleaned("value")
    attribute = match.attribute.format(thing=match.group("thing").casefold())
    if not _SHORT[match.language].match(value):
        return None
    return match.claim(match.subject, attribute, value)


def _use(match: _Match) -> Claim | None:
    """Read what "we" use for a purpose."""
    value = match.cleaned("value")
    purpose = " ".join(_ARTICLE.sub("", match.group("thing").casefold()).split())
    purpose = match.without_tail(purpose)
    if not value or not purpose or len(purpose.split()) > _LONGEST_PURPOSE:
        return None
    return match.claim("*", f"use for {purpose}", value)


def _correction(match: _Match) -> Claim | None:
    """Read "it's Y, not Z"."""
    value, wrong = match.group("value"), match.group("wrong")
    if match.language is Language.CHINESE:  # without particles
        value, wrong = match.without_tail(value), match.without_tail(wrong)
    value, wrong = value.strip(), wrong.strip(" .!")
    return Claim("", "", value, wrong, match.clause) if value and wrong else None


_READERS: dict[str, Callable[[_Match], Claim | None]] = {
    "home": _home,
    "move": _move,
    "place": _place,
    "owned": _owned,
    "state": _state,
    "short": _short,
    "use": _use,
    "correction": _correction,
}


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    read: Callable[[_Match], Claim | None]
    attribute: str
    unless: re.Pattern[str] | None  # must not be in the clause


def _rules(language: Language) -> list[_Rule]:
    nouns = "|".join(row["nouns"] for row in _DATA.rows("attributes", language))

    def compiled(source: str) -> re.Pattern[str]:
        return _DATA.compile(source.replace("{nouns}", nouns), language, flags=0)

    return [
        _Rule(
            compiled(row["pattern"]),
            _READERS[row["read"]],
            row.get("attribute", ""),
            compiled(row["unless"]) if "unless" in row else None,
        )
        for row in _DATA.rows("rules", language)
    ]


_RULES = {language: _rules(language) for language in Language}


def claims_in(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a speaker about attributes with one value at a time, in order.

    ``speaker`` is the key for "I". Questions, wishes, guesses, plans, hearsay, tales of the past
    and denials contain no claims. Attributes that may have several values at once (likes, owns,
    has visited) are left out.
    """
    language, key = language_of(text), " ".join(speaker.casefold().split())
    return [
        claim
        for sentence in _SENTENCE[language].findall(text)
        if len(sentence) <= _LONGEST_SENTENCE
        and not sentence.rstrip().endswith(("?", "？"))
        and not _NOT_ASSERTED[language].search(sentence)
        for claim in _claims(_clauses(sentence, language), key, language)
    ]


def place_level(place: str) -> str:
    """Return ``country``, ``state``, ``part`` (of a town) or ``town``."""
    folded = " ".join(place.casefold().split())
    if folded in _COUNTRIES:
        return "country"
    if folded.removesuffix("省") in _STATES:
        return "state"
    return "part" if folded.endswith(_PARTS_OF_TOWNS) else "town"


def _clauses(sentence: str, language: Language) -> Iterator[str]:
    """Cut a sentence into clauses; the two halves of a correction stay together."""
    whole = sentence.strip().strip("。！；").rstrip(".!;").strip()
    bare = _without_lead(whole, language)
    if any(rule.read is _correction and rule.pattern.match(bare) for rule in _RULES[language]):
        yield whole
    else:
        yield from filter(None, (part.strip() for part in _CLAUSE[language].split(whole)))


def _claims(clauses: Iterable[str], speaker: str, language: Language) -> Iterator[Claim]:
    """Yield the claims of successive clauses.

    A Chinese clause without a subject takes that of the clause before, if it is the speaker: in
    other cases the subject is uncertain.
    """
    before, of_speaker = "", False
    for clause in clauses:
        text = _without_lead(clause, language)
        turn = _TURN.match(before)
        if turn and _GOES_ON.match(clause):
            text = "我" + clause
            if not turn["home"] and _AT_FIRM.search(text):
                text += "工作"
        elif of_speaker and _ELLIPTIC.match(clause):
            text = "我" + clause
        claim = _claim(clause, text, speaker, language)
        if claim is not None:
            yield claim
        of_speaker = (claim is not None and claim.subject == speaker) or bool(
            _SPEAKER_IS.match(text)
        )
        before = text


def _without_lead(clause: str, language: Language) -> str:
    lead = _LEAD[language].match(clause)
    return clause[lead.end() :].strip() if lead and lead.end() < len(clause) else clause


def _claim(clause: str, text: str, speaker: str, language: Language) -> Claim | None:
    for rule in _RULES[language]:
        found = rule.pattern.match(text)
        if found and not (rule.unless and rule.unless.search(clause)):
            claim = rule.read(_Match(found, speaker, clause, language, rule.attribute))
            if claim is not None:
                return claim
    return None
