"""What is handed over of a session, as one document: pins, plan, summary, recent interactions (R8).

What was said, pinned or summed up is untrusted: it is fenced, or on lines that are no headings, so
that none of it can look like a part of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from memci.domain.context.budget import Count
from memci.domain.context.excerpt import days_above
from memci.domain.context.exchange import Exchange, in_room
from memci.domain.language import Language
from memci.domain.message import Message
from memci.domain.pages.fence import fenced, plain_line, plain_name
from memci.domain.pages.labels import labels_of
from memci.domain.pages.pin import Pin, pin_pieces
from memci.errors import BudgetTooSmallError

# Returns what a summary says in at most so many characters.
Shorten: TypeAlias = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    session: str
    plan: str
    summary: str
    recent: str
    shortened: str
    unread: str
    left_out: str


_ENGLISH = _Words(
    title="Handover",
    session="Handover of session {}",
    plan="Plan",
    summary="What was said before, in short",
    recent="What was said last, word for word",
    shortened="What was said last, with … where something is cut",
    unread="({:,} messages after this are not summed up yet)",
    left_out="({:,} messages before the next are not here word for word, for want of room)",
)
_CHINESE = _Words(
    title="交接",
    session="会话 {} 的交接",
    plan="计划",
    summary="此前内容摘要",
    recent="最近的对话原文",
    shortened="最近的对话，以…标出删节之处",
    unread="（此后另有 {:,} 条消息尚未摘要）",
    left_out="（因篇幅所限，此处略去原文 {:,} 条消息）",
)
_SUMMARY_SHARE = 0.5  # of what pins and plan leave, at most, while recent interactions want room
_SHRINK = 0.9


@dataclass(frozen=True, slots=True)
class Handover:
    """What there is to hand over; ``mark`` begins a heading, ``recent`` is oldest first.

    ``unread`` messages before these are in neither; ``left_out`` are too many for its budget, and
    what is left of some is ``shortened``. ``today``: the day on which it is read, if that is told.
    """

    session_id: str | None
    language: Language
    pins: Sequence[Pin] = ()
    plan: str | None = None
    summary: str = ""
    recent: Sequence[Exchange] = ()
    mark: str = "#"
    unread: int = 0
    left_out: int = 0
    shortened: bool = False
    today: date | None = None

    def text(self) -> str:
        """Return the document."""
        blocks = [*self._fixed(), *self._summed_up(), *self._recent()]
        return "\n\n".join(block.strip("\n") for block in blocks) + "\n"

    @property
    def messages(self) -> list[Message]:
        """The messages that stand in it, whole or cut."""
        return [message for each in self.recent for message in each if message.text]

    def within(self, budget: int, count: Count, shorten: Shorten) -> Handover:
        """Return it with at most ``budget`` tokens: what was said last is cut, oldest goes first.

        Of what pins and plan leave the summary gets half, and more where nothing else wants it.
        Raises ``BudgetTooSmallError`` where pins and plan alone do not fit.
        """
        if count(self.text()) <= budget:
            return self
        bare = replace(self, summary="", recent=())
        least = count(bare.text())
        if least > budget:
            raise BudgetTooSmallError(
                f"budget_tokens is {budget}, but heading, pins and plan take {least}: ask for at "
                "least so many, or take pins down",
                needs={"pins and plan": least},
            )
        room = least + int((budget - least) * _SUMMARY_SHARE)
        held = _summary_within(replace(bare, summary=self.summary), room, count, shorten)
        held = self._with_recent(held, budget, count)
        # What the recent interactions did not take is the summary's.
        return _summary_within(replace(held, summary=self.summary), budget, count, shorten)

    def summed_up_as(self, summary: str, budget: int, count: Count, shorten: Shorten) -> Handover:
        """Return it with another summary, shortened to what the rest leaves of the budget."""
        return _summary_within(replace(self, summary=summary), budget, count, shorten)

    def _with_recent(self, held: Handover, budget: int, count: Count) -> Handover:
        """Return ``held`` with what was said last, as much of it as fits."""
        all_out = replace(held, left_out=len(self.messages), shortened=True)
        days = self._days(self.messages)
        # Whichever of them comes first may need its day.
        room = budget - count(all_out.text()) - max(map(count, days.values()), default=0)
        taken = in_room(self.recent, room, lambda form: self._tokens(form, days, count))
        while True:
            fits = self._fitted(held, taken)
            if count(fits.text()) <= budget:
                return fits
            if not taken:
                return held
            # Pieces together have other tokens than each alone.
            taken = taken[1:]

    def _fitted(self, held: Handover, taken: Sequence[Exchange]) -> Handover:
        """Return ``held`` with so much of what was said last, and what became of the rest."""
        fits = replace(held, recent=taken)
        whole = {each.seq: each.text for each in self.messages}
        return replace(
            fits,
            left_out=len(whole) - len(fits.messages),
            shortened=any(each.text != whole[each.seq] for each in fits.messages),
        )

    def _tokens(self, exchange: Exchange, days: Mapping[int, str], count: Count) -> int:
        """Return about how many tokens an exchange takes in the document."""
        return sum(count(f"{each}\n\n") for each in self._written(exchange, days))

    def _fixed(self) -> list[str]:
        words, labels = _words(self.language), labels_of(self.language)
        name = plain_name(self.session_id)
        blocks = [f"{self.mark} {words.session.format(name) if name else words.title}"]
        blocks += ["".join(pin_pieces(self.pins, labels, self.mark * 2))] if self.pins else []
        plan = (self.plan or "").strip()
        return [*blocks, *([f"{self.mark * 2} {words.plan}", _plain(plan)] if plan else [])]

    def _summed_up(self) -> list[str]:
        if not self.summary.strip():
            return []
        words = _words(self.language)
        unread = [words.unread.format(self.unread)] if self.unread else []
        return [f"{self.mark * 2} {words.summary}", _plain(self.summary), *unread]

    def _recent(self) -> list[str]:
        words = _words(self.language)
        said = self._written(self.messages, self._days(self.messages))
        if self.left_out:
            said.insert(0, words.left_out.format(self.left_out))
        heading = words.shortened if self.shortened else words.recent
        return [f"{self.mark * 2} {heading}", *said] if said else []

    def _days(self, messages: Sequence[Message]) -> dict[int, str]:
        """Return the days that stand above messages, by seq: where a reader cannot know them."""
        days = (each.said_at.date() for each in messages)
        above = days_above(days, self.today, self.language)
        return {each.seq: day for each, day in zip(messages, above, strict=True) if day}

    def _written(self, messages: Sequence[Message], days: Mapping[int, str]) -> list[str]:
        roles = labels_of(self.language).roles
        written = []
        for each in messages:
            if not each.text:
                continue
            written += [days[each.seq].strip()] if each.seq in days else []
            label = f"{roles[each.role.value]} {plain_name(each.name)}".strip()
            written.append(fenced(each.text, label))
        return written


def _summary_within(held: Handover, room: int, count: Count, shorten: Shorten) -> Handover:
    """Shorten the summary until the whole has at most ``room`` tokens; without it, it has."""
    while held.summary and (tokens := count(held.text())) > room:
        of_summary = max(1, count(held.summary))
        left = max(0, of_summary - (tokens - room))
        target = int(len(held.summary) * min(left / of_summary, 1) * _SHRINK)
        shorter = shorten(held.summary, target) if target else ""
        held = replace(held, summary=shorter if len(shorter) < len(held.summary) else "")
    return held


def _plain(text: str) -> str:
    return "\n".join(map(plain_line, text.strip().splitlines()))


def _words(language: Language) -> _Words:
    return _CHINESE if language is Language.CHINESE else _ENGLISH
