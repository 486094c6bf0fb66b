"""Names how a memory relates to a focus point (M6), by the clause that mentions it.

A wrong name is worse than "about": so a rule fits only where the focus is what the verb is about,
or what does it, in a clause that neither asks, denies nor supposes. The name says what the memory
tells of the focus, and serves both directions: recall writes "[forgotten] plans: Lisbon" and
"[forgotten] plans: We go to Lisbon in May".
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from memci.language.clauses import clauses, has_negation
from memci.language.detection import Language
from memci.language.relation_rules import CHINESE, ENGLISH
from memci.language.sentences import sentences

_RULES = {Language.ENGLISH: ENGLISH, Language.CHINESE: CHINESE}
_ABOUT = {Language.ENGLISH: "about", Language.CHINESE: "关于"}
# The focus was carried over from an earlier segment: this one does not mention it.
_CONCERNS = {Language.ENGLISH: "concerns", Language.CHINESE: "涉及"}
# Stands for the focus in a clause; nobody writes it.
_FOCUS = "\ue000"
_LONGEST_CLAUSE = 400
_OPEN = re.compile(
    r"[?？]\W*$|\b(?:if|unless|whether|would|might|maybe|perhaps|wish)\b|"
    "如果|要是|假如|若|也许|或许|可能|是否|吗|呢[？?]?$|哪|什么",
    re.IGNORECASE,
)
# What may follow a whole object; another word would be what the focus only describes.
_NOTHING_MORE = (
    r"(?! (?!(?:and|or|in|on|at|with|for|to|from|last|this|next|too|now|when|because|but|so|as|by|"
    r"a|an|the|is|was|are|were|after|before|yesterday|today|since|then|during|while|who|which|that|"
    r"tomorrow|again|once|together|about|until|my|our|i|we|a?lot|very|very much|also|where|of)\b)"
    r"(?-i:[a-z]))"
)
_LATIN = re.compile(r"[0-9A-Za-zÀ-ɏ]")


class OfflineRelationNamer:
    """The first rule that fits a clause with the focus in it, else "about" or "concerns"."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation for each focus point, in their order."""
        mentions = [_mention(text, each) for each in focus]
        # Once for all of them, and kept no longer: no text outlives its erasure here (M25).
        said = _said(text, language) if any(mentions) else []
        return [
            _relation(said, each, mention, language) if mention else _CONCERNS[language]
            for each, mention in zip(focus, mentions, strict=True)
        ]

    def name(self, text: str, focus: str, language: Language) -> str:
        """Return a relation such as "about" or "关于", in ``language``."""
        return self.names(text, [focus], language)[0]


def _mention(text: str, focus: str) -> re.Pattern[str] | None:
    """Return what finds the focus in the text; None: it is not there."""
    if not focus or focus.lower() not in text.lower():
        return None
    mention = re.compile(_whole_word(focus), re.IGNORECASE)
    return mention if mention.search(text) else None


def _relation(said: Sequence[str], focus: str, mention: re.Pattern[str], language: Language) -> str:
    last = (focus.lower().split() or [""])[-1]
    for each in said:
        marked, found = mention.subn(_FOCUS, each)
        if found:
            denied = has_negation(marked, language)
            for rule in _RULES[language]:
                fits = (rule.denied or not denied) and last not in rule.unless
                if fits and _compiled(rule.pattern).search(marked):
                    return rule.relation
    return _ABOUT[language]


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a rule once: the clauses have the mark in the place of the focus."""
    whole = pattern.replace("<>", _FOCUS + _NOTHING_MORE)
    return re.compile(whole.replace("{}", _FOCUS), re.IGNORECASE)


def _said(text: str, language: Language) -> list[str]:
    """Return the clauses, then the sentences, that neither ask nor suppose."""
    found = [(each.text, each.end) for each in clauses(text, language)]
    found += [(each, "") for each in sentences(text)]
    shorter = [(said[:_LONGEST_CLAUSE].replace(_FOCUS, " "), end) for said, end in found]
    return [said for said, end in shorter if not _OPEN.search(said + end)]


def _whole_word(focus: str) -> str:
    """Match the focus, but not inside another word: "ER" is not in "easier"."""
    before = r"(?<![0-9A-Za-zÀ-ɏ])" if _LATIN.match(focus) else ""
    after = r"(?![0-9A-Za-zÀ-ɏ])" if _LATIN.match(focus[-1]) else ""
    return before + re.escape(focus) + after
