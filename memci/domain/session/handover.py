"""The handover document of a session: pins, plan, summary and recent interactions (R8).

What was said, pinned or summed up is untrusted: it is fenced, or on lines that are no headings, so
that none of it can look like a part of the document.

A document is no chat: a call stands there without its result, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from memci.domain.context.recent_messages import CUT, digest_of_message, head, tail
from memci.domain.context.rendering import days_above
from memci.domain.context.summary_overlap import RepeatedLines
from memci.domain.context.token_budget import Count
from memci.domain.pages.labels import fenced, labels_of, plain_line, plain_name
from memci.domain.pages.pins import Pin, pin_pieces
from memci.domain.search.highlight import Spans, whole
from memci.domain.session.interaction import cut_at_users
from memci.errors import BudgetTooSmallError
from memci.language.detection import Language
from memci.language.summary_lines import lines_of, under_days
from memci.message import JsonObject, Message

# A user's message and all that comes before the next, in order.
Exchange: TypeAlias = tuple[Message, ...]

# Characters that are left of each message, where tool results in brief do not make room enough:
# of its content, and of all that it calls tools with, of each call no fewer than the least.
_CUTS = (800, 240)
_LEAST = 40
_END = 0.3  # of these, at its end


def exchanges(messages: Iterable[Message]) -> list[Exchange]:
    """Cut messages (ascending seq) at those of users; of notes, said to nobody, none is left."""
    return [tuple(each) for each in cut_at_users(messages)]


def in_room(said: Sequence[Exchange], room: int, size: Callable[[Exchange], int]) -> list[Exchange]:
    """Return the newest of these, as many as fit, each in the longest form that still does.

    Results of tools give way first, then all messages are cut, and then the oldest are left out.
    """
    taken: list[_Sized] = []
    for exchange in reversed(said):
        forms = [(form, size(form)) for form in _forms(exchange)]
        least = forms[-1][1]
        if least > room:
            break
        room -= least
        taken.append(forms)
    chosen = [len(forms) - 1 for forms in taken]
    for form in reversed(range(len(_CUTS) + 1)):
        for place, forms in enumerate(taken):
            more = forms[form][1] - forms[chosen[place]][1]
            if more <= room:
                room -= more
                chosen[place] = form
    return [forms[form][0] for forms, form in zip(taken, chosen, strict=True)][::-1]


_Sized: TypeAlias = list[tuple[Exchange, int]]


def _forms(exchange: Exchange) -> list[Exchange]:
    """Return it as it is and ever shorter; none is longer than the one before."""
    brief = tuple(map(digest_of_message, exchange))
    return [exchange, brief, *(tuple(_cut(each, most) for each in brief) for most in _CUTS)]


def _cut(message: Message, most: int) -> Message:
    """Cut its content and, all together, what it calls tools with; which tools it calls stays."""
    content = message.content and _shorter(message.content, most)
    each = max(_LEAST, most // max(1, len(message.tool_calls)))
    calls = tuple(_with_less(call, each) for call in message.tool_calls)
    return replace(message, content=content, tool_calls=calls)


def _with_less(call: JsonObject, most: int) -> JsonObject:
    function = call.get("function") or {}
    arguments = str(function.get("arguments", ""))
    if len(arguments) <= most:
        return call
    return {**call, "function": {**function, "arguments": _shorter(arguments, most)}}


def _shorter(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = int(most * _END)
    return f"{head(text, most - end - len(CUT))}{CUT}{tail(text, end)}"


# Returns what a summary says in at most so many characters; nothing rather than a scrap.
Shorten: TypeAlias = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    session: str
    plan: str
    summary: str
    recent: str
    shortened: str
    no_summary: str
    unread: str
    left_out: str
    all_left_out: str


_ENGLISH = _Words(
    title="Handover",
    session="Handover of session {}",
    plan="Plan",
    summary="What was said before, in short",
    recent="What was said last, word for word",
    shortened="What was said last, with … where something is cut",
    no_summary="(What was said before is not summed up here, for want of room)",
    unread="({:,} messages after this are not summed up yet)",
    left_out="({:,} messages before the next are not here word for word, for want of room)",
    all_left_out="({:,} messages are not here word for word, for want of room)",
)
_CHINESE = _Words(
    title="交接",
    session="会话 {} 的交接",
    plan="计划",
    summary="此前内容摘要",
    recent="最近的对话原文",
    shortened="最近的对话，以…标出删节之处",
    no_summary="（因篇幅所限，此处没有此前内容的摘要）",
    unread="（此后另有 {:,} 条消息尚未摘要）",
    left_out="（因篇幅所限，此处略去原文 {:,} 条消息）",
    all_left_out="（因篇幅所限，此处略去原文 {:,} 条消息）",
)
_SUMMARY_SHARE = 0.5  # of what pins and plan leave, at most, while recent interactions want room
_SHRINK = 0.9


@dataclass(frozen=True, slots=True)
class Handover:
    """What there is to hand over; ``mark`` begins a heading, ``recent`` is oldest first.

    ``unread`` messages before these are in neither; ``left_out`` are too many for its budget, and
    what is left of some is ``shortened``. Its ``summary`` is ``too_long`` for it, and left out.
    ``today``: the day on which it is read, if that is told. ``spans`` tells where sentences are.
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
    too_long: bool = False
    today: date | None = None
    spans: Spans = whole

    def text(self) -> str:
        """Return the document."""
        blocks = [*self._fixed(), *self._summed_up(), *self._recent()]
        return "\n\n".join(block.strip("\n") for block in blocks) + "\n"

    @property
    def messages(self) -> list[Message]:
        """The messages that stand in it, whole or cut."""
        return [message for each in self.recent for message in each if message.text]

    def once(self) -> Handover:
        """Return it without lines of the summary that say what else stands in it (R14)."""
        beside = RepeatedLines(self.messages, (each.text for each in self.pins), self.spans)
        lines = lines_of(self.summary)
        left = beside.left_of(lines)
        # A summary of which all is left stands there as it was written.
        return self if left == lines else replace(self, summary=under_days(left))

    def within(self, budget: int, count: Count, shorten: Shorten) -> Handover:
        """Return it with at most ``budget`` tokens: what was said last is cut, oldest goes first.

        Of what pins and plan leave the summary gets half, and more where nothing else wants it.
        Raises ``BudgetTooSmallError`` where pins and plan alone do not fit.
        """
        if count((all_of_it := self.once()).text()) <= budget:
            return all_of_it
        bare = replace(self, summary="", recent=())
        least = count(bare.text())
        if least > budget:
            raise BudgetTooSmallError(
                f"budget_tokens is {budget}, but heading, pins and plan take {least}: ask for at "
                "least so many, or take pins down",
                needs={"pins and plan": least},
            )
        room = least + int((budget - least) * _SUMMARY_SHARE)
        held = replace(bare, summary=self.summary).once()
        held = _summary_within(held, room, count, shorten)
        # What stands below the summary is not in it, and makes room for more.
        left = self._with_recent(held, budget, count).once().summary
        held = replace(held, summary=left, too_long=bool(self.summary.strip()) and not left)
        held = self._with_recent(held, budget, count)
        # What the recent interactions did not take is the summary's.
        return held.summed_up_as(self.summary, budget, count, shorten)

    def summed_up_as(self, summary: str, budget: int, count: Count, shorten: Shorten) -> Handover:
        """Return it with another summary, shortened to what the rest leaves of the budget."""
        held = replace(self, summary=summary).once()
        return _summary_within(held, budget, count, shorten)

    def _with_recent(self, held: Handover, budget: int, count: Count) -> Handover:
        """Return ``held`` with what was said last, as much of it as fits."""
        days = self._days(self.messages)
        around = "\n\n".join(["", *self._heading(len(self.messages), shortened=True)])
        room = budget - count(held.text()) - count(around)
        # Whichever of them comes first may need its day.
        room -= max(map(count, days.values()), default=0)
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
        full = {each.seq: each.text for each in self.messages}
        return replace(
            fits,
            left_out=len(full) - len(fits.messages),
            shortened=any(each.text != full[each.seq] for each in fits.messages),
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
        words = _words(self.language)
        if not self.summary.strip():
            return [words.no_summary] if self.too_long else []
        unread = [words.unread.format(self.unread)] if self.unread else []
        return [f"{self.mark * 2} {words.summary}", _plain(self.summary), *unread]

    def _recent(self) -> list[str]:
        said = self._written(self.messages, self._days(self.messages))
        if said:
            return [*self._heading(self.left_out, shortened=self.shortened), *said]
        # Nothing follows, and no heading says that it does.
        words = _words(self.language)
        return [words.all_left_out.format(self.left_out)] if self.left_out else []

    def _heading(self, left_out: int, *, shortened: bool) -> list[str]:
        words = _words(self.language)
        heading = words.shortened if shortened else words.recent
        missing = [words.left_out.format(left_out)] if left_out else []
        return [f"{self.mark * 2} {heading}", *missing]

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
    held = replace(held, too_long=False)
    text, tokens = held.summary, count(held.text())
    if tokens <= room:
        return held
    of_summary = max(1, count(text))
    target = len(text) * max(0, of_summary - (tokens - room)) // of_summary
    while target > 0 and (shorter := shorten(text, target)):
        fits = replace(held, summary=shorter)
        if count(fits.text()) <= room:
            return fits
        target = min(int(target * _SHRINK), len(shorter) - 1)
    told = replace(held, summary="", too_long=True)
    return told if count(told.text()) <= room else replace(told, too_long=False)


def _plain(text: str) -> str:
    return "\n".join(map(plain_line, text.strip().splitlines()))


def _words(language: Language) -> _Words:
    return _CHINESE if language is Language.CHINESE else _ENGLISH
