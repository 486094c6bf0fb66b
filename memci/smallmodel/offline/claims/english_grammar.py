"""Parts of English sentences that assert something, as patterns."""

from __future__ import annotations

import re

from memci.smallmodel.offline.claims.english_names import WHEN

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
