"""How English clauses assert what they assert, most telling first."""

from __future__ import annotations

import re

from memci.smallmodel.offline.claims.english_attributes import DIET, MARITAL, NOUNS
from memci.smallmodel.offline.claims.english_grammar import BECOMES, NAME, NOW, OWNER, WHO
from memci.smallmodel.offline.claims.english_names import HOME, SOME_HOME, WHEN
from memci.smallmodel.offline.claims.english_readers import (
    Read,
    began,
    correction,
    job,
    owned,
    place,
    shared,
    shared_move,
    state,
    use,
    version,
)

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
