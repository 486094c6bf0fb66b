"""What a standing block holds whole: retrieval need not bring it again (R14).

Such a block does not change with the question, so it is what was found that gives way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from memci.domain.context.materials import Covered
from memci.domain.context.rendering import named
from memci.domain.pages.pins import Pin
from memci.domain.search.candidate import Candidate, Key, Source
from memci.domain.search.highlight import Spans, answers, is_courtesy
from memci.language.detection import Language
from memci.language.times import remove_date_notes
from memci.message import Message, Role

# Who says a line of a summary, in any language.
LEAD = re.compile(r"[^:：\n]+(?:: |：)")


def wholly_pinned(pins: Iterable[Pin]) -> Iterator[Message]:
    """Yield the messages whose words are all pinned, by one pin or by several together.

    Of a message of which a part is pinned, the rest is not said.
    """
    of: defaultdict[int, list[Pin]] = defaultdict(list)
    for pin in pins:
        if pin.message_seq is not None:
            of[pin.message_seq].append(pin)
    for seq, each in of.items():
        whole = next((pin.text for pin in each if pin.span is None), None)
        said = each[0].said if whole is None else whole
        if said is not None and (whole is not None or _covers(said, each)):
            yield Message(seq, "", Role.USER, said, each[0].created_at)


def _covers(said: str, pins: Iterable[Pin]) -> bool:
    """Tell whether what is between pinned parts of a text is no word."""
    left = list(said)
    for pin in pins:
        start, end = pin.span or (0, 0)
        left[start:end] = " " * len(left[start:end])
    return not any(each.isalnum() for each in left)


def quoted_in_full(
    lines: Collection[str], covered: Covered, found: Iterable[Candidate], spans: Spans
) -> Iterator[Candidate]:
    """Yield those found messages of which a summary's lines hold each sentence, word for word.

    Courtesy aside: it tells nothing (R2).
    """
    known = frozenset(lines)
    quoted = [said for each in known if (said := LEAD.sub("", each, count=1)) != each]
    for one in found:
        if one.source is not Source.CHAT or not covered.holds(one, one.key):
            continue
        said = on_one_line(one.text)
        # Sentences are looked for only where there is one: most of what is found is not quoted.
        if any(each in said for each in quoted) and _told(one, known, spans):
            yield one


def memories_quoted_in_full(
    lines: Collection[str], covered: Covered, found: Iterable[Candidate], spans: Spans
) -> Iterator[Key]:
    """Yield those found memories of which a summary's lines say each sentence, and who says it.

    Where only one speaks in a memory, it does not name who (R4): told is what one alone has said.
    """
    leads: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        lead, said = _labelled(line)
        leads[on_one_line(said)].add(lead.casefold())
    for one in found:
        if one.source is not Source.MEMORY or not one.seqs:
            continue
        if not all(covered.holds(one, seq) for seq in one.seqs):
            continue
        if any(each in one.text for each in leads) and _says(one.text, leads, spans):
            yield one.source, one.key


def _says(text: str, leads: Mapping[str, Collection[str]], spans: Spans) -> bool:
    """Tell whether each sentence of a memory that tells something is known, as its speaker's."""
    before = ""
    for row in text.splitlines():
        lead, line = _labelled(row)
        for each in spans(line):
            sentence = on_one_line(remove_date_notes(line[slice(*each)]))
            known = leads.get(sentence, ())
            is_known = lead.casefold() in known if lead else len(known) == 1
            if not is_known and (not is_courtesy(sentence) or answers(sentence, before)):
                return False
            before = sentence
    return True


def _labelled(row: str) -> tuple[str, str]:
    """Part a row into who says it, if it says so, and what."""
    lead = LEAD.match(row)
    return (lead[0], row[lead.end() :]) if lead else ("", row)


def _told(one: Candidate, lines: Collection[str], spans: Spans) -> bool:
    leads = [named(one.role, one.name, each) for each in Language if one.role]
    sentences = [one.text[slice(*each)] for each in spans(one.text)]
    telling = [each for each in sentences if not is_courtesy(each)]
    return bool(telling) and any(
        all(lead + on_one_line(each) in lines for each in telling) for lead in leads
    )


def on_one_line(text: str) -> str:
    """Return a text as a summary has it."""
    return " ".join(text.split())
