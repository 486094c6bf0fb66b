"""Questions about the conversation before this one: "what did we discuss last time?" (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from memci.domain.context.query.bare import is_bare
from memci.domain.context.query.moment import Moment
from memci.domain.context.query.time_range import CERTAIN, TimeRange

# After so long a silence, what is said in no session is another conversation.
PAUSE = timedelta(hours=6)
_LEAST_SLACK = timedelta(hours=1)
_INSTANT = timedelta(microseconds=1)
_FLAGS = re.IGNORECASE | re.ASCII
# With us, and with nobody else: "my last conversation with Ann" is one that is told of.
_WITH_US = r"(?!\s+(?:with\b(?!\s+you\b)|about\b|of\b))"
_NAMED = (
    re.compile(
        r"(?<!\bher\s)(?<!\bhis\s)(?<!\btheir\s)(?<!['’]s\s)(?<!\ba\s)"
        r"\b(?:(?:our|the|your|this)\s+)?(?:last|previous|preceding|most\s+recent|latest)\s+"
        rf"(?:session|conversation|chat)\b(?!\s*-?\s*(?:show|room|bot|window|gpt)){_WITH_US}",
        _FLAGS,
    ),
    re.compile(r"\bmy\s+(?:last|previous)\s+(?:conversation|chat)\s+with\s+you\b", _FLAGS),
    re.compile(
        rf"\b(?:the\s+)?last\s+time\s+(?:that\s+)?we\s+(?:talked|spoke|chatted)\b{_WITH_US}", _FLAGS
    ),
    re.compile(
        r"\bwhere\s+(?:did\s+we|we)\s+(?:leave|left|stop|stopped)(?:\s+(?:it|things))?"
        r"(?:\s+off)?(?=\s*(?:last\s+time\s*)?(?:[.?!,]|\Z))",
        _FLAGS,
    ),
    re.compile("(?<!第)上一?[个次回]的?(?:对话|会话|聊天|谈话)(?!框|窗)"),
)
# "The last time" is that of something else, and so may "last time" be where more is said.
_LAST_TIME = (
    re.compile(r"(?<!the\s)(?<!very\s)\blast\s+time(?=\s*(?:[.?!,]|\Z))", _FLAGS),
    re.compile("上一?[次回]"),
)
_TALKING = (
    re.compile(
        r"\b(?:discuss(?:ed|ing)?|cover(?:ed)?|decided?|agreed?(?:\s+on)?|recommend(?:ed)?"
        r"|suggest(?:ed)?|advised?|promised?|planned|plan|explain(?:ed)?|(?:le(?:ave|ft)|stop(?:ped)?)"
        r"(?:\s+off)?|continue|carry\s+on|pick(?:\s+it)?\s+up|go\s+on|work(?:ed|ing)?\s+on)\b",
        _FLAGS,
    ),
    re.compile("[说聊讲谈]到哪[里儿]?|建议|推荐|决定|商量|约定|答应|解释|计划|继续|接着|交流"),
)


def last_session_in(text: str) -> tuple[int, int] | None:
    """Return the characters of a question that name the conversation before; None: none do."""
    for pattern in _NAMED:
        if found := pattern.search(text):
            return found.span()
    for pattern in _LAST_TIME:
        if found := pattern.search(text):
            talking = (match for each in _TALKING for match in each.finditer(text))
            places = sorted(match.span() for match in (found, *talking))
            return found.span() if is_bare(text, [Moment(*each, ()) for each in places]) else None
    return None


class Talk(NamedTuple):
    """From the first to the last message of a conversation, both aware."""

    began: datetime
    ended: datetime

    def time(self) -> TimeRange:
        """Return the stretch of time that it took."""
        slack = max(self.ended - self.began, _LEAST_SLACK)
        return TimeRange(self.began, self.ended + _INSTANT, CERTAIN, slack)


def talk_before(said: Iterable[datetime], now: datetime) -> Talk | None:
    """Return the last conversation of what was said in no session, the latest first.

    A silence of six hours ends one; what goes on ``now`` is none yet.
    """
    talks: list[Talk] = []
    for each in said:
        if talks and talks[-1].began - each < PAUSE:
            talks[-1] = Talk(each, talks[-1].ended)
        else:
            talks.append(Talk(each, each))
    return next((each for each in talks if now - each.ended >= PAUSE), None)
