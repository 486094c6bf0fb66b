"""Lines of a summary that say nothing but what a reader sees word for word beside it (R14).

It is the summary that gives way: the words themselves tell more, and the room is for what no other
part tells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cached_property

from memci.domain.context.excerpt import named
from memci.domain.context.gist import Spans
from memci.domain.context.quoted import LEAD, on_one_line
from memci.domain.context.summary_lines import Line
from memci.domain.language import Language
from memci.domain.message import Message
from memci.domain.time.notes import with_absolute

# A sentence longer than this many characters may stand in a summary clause by clause, each but the
# last with a mark at its end.
_LONG = 160
_ON = " …"
_TAIL = 16  # characters
_NOON = "T12:00+00:00"


class Retold:
    """Knows what stands beside a summary: messages, whole or cut, and what is pinned."""

    def __init__(self, said: Iterable[Message], pinned: Iterable[str], spans: Spans) -> None:
        """Take them as they stand there; ``spans`` tells where sentences are."""
        beside = [_Said(each, spans) for each in said if (each.content or "").strip()]
        self._by_lead: defaultdict[str, list[_Said]] = defaultdict(list)
        for one in beside:
            for lead in one.leads:
                self._by_lead[lead].append(one)
        self._text = "\n".join(one.text for one in beside)
        self._spans = spans
        self._pinned = frozenset(
            sentence for each in pinned for sentence in _sentences(each, spans)
        )

    def left_of(self, lines: Iterable[Line]) -> list[Line]:
        """Return the lines that tell something else; of days none that stands alone."""
        return [each for each in lines if not (each.is_day or self._tells(each))]

    def _tells(self, line: Line) -> bool:
        return self._is_said(line) or (bool(self._pinned) and self._is_pinned(line))

    def _is_said(self, line: Line) -> bool:
        """Tell whether who is named there says so: on the line's day, if it has one."""
        # Most lines are told by none: what they end with is nowhere.
        if LEAD.sub("", line.text, count=1).removesuffix(_ON)[-_TAIL:] not in self._text:
            return False
        return any(
            self._stands(line.text[len(lead) :].strip(), said)
            for lead, those in self._by_lead.items()
            if line.text.startswith(lead)
            and (said := [each for each in those if line.day in {"", each.day}])
        )

    def _stands(self, text: str, said: Sequence[_Said]) -> bool:
        return _stand_all([text], said) or _stand_all(_sentences(text, self._spans), said)

    def _is_pinned(self, line: Line) -> bool:
        """Tell whether all of it is pinned. Pins have no day: what needs one is told with it."""
        for text in (line.text, LEAD.sub("", line.text, count=1)):
            sentences = _sentences(text, self._spans)
            if sentences and self._pinned.issuperset(sentences):
                return not _needs_day(text, line.day)
        return False


class _Said:
    def __init__(self, message: Message, spans: Spans) -> None:
        speaker = [named(message.role, message.name, each) for each in Language]
        # Who sums up in words of their own may quote without a name.
        self.leads: Collection[str] = {*speaker, ""}
        self.day = message.said_at.date().isoformat()
        self._content = message.content or ""
        self.text = on_one_line(self._content)
        self._spans = spans

    def has(self, sentence: str) -> bool:
        """Tell whether it is a sentence of this message, or clauses of a long one."""
        words = sentence.removesuffix(_ON)
        if words not in self.text:
            return False
        return sentence in self._sentences or any(
            len(each) > _LONG and words in each for each in self._sentences
        )

    @cached_property
    def _sentences(self) -> frozenset[str]:
        return frozenset(_sentences(self._content, self._spans))


def _stand_all(sentences: Sequence[str], said: Sequence[_Said]) -> bool:
    return bool(sentences) and all(any(one.has(each) for one in said) for each in sentences)


def _sentences(text: str, spans: Spans) -> list[str]:
    return [on_one_line(text[slice(*each)]) for each in spans(text)]


def _needs_day(text: str, day: str) -> bool:
    """Tell whether a text speaks of times as they are called on its day, if that is known."""
    try:
        said_at = datetime.fromisoformat(f"{day}{_NOON}")
    except ValueError:  # none, or none that there is
        return False
    return with_absolute(text, said_at) != text
