"""Name the relation of a memory to a focus point (M6), by the clause that mentions it.

A wrong name is worse than "about", so a rule fits only if the focus is object or subject of the
verb, in a clause that is no question, negation or supposition. The name serves both directions:
recall writes "[forgotten] plans: Lisbon" and "[forgotten] plans: We go to Lisbon in May".
"""

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from memci.language.clauses import clauses, has_negation
from memci.language.detection import Language
from memci.language.loading import TaskData
from memci.language.sentences import sentences


class _Rule(NamedTuple):
    """The relation of a focus in a clause with this pattern; see ``relations.en.toml``."""

    relation: str
    pattern: re.Pattern[str]
    denied: bool
    unless: frozenset[str]


_DATA = TaskData("relations")
_UNDECIDED = _DATA.pattern("undecided")
_ABOUT = {Language.ENGLISH: "about", Language.CHINESE: "关于"}
# The focus was carried over from an earlier segment: this one does not mention it.
_CONCERNS = {Language.ENGLISH: "concerns", Language.CHINESE: "涉及"}
# Replaces the focus in a clause; it never occurs in texts.
_FOCUS = "\ue000"
_LONGEST_CLAUSE = 400
_LATIN = re.compile(r"[0-9A-Za-zÀ-ɏ]")


@functools.cache
def _rules(language: Language) -> tuple[_Rule, ...]:
    whole_object = _FOCUS + _DATA.source("object_ends")
    rules = []
    for row in _DATA.rows("rules", language):
        source = _DATA.expand(row["pattern"], language)
        source = source.replace("<>", whole_object).replace("{}", _FOCUS)
        pattern = re.compile(source, re.IGNORECASE)
        unless = frozenset(row.get("unless", "").split())
        rules.append(_Rule(row["relation"], pattern, row.get("denied", False), unless))
    return tuple(rules)


class OfflineRelationNamer:
    """The first rule that fits a clause with the focus in it, else "about" or "concerns"."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation for each focus point, in their order."""
        mentions = [_mention(text, each) for each in focus]
        # Not cached, so that no text outlives its erasure (M25).
        statements = _statements(text, language) if any(mentions) else []
        return [
            _relation(statements, each, mention, language) if mention else _CONCERNS[language]
            for each, mention in zip(focus, mentions, strict=True)
        ]


def _mention(text: str, focus: str) -> re.Pattern[str] | None:
    """Return a pattern for the focus in the text, or None if it is not there."""
    if not focus or focus.lower() not in text.lower():
        return None
    mention = re.compile(_whole_word(focus), re.IGNORECASE)
    return mention if mention.search(text) else None


def _relation(
    statements: Sequence[str], focus: str, mention: re.Pattern[str], language: Language
) -> str:
    last = (focus.lower().split() or [""])[-1]
    for statement in statements:
        marked, found = mention.subn(_FOCUS, statement)
        if found:
            denied = has_negation(marked, language)
            for rule in _rules(language):
                fits = (rule.denied or not denied) and last not in rule.unless
                if fits and rule.pattern.search(marked):
                    return rule.relation
    return _ABOUT[language]


def _statements(text: str, language: Language) -> list[str]:
    """Return the clauses, then the sentences, that are no questions or suppositions."""
    found = [(each.text, each.end) for each in clauses(text, language)]
    found += [(each, "") for each in sentences(text)]
    shorter = [(clause[:_LONGEST_CLAUSE].replace(_FOCUS, " "), end) for clause, end in found]
    return [clause for clause, end in shorter if not _UNDECIDED.search(clause + end)]


def _whole_word(focus: str) -> str:
    """Return a pattern for the focus as a whole word: "ER" is not in "easier"."""
    before = r"(?<![0-9A-Za-zÀ-ɏ])" if _LATIN.match(focus) else ""
    after = r"(?![0-9A-Za-zÀ-ɏ])" if _LATIN.match(focus[-1]) else ""
    return before + re.escape(focus) + after
