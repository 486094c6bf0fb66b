"""Which key messages are pinned, and which pins give way to them (R7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Maker, Pin
from memci.language.key_messages.detector import words_of
from memci.language.key_messages.rules import PinKind
from memci.language.key_messages.single_values import settled_by

# What the line of a pin takes beside its text, in tokens: its number and its kind.
_LINE_TOKENS = 8


@dataclass(frozen=True, slots=True)
class KeyPins:
    """Pins after some more were found; ``taken_down`` are numbers of older ones that gave way."""

    added: tuple[Pin, ...]
    taken_down: tuple[int, ...]


def pinned(
    found: Iterable[Pin],
    there: Sequence[Pin],
    refused: Sequence[Pin],
    rules: PageRules,
    tokens_of: Callable[[str], int],
) -> KeyPins:
    """Return what becomes of findings, the oldest first, beside the pins that are ``there``.

    ``refused``: findings that somebody has taken down; their words are not pinned again. Nor are
    words that who would see them sees already. Nobody is shown more findings, or tokens of them,
    than the rules allow, nor more pins: the oldest finding gives way, and no other pin ever does.
    So does a finding whose matter a newer one of the same speaker settles otherwise, in whatever
    order the two are found.
    """
    pins = list(there)
    added: list[Pin] = []
    for each in found:
        overtaken = any(_settles_anew(known, each) for known in pins)
        if overtaken or any(_says(known, each) for known in refused):
            continue
        pins = [old for old in pins if not _settles_anew(each, old)]
        if not any(_says(known, each) for known in pins):
            pins.append(each)
            added.append(each)
            for old in _too_many(pins, each, rules, tokens_of):
                pins.remove(old)
    stay = {each.number for each in pins}
    gone = tuple(each.number for each in there if each.number not in stay)
    return KeyPins(tuple(each for each in added if each.number in stay), gone)


def bound_to(kind: PinKind, session_id: str | None) -> str | None:
    """Return the session in which alone a finding is shown: a task is its session's (None: all)."""
    return session_id if kind is PinKind.TASK else None


def _says(known: Pin, found: Pin) -> bool:
    """Tell whether a pin says what was found, and is seen wherever the finding would be."""
    seen = known.user_id in {None, found.user_id} and known.session_id in {None, found.session_id}
    return seen and f" {words_of(found.text)} " in f" {words_of(known.text)} "


def _settles_anew(new: Pin, old: Pin) -> bool:
    """Tell whether a finding settles otherwise what another of the same speaker has settled before.

    Before is by when it was said. Another session may be about another budget, unless it says that
    something has changed. A task is more than what it says of one matter.
    """
    same = (old.by, old.user_id, old.speaker) == (new.by, new.user_id, new.speaker)
    if not same or new.by != Maker.DETECTOR or _age(old) >= _age(new):
        return False
    before, now = settled_by(old.text), settled_by(new.text)
    if before is None or now is None or PinKind.TASK in {old.kind, new.kind}:
        return False
    if before.matter != now.matter or before.value == now.value:
        return False
    return now.anywhere or now.changed or old.said_in == new.said_in


def _age(finding: Pin) -> tuple[datetime, int, tuple[int, int]]:
    """Order findings by when they were said, then by where they stand."""
    return finding.created_at, finding.message_seq or 0, finding.span or (0, 0)


def _too_many(
    pins: Sequence[Pin], newest: Pin, rules: PageRules, tokens_of: Callable[[str], int]
) -> list[Pin]:
    """Return the oldest findings that make room for others: for each user who sees the newest."""
    users: Collection[str | None] = [newest.user_id]
    if newest.user_id is None:
        users = {None, *(each.user_id for each in pins)}
    going: list[Pin] = []
    for user in users:
        seen = [each for each in pins if each.user_id in {None, user} and each not in going]
        going += _going(seen, rules, tokens_of)
    return going


def _going(seen: Sequence[Pin], rules: PageRules, tokens_of: Callable[[str], int]) -> Iterator[Pin]:
    costs = {each.number: tokens_of(each.text) + _LINE_TOKENS for each in seen}
    findings = [each for each in seen if each.by == Maker.DETECTOR]
    own = sum(costs[each.number] for each in findings)
    every, count, number = sum(costs.values()), len(findings), len(seen)
    for each in findings:
        fits = count <= rules.key_messages_max and own <= rules.key_messages_max_tokens
        if fits and number <= rules.max_pins and every <= rules.pins_max_tokens:
            return
        yield each
        own, every = own - costs[each.number], every - costs[each.number]
        count, number = count - 1, number - 1
