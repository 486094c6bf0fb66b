"""Decides which key messages are pinned, and which pins they replace (R7)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Maker, Pin, PinKind
from memci.language.sentences import normalized_words
from memci.language.single_values import single_value_of

# Tokens of a pin's line beside its text: its number and its kind.
_LINE_TOKENS = 8
# The share of a context's room for findings: they may be wrong, and what a question needs is
# retrieved beside them.
_CONTEXT_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class KeyPins:
    """The changes by a search for key messages."""

    added: tuple[Pin, ...]
    taken_down: tuple[int, ...]  # numbers of removed older pins


def pinned(
    found: Iterable[Pin],
    present: Sequence[Pin],
    refused: Sequence[Pin],
    rules: PageRules,
    tokens_of: Callable[[str], int],
) -> KeyPins:
    """Return the changes by findings, the oldest first; ``present``: the pins before.

    Not pinned are the words of ``refused`` findings, whose pins were removed, and words that the
    same users see already. Findings that hold no more are removed. No user sees more findings, pins
    or tokens than the rules allow: an old finding is removed, and no other pin. A newer finding
    of the same speaker with a different decision on the same matter also replaces a finding, in any
    order of discovery.
    """
    pins = [each for each in present if not (each.is_over and each.by == Maker.DETECTOR)]
    added: list[Pin] = []
    for each in found:
        overtaken = any(_replaces(known, each) for known in pins)
        if overtaken or any(_repeats(known, each) for known in refused):
            continue
        pins = [old for old in pins if not _replaces(each, old)]
        if not any(_repeats(known, each) for known in pins):
            pins.append(each)
            added.append(each)
            for old in _excess_findings(pins, each, rules, tokens_of):
                pins.remove(old)
    remaining = {each.number for each in pins}
    removed = tuple(each.number for each in present if each.number not in remaining)
    return KeyPins(tuple(each for each in added if each.number in remaining), removed)


def by_people(pins: Iterable[Pin]) -> list[Pin]:
    """Return the pins that are no findings."""
    return [each for each in pins if each.by != Maker.DETECTOR]


def pins_within(pins: Sequence[Pin], room: int, tokens_of: Callable[[str], int]) -> list[Pin]:
    """Return the pins for a context, in order: of findings, the newest that fit.

    They get a tenth of the ``room``: the tokens beside all that is always in the context.
    """
    left = _CONTEXT_SHARE * room
    shown = {each.number for each in by_people(pins)}
    for each in sorted(pins, key=_age, reverse=True):
        cost = tokens_of(each.text) + _LINE_TOKENS
        if each.number not in shown and cost <= left:
            shown.add(each.number)
            left -= cost
    return [each for each in pins if each.number in shown]


def bound_to(kind: PinKind, session_id: str | None) -> str | None:
    """Return the only session that shows a finding (None: all); a task has one."""
    return session_id if kind is PinKind.TASK else None


def _repeats(known: Pin, found: Pin) -> bool:
    """Return True if a pin has the same text, and is shown wherever the finding would be."""
    seen = known.user_id in {None, found.user_id} and known.session_id in {None, found.session_id}
    return seen and f" {normalized_words(found.text)} " in f" {normalized_words(known.text)} "


def _replaces(new: Pin, old: Pin) -> bool:
    """Return True if a finding decides differently than an earlier one of its speaker.

    Another session may be about another matter, unless the finding reports a change. Tasks never
    replace each other.
    """
    same = (old.by, old.user_id, old.speaker) == (new.by, new.user_id, new.speaker)
    if not same or new.by != Maker.DETECTOR or _age(old) >= _age(new):
        return False
    before, now = single_value_of(old.text), single_value_of(new.text)
    if before is None or now is None or PinKind.TASK in {old.kind, new.kind}:
        return False
    if before.matter != now.matter or before.value == now.value:
        return False
    return now.anywhere or now.changed or old.message_session == new.message_session


def _age(finding: Pin) -> tuple[datetime, int, tuple[int, int]]:
    return finding.created_at, finding.message_seq or 0, finding.span or (0, 0)


def _excess_findings(
    pins: Sequence[Pin], newest: Pin, rules: PageRules, tokens_of: Callable[[str], int]
) -> list[Pin]:
    """Return the findings over the limits, for each user who sees the newest one."""
    users: Collection[str | None] = [newest.user_id]
    if newest.user_id is None:
        users = {None, *(each.user_id for each in pins)}
    excess: list[Pin] = []
    for user in users:
        seen = [each for each in pins if each.user_id in {None, user} and each not in excess]
        excess += _excess(seen, rules, tokens_of)
    return excess


def _excess(
    seen: Sequence[Pin], rules: PageRules, tokens_of: Callable[[str], int]
) -> Iterator[Pin]:
    costs = {each.number: tokens_of(each.text) + _LINE_TOKENS for each in seen}
    findings = {each.number: each for each in seen if each.by == Maker.DETECTOR}
    while findings:
        own = [costs[one] for one in findings]
        fits = len(own) <= rules.key_messages_max and sum(own) <= rules.key_messages_max_tokens
        every = costs.values()
        if fits and len(every) <= rules.max_pins and sum(every) <= rules.pins_max_tokens:
            return
        first = _first_to_go(list(findings.values()))
        yield first
        del findings[first.number], costs[first.number]


def _first_to_go(findings: Sequence[Pin]) -> Pin:
    """Return the oldest finding that is no constraint, or is one if more than half are.

    An allergy that a user told once matters longer than a task or a decision.
    """
    constraints = [each for each in findings if each.kind is PinKind.CONSTRAINT]
    if 2 * len(constraints) > len(findings):
        return constraints[0]
    return next(each for each in findings if each.kind is not PinKind.CONSTRAINT)
