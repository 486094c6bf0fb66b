"""Questions about the conversation before this one: "What did we discuss last time?" (R10).

Conversations are told apart by their sessions and by silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from memci.language.question.intent import names_only_times
from memci.language.times.ranges import CERTAIN, TimeExpression, TimeRange

_FLAGS = re.IGNORECASE | re.ASCII
_END = r"(?=\s*(?:[.?!,;]|\Z))"
# With us, and with nobody else: "our last conversation with Ann" is one that is told of.
_WITH_US = (
    r"(?!\s+(?:with\b(?!\s+you\b)|to\b|between\b|(?:about|of|on)\b(?!\s*(?:[?.!]|\Z))|at\b"
    r"|(?:i|we)\s+had\s+(?:with|about)\b)"
    r"|\s*-?\s*(?:show|room|bot|window|gpt|model|app|message|id|token|log|class)\b"
    r"|\s+(?:expired|timed)\b)"
)
_WHICH = r"(?:very\s+)?(?:last|previous|preceding|most\s+recent|latest)"
# What says it by itself.
_OURS = (
    re.compile(rf"\bour\s+{_WHICH}\s+(?:session|conversation|chat|discussion)\b{_WITH_US}", _FLAGS),
    re.compile(
        rf"\bmy\s+{_WHICH}\s+(?:session|conversation|chat|discussion)\s+with\s+you\b", _FLAGS
    ),
    re.compile(
        r"\b(?:the\s+)?last\s+time\s+(?:that\s+)?we\s+(?:talked|spoke|chatted)"
        r"(?=\s*(?:[?.!,]|\Z)|\s+(?:and|with\s+you)\b)",
        _FLAGS,
    ),
    re.compile(
        r"\bwhere\s+(?:did\s+we|we)\s+(?:leave|left)\s+(?:things\s+)?off"
        r"\b(?!\s+(?:the|in)\b)",
        _FLAGS,
    ),
    re.compile(r"(?:\A|[.?!,]\s*)(?:so,?\s+)?where\s+did\s+we\s+stop(?=\s*(?:\?|\Z))", _FLAGS),
    re.compile(rf"\bwhere\s+(?:did\s+we|we)\s+(?:stop|stopped|left)\s+last\s+time\b{_END}", _FLAGS),
    re.compile(
        r"(?:(?<=\A)|(?<=[\s,，。！？]|[你您的在把于从下结顾是说讲们继续到])"
        r")上一?[个次回轮]的?(?:对话|会话|聊天|谈话|讨论)(?!框|窗|软件|机器人|工具|室|课|会|ID)"
    ),
)
# What says it where nothing else is spoken of, or we are.
_ANYBODYS = (
    re.compile(
        r"(?<!\bher\s)(?<!\bhis\s)(?<!\btheir\s)(?<!\bits\s)(?<!\bmy\s)(?<!\bwhose\s)"
        r"(?<!['’]s\s)(?<!s['’]\s)(?<!\ba\s)"
        rf"\b(?:(?:the|your)\s+)?{_WHICH}\s+(?:session|conversation|chat)\b{_WITH_US}",
        _FLAGS,
    ),
    re.compile(rf"(?<!the\s)(?<!very\s)\blast\s+time\b{_END}", _FLAGS),
    re.compile("上一?[次回]"),
)
_TALKING = (
    re.compile(
        r"\b(?:discuss(?:ed|ing)?|cover(?:ed)?|decided?|agreed?(?:\s+on)?|recommend(?:ed)?"
        r"|suggest(?:ed)?|advised?|promised?|plan(?:ned)?|explain(?:ed)?|continue|carry\s+on"
        r"|pick(?:\s+it)?\s+up|go\s+on|work(?:ed|ing)?\s+on|(?:le(?:ave|ft)|stop(?:ped)?)\s+off"
        r"|tell|told|sa(?:y(?:ing)?|id)|talk(?:ed|ing)?|sp(?:eak|oke)|chat(?:ted)?|mention(?:ed)?|ask(?:ed)?"
        r"|summari[sz]e|recap|session|conversation)\b",
        _FLAGS,
    ),
    re.compile(
        "[说聊讲谈]到哪[里儿]?|[聊谈说讲]|建议|推荐|决定|商量|约定|答应|解释|计划|继续|接着|交流|讨论|提|问"
    ),
)
_WITH_YOU = re.compile(r"\bwith\s+you\b|\boff\b", _FLAGS)
_WE = re.compile(r"\b(?:we|us)\b|我们|咱", _FLAGS)
_OTHERS = re.compile(
    r"\b(?:she|he|they|her|him|them|his|their|who)\b|\b(?:my|the)\s+(?:wife|husband|therapist"
    r"|doctor|boss|teacher|coach|friend|mother|father|mum|mom|dad)\b|[他她它谁]|会上|客户|老师|医生",
    _FLAGS,
)
# Another than the last one: the one before it, and what was before, since or after it.
_ANOTHER = re.compile(
    r"(?:\b(?:before|since|after|until|till|by|not|second|third|next|besides)"
    r"(?:[\s-]+to)?[\s-]+(?:(?:the|our)\s+)?|[第上]|[和跟与同][^你您，。？]{1,6})\Z",
    _FLAGS,
)
_ONE_BEFORE = re.compile(r"\bthe\s+(?:one|conversation|session|chat)\s+before\b|上上", _FLAGS)
_BEFORE_OR_AFTER = re.compile(r"\s*(?:之|以)[前后]")


def find_last_session(text: str) -> tuple[int, int] | None:
    """Return (start, end) of the words that name the conversation before; None: there are none."""
    if _ONE_BEFORE.search(text):
        return None
    found = next((match for each in _OURS if (match := each.search(text))), None)
    if found is not None and _OTHERS.search(text) and not _WITH_YOU.search(text):
        return None
    if found is None:
        anybodys = (match for each in _ANYBODYS if (match := each.search(text)))
        found = next((match for match in anybodys if _is_ours(text, match)), None)
    if found is None or _is_another(text, found):
        return None
    return found.span()


def _is_ours(text: str, found: re.Match[str]) -> bool:
    """Return True if a question that names no participants means our conversation."""
    if _OTHERS.search(text):
        return False
    is_named = not found[0].lower().endswith(("time", "次", "回"))
    if is_named and _WE.search(text):
        return True
    talking = [match for each in _TALKING for match in each.finditer(text)]
    places = sorted(match.span() for match in (found, *talking))
    return bool(talking) and names_only_times(text, [TimeExpression(*each, ()) for each in places])


def _is_another(text: str, found: re.Match[str]) -> bool:
    before = _ANOTHER.search(text[: found.start()])
    return bool(before) or _BEFORE_OR_AFTER.match(text, found.end()) is not None


# After so long a silence another conversation begins, in a session as well.
PAUSE = timedelta(hours=6)
# What is said now by whoever asks.
_AT_ONCE = timedelta(minutes=1)
_LEAST_SLACK = timedelta(hours=1)
_INSTANT = timedelta(microseconds=1)


class Conversation(NamedTuple):
    """A conversation from its first to its last message, both aware; None: in no session."""

    session_id: str | None
    began: datetime
    ended: datetime

    def time(self) -> TimeRange:
        """Return its time range, restricted to its session."""
        slack = max(self.ended - self.began, _LEAST_SLACK)
        try:
            until = self.ended + _INSTANT
        except OverflowError:
            until = None  # with the calendar
        return TimeRange(self.began, until, CERTAIN, slack, session=self.session_id or "")

    def is_current(self, here: str | None, now: datetime) -> bool:
        """Return True if a question asked ``now`` in the session ``here`` belongs to it.

        A question without a session belongs to none, but a message may be the question itself.
        """
        silent = now - self.ended
        if self.session_id == here:
            return silent < PAUSE
        return here is None and silent < _AT_ONCE


def previous_conversation(
    said: Iterable[tuple[str | None, datetime]], here: str | None, now: datetime
) -> Conversation | None:
    """Return the last conversation that is over; None: there is none.

    ``said``: the sessions and times of messages, the latest first, and none after ``now``.
    """
    latest: dict[str | None, Conversation] = {}
    over: set[str | None] = set()
    for session_id, at in said:
        talk = latest.get(session_id)
        if talk is None or (talk.is_current(here, now) and talk.began - at >= PAUSE):
            latest[session_id] = Conversation(session_id, at, at)
        elif session_id not in over and talk.began - at < PAUSE:
            latest[session_id] = talk._replace(began=at)
        else:
            over.add(session_id)
    ended = (each for each in latest.values() if not each.is_current(here, now))
    return max(ended, key=lambda each: each.ended, default=None)
