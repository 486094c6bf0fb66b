"""Finds repetitions between a summary and the rest of a list (R14).

Blocks that do not depend on the query, such as pins and summaries, stay; retrieved entries give
way. Lines of a summary give way to the messages themselves.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from memci.domain.context.materials import Covered
from memci.domain.context.rendering import named
from memci.domain.pages.pins import Pin
from memci.domain.search.candidate import SAID, Candidate
from memci.domain.search.highlight import Spans, answers, is_courtesy
from memci.language.detection import Language
from memci.language.summary_lines import Line
from memci.language.times.mentions import add_date_notes, remove_date_notes
from memci.message import Message, Role

# The speaker of a line of a summary, in any language.
_LEAD = re.compile(r"[^:：\n]+(?:: |：)")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def wholly_pinned(pins: Iterable[Pin]) -> Iterator[Message]:
    """Yield the messages whose words are all pinned, by one pin or by several together."""
    by_message: defaultdict[int, list[Pin]] = defaultdict(list)
    for pin in pins:
        if pin.message_seq is not None:
            by_message[pin.message_seq].append(pin)
    for seq, each in by_message.items():
        whole = next((pin.text for pin in each if pin.span is None), None)
        text = each[0].message_text if whole is None else whole
        if text is not None and (whole is not None or _covers(text, each)):
            yield Message(seq, "", Role.USER, text, each[0].created_at)


def _covers(text: str, pins: Iterable[Pin]) -> bool:
    left = list(text)
    for pin in pins:
        start, end = pin.span or (0, 0)
        left[start:end] = " " * len(left[start:end])
    return not any(each.isalnum() for each in left)


def quoted_in_full(
    lines: Iterable[str], covered: Covered, found: Iterable[Candidate], spans: Spans
) -> Iterator[Candidate]:
    """Yield the messages and memories of which a summary quotes all but courtesy (R2).

    A memory with one speaker does not name the speaker (R4). Its sentences count as quoted only if
    one person alone says them in the summary.
    """
    leads: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        lead, text = _labelled(line)
        leads[_on_one_line(remove_date_notes(text))].add(lead.casefold())
    for one in found:
        if one.source not in SAID or not one.seqs:
            continue
        if not all(covered.holds(one, seq) for seq in one.seqs):
            continue
        text = _on_one_line(remove_date_notes(one.text))
        # Sentences are cut only if one is quoted, which is rare.
        if any(each in text for each in leads) and _is_quoted(_speeches(one), leads, spans):
            yield one


def _speeches(one: Candidate) -> Iterator[tuple[Collection[str], str]]:
    """Yield the speeches of a text, each with the possible labels of its speaker, if known."""
    if one.role is not None:
        yield {named(one.role, one.name, each).casefold() for each in Language}, one.text
        return
    for row in one.text.splitlines():
        lead, line = _labelled(row)
        yield {lead.casefold()} - {""}, line


def _is_quoted(
    speeches: Iterable[tuple[Collection[str], str]],
    leads: Mapping[str, Collection[str]],
    spans: Spans,
) -> bool:
    """Return True if the summary quotes each meaningful sentence with its speaker."""
    before = ""
    for speaker, text in speeches:
        for each in spans(text):
            sentence = _on_one_line(remove_date_notes(text[slice(*each)]))
            known = leads.get(sentence, ())
            is_known = any(lead in known for lead in speaker) if speaker else len(known) == 1
            if not is_known and (not is_courtesy(sentence) or answers(sentence, before)):
                return False
            before = sentence
    return True


def _labelled(row: str) -> tuple[str, str]:
    lead = _LEAD.match(row)
    return (lead[0], row[lead.end() :]) if lead else ("", row)


# A summary may quote a sentence longer than these characters by clauses, each but the last with a
# mark at its end.
_LONG = 160
_CONTINUES = " …"
_TAIL = 16  # characters
_NOON = "T12:00+00:00"


class RepeatedLines:
    """Finds the lines of a summary that repeat messages or pins of the same list."""

    def __init__(self, messages: Iterable[Message], pinned: Iterable[str], spans: Spans) -> None:
        """Take messages, whole or cut, and pinned texts as in the list."""
        shown = [_QuotedMessage(each, spans) for each in messages if (each.content or "").strip()]
        self._by_lead: defaultdict[str, list[_QuotedMessage]] = defaultdict(list)
        for one in shown:
            for lead in one.leads:
                self._by_lead[lead].append(one)
        self._text = "\n".join(one.text for one in shown)
        self._spans = spans
        self._pinned = frozenset(
            sentence for each in pinned for sentence in _sentences(each, spans)
        )

    def left_of(self, lines: Iterable[Line]) -> list[Line]:
        """Return the lines that are not repeated, without day headings."""
        return [
            each
            for each in lines
            if not (each.is_day or self._is_in_messages(each) or self._is_pinned(each))
        ]

    def _is_in_messages(self, line: Line) -> bool:
        """Return True if a message of its speaker, and of its day if any, contains the line."""
        # Most lines are in no message; the ends of lines show this quickly.
        text = _LEAD.sub("", line.text, count=1).removesuffix(_CONTINUES)
        if text[-_TAIL:] not in self._text:
            return False
        for lead, shown in self._by_lead.items():
            if line.text.startswith(lead):
                messages = [each for each in shown if line.day in {"", each.day}]
                text = line.text[len(lead) :].strip()
                if messages and (
                    _all_quoted([text], messages)
                    or _all_quoted(_sentences(text, self._spans), messages)
                ):
                    return True
        return False

    def _is_pinned(self, line: Line) -> bool:
        """Return True if the line is pinned and needs no day; pins have none."""
        if not self._pinned:
            return False
        for text in (line.text, _LEAD.sub("", line.text, count=1)):
            sentences = _sentences(text, self._spans)
            if sentences and self._pinned.issuperset(sentences):
                return not _needs_day(text, line.day)
        return False


class _QuotedMessage:
    def __init__(self, message: Message, spans: Spans) -> None:
        speaker = [named(message.role, message.name, each) for each in Language]
        # A summarizing model may quote without a name.
        self.leads: Collection[str] = {*speaker, ""}
        self.day = message.said_at.date().isoformat()
        self._content = message.content or ""
        self.text = _on_one_line(self._content)
        self._spans = spans

    def has(self, sentence: str) -> bool:
        """Return True for a sentence of this message, or clauses of a long one."""
        words = sentence.removesuffix(_CONTINUES)
        if words not in self.text:
            return False
        return sentence in self._sentences or any(
            len(each) > _LONG and words in each for each in self._sentences
        )

    @cached_property
    def _sentences(self) -> frozenset[str]:
        return frozenset(_sentences(self._content, self._spans))


def _all_quoted(sentences: Sequence[str], messages: Sequence[_QuotedMessage]) -> bool:
    return bool(sentences) and all(any(one.has(each) for one in messages) for each in sentences)


def _sentences(text: str, spans: Spans) -> list[str]:
    return [_on_one_line(text[slice(*each)]) for each in spans(text)]


def _needs_day(text: str, day: str) -> bool:
    """Return True if a text has times relative to a known day."""
    try:
        said_at = datetime.fromisoformat(f"{day}{_NOON}")
    except ValueError:  # no day, or an invalid one
        return False
    return add_date_notes(text, said_at) != text
