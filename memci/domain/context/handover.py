"""The handover document of a session: pins, plan, summary and recent interactions (R8).

Messages, pins and summaries are untrusted. They are fenced, or on lines that are no headings, so
that none of them can look like a part of the document. A tool call may appear without its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from memci.domain.context.recent_messages import digest_of_message, without_middle
from memci.domain.context.rendering import days_above
from memci.domain.context.summary_overlap import RepeatedLines
from memci.domain.pages.pins import Pin, pin_pieces
from memci.domain.pages.window_labels import fenced, labels_of, plain_line, plain_name
from memci.domain.search.highlight import Spans, whole
from memci.domain.session.interaction import cut_at_users
from memci.domain.token_counts import Count
from memci.errors import BudgetTooSmallError
from memci.language.detection import Language
from memci.language.summary_lines import format_lines, parse_lines
from memci.message import JsonObject, Message

# A user's message and all messages before the next one, in order.
Exchange: TypeAlias = tuple[Message, ...]

# If short tool results are not enough, messages are cut to these characters: the content, and the
# arguments of all calls together. Each call keeps at least ``_LEAST``.
_CUTS = (800, 240)
_LEAST = 40
_END = 0.3  # the share at the end


def exchanges(messages: Iterable[Message]) -> list[Exchange]:
    """Cut messages (ascending seq) at those of users; notes are left out."""
    return [tuple(each) for each in cut_at_users(messages)]


def fitting_exchanges(
    candidates: Sequence[Exchange], room: int, size: Callable[[Exchange], int]
) -> list[Exchange]:
    """Return the newest exchanges that fit, each in the longest form that fits.

    Tool results are shortened first, then all messages are cut, and then the oldest are left out.
    """
    taken: list[list[tuple[Exchange, int]]] = []
    for exchange in reversed(candidates):
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


def _forms(exchange: Exchange) -> list[Exchange]:
    """Return an exchange whole, and in ever shorter forms."""
    brief = tuple(map(digest_of_message, exchange))
    return [exchange, brief, *(tuple(_cut(each, most) for each in brief) for most in _CUTS)]


def _cut(message: Message, most: int) -> Message:
    """Cut the content, and the arguments of all tool calls together."""
    content = message.content and _shorten(message.content, most)
    each = max(_LEAST, most // max(1, len(message.tool_calls)))
    calls = tuple(_shorter_call(call, each) for call in message.tool_calls)
    return replace(message, content=content, tool_calls=calls)


def _shorter_call(call: JsonObject, most: int) -> JsonObject:
    function = call.get("function") or {}
    arguments = str(function.get("arguments", ""))
    if len(arguments) <= most:
        return call
    return {**call, "function": {**function, "arguments": _shorten(arguments, most)}}


def _shorten(text: str, most: int) -> str:
    return without_middle(text, most, int(most * _END))


# Shortens a summary to a number of characters; "" if nothing useful is left.
Shorten: TypeAlias = Callable[[str, int], str]


_WORDS = {
    Language.ENGLISH: {
        "title": "Handover",
        "session": "Handover of session {}",
        "plan": "Plan",
        "summary": "What was said before, in short",
        "recent": "What was said last, word for word",
        "shortened": "What was said last, with … where something is cut",
        "no_summary": "(What was said before is not summed up here, for want of room)",
        "unread": "({:,} messages after this are not summed up yet)",
        "left_out": "({:,} messages before the next are not here word for word, for want of room)",
        "all_left_out": "({:,} messages are not here word for word, for want of room)",
    },
    Language.CHINESE: {
        "title": "交接",
        "session": "会话 {} 的交接",
        "plan": "计划",
        "summary": "此前内容摘要",
        "recent": "最近的对话原文",
        "shortened": "最近的对话，以…标出删节之处",
        "no_summary": "（因篇幅所限，此处没有此前内容的摘要）",
        "unread": "（此后另有 {:,} 条消息尚未摘要）",
        "left_out": "（因篇幅所限，此处略去原文 {:,} 条消息）",
        "all_left_out": "（因篇幅所限，此处略去原文 {:,} 条消息）",
    },
}
_SUMMARY_SHARE = 0.5  # of the room beside pins and plan, if recent interactions need the rest
_SHRINK = 0.9


@dataclass(frozen=True, slots=True)
class Handover:
    """A handover document."""

    session_id: str | None
    language: Language
    pins: Sequence[Pin] = ()
    plan: str | None = None
    summary: str = ""
    recent: Sequence[Exchange] = ()  # oldest first
    mark: str = "#"  # begins a heading
    unread: int = 0  # messages that are neither in the summary nor recent
    left_out: int = 0  # recent messages that had no room
    shortened: bool = False  # some of the recent messages are cut
    summary_left_out: bool = False  # for lack of room
    today: date | None = None  # the day on which the document is read, if known
    spans: Spans = whole  # cuts sentences

    def text(self) -> str:
        """Return the document."""
        blocks = [*self._fixed_blocks(), *self._summary_blocks(), *self._recent_blocks()]
        return "\n\n".join(block.strip("\n") for block in blocks) + "\n"

    @property
    def messages(self) -> list[Message]:
        """The messages of the document, whole or cut."""
        return [message for each in self.recent for message in each if message.text]

    def without_repeated_lines(self) -> Handover:
        """Return it without lines of the summary that messages or pins repeat (R14)."""
        repeated = RepeatedLines(self.messages, (each.text for each in self.pins), self.spans)
        lines = parse_lines(self.summary)
        left = repeated.left_of(lines)
        # A summary without repeated lines stays as it was written.
        return self if left == lines else replace(self, summary=format_lines(left))

    def within(self, budget: int, count: Count, shorten: Shorten) -> Handover:
        """Return it with at most ``budget`` tokens; the oldest recent messages are left out first.

        The summary gets half of the room beside pins and plan, and the rest of the recent messages'
        room. Raises ``BudgetTooSmallError`` if pins and plan alone do not fit.
        """
        if count((complete := self.without_repeated_lines()).text()) <= budget:
            return complete
        bare = replace(self, summary="", recent=())
        least = count(bare.text())
        if least > budget:
            raise BudgetTooSmallError(
                f"budget_tokens is {budget}, but heading, pins and plan take {least}: ask for at "
                "least so many, or take pins down",
                needs={"pins and plan": least},
            )
        room = least + int((budget - least) * _SUMMARY_SHARE)
        cut = replace(bare, summary=self.summary).without_repeated_lines()
        cut = _summary_within(cut, room, count, shorten)
        # Removing lines that recent messages repeat makes room for more messages.
        left = self._with_recent(cut, budget, count).without_repeated_lines().summary
        left_out = bool(self.summary.strip()) and not left
        cut = replace(cut, summary=left, summary_left_out=left_out)
        cut = self._with_recent(cut, budget, count)
        # The summary gets the rest of the recent messages' room.
        return cut.with_summary(self.summary, budget, count, shorten)

    def with_summary(self, summary: str, budget: int, count: Count, shorten: Shorten) -> Handover:
        """Return it with another summary, shortened to the remaining room."""
        complete = replace(self, summary=summary).without_repeated_lines()
        return _summary_within(complete, budget, count, shorten)

    def _with_recent(self, cut: Handover, budget: int, count: Count) -> Handover:
        days = self._days(self.messages)
        around = "\n\n".join(["", *self._heading(len(self.messages), shortened=True)])
        room = budget - count(cut.text()) - count(around)
        # The first of them may need its day.
        room -= max(map(count, days.values()), default=0)

        def tokens(exchange: Exchange) -> int:
            return sum(count(f"{each}\n\n") for each in self._written(exchange, days))

        taken = fitting_exchanges(self.recent, room, tokens)
        full = {each.seq: each.text for each in self.messages}
        while True:
            fits = replace(cut, recent=taken)
            fits = replace(
                fits,
                left_out=len(full) - len(fits.messages),
                shortened=any(each.text != full[each.seq] for each in fits.messages),
            )
            if count(fits.text()) <= budget:
                return fits
            if not taken:
                return cut
            # Tokens of a text are not the sum of its pieces' tokens.
            taken = taken[1:]

    def _fixed_blocks(self) -> list[str]:
        words, labels = _WORDS[self.language], labels_of(self.language)
        name = plain_name(self.session_id)
        blocks = [f"{self.mark} {words['session'].format(name) if name else words['title']}"]
        blocks += ["".join(pin_pieces(self.pins, labels, self.mark * 2))] if self.pins else []
        plan = (self.plan or "").strip()
        return [
            *blocks,
            *([f"{self.mark * 2} {words['plan']}", _plain_lines(plan)] if plan else []),
        ]

    def _summary_blocks(self) -> list[str]:
        words = _WORDS[self.language]
        if not self.summary.strip():
            return [words["no_summary"]] if self.summary_left_out else []
        unread = [words["unread"].format(self.unread)] if self.unread else []
        return [f"{self.mark * 2} {words['summary']}", _plain_lines(self.summary), *unread]

    def _recent_blocks(self) -> list[str]:
        messages = self._written(self.messages, self._days(self.messages))
        if messages:
            return [*self._heading(self.left_out, shortened=self.shortened), *messages]
        words = _WORDS[self.language]
        return [words["all_left_out"].format(self.left_out)] if self.left_out else []

    def _heading(self, left_out: int, *, shortened: bool) -> list[str]:
        words = _WORDS[self.language]
        heading = words["shortened"] if shortened else words["recent"]
        missing = [words["left_out"].format(left_out)] if left_out else []
        return [f"{self.mark * 2} {heading}", *missing]

    def _days(self, messages: Sequence[Message]) -> dict[int, str]:
        """Return the day headings above messages, by seq, where the reader cannot know them."""
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


def _summary_within(handover: Handover, room: int, count: Count, shorten: Shorten) -> Handover:
    """Shorten the summary until the document has at most ``room`` tokens, or leave it out."""
    handover = replace(handover, summary_left_out=False)
    text, tokens = handover.summary, count(handover.text())
    if tokens <= room:
        return handover
    of_summary = max(1, count(text))
    target = len(text) * max(0, of_summary - (tokens - room)) // of_summary
    while target > 0 and (shorter := shorten(text, target)):
        fits = replace(handover, summary=shorter)
        if count(fits.text()) <= room:
            return fits
        target = min(int(target * _SHRINK), len(shorter) - 1)
    without = replace(handover, summary="", summary_left_out=True)
    if count(without.text()) <= room:
        return without
    return replace(without, summary_left_out=False)


def _plain_lines(text: str) -> str:
    return "\n".join(map(plain_line, text.strip().splitlines()))
