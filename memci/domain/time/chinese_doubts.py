"""When a Chinese expression does not mean what its words say: titles, ideals, generic talk."""

from __future__ import annotations

import re

from memci.domain.time.mention import Reading

_IDEAL = re.compile(r"(?:美好|的|没有|新)\Z")
_TITLE = re.compile(r"会更好|依旧")
_GENERIC = re.compile(r"的(?:社会|世界|中国|时代|年轻人|孩子|生活|青年|幸福|我们|你|我)")
_RELATIVE_TO_AN_EVENT = re.compile(r"[^\W\d_a-zA-Z]\Z")
_MAY_STAND_BEFORE_A_COUNT = re.compile(r"[我你他她它们在是从早于自大约概就了的，]\Z")


def doubtful(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Tell whether a Chinese expression may be an ideal, generic, or counted from an event."""
    words = text[start:end]
    if words.startswith("明"):
        return bool(_IDEAL.search(text[max(0, start - 2) : start]) or _TITLE.match(text, end))
    if words.startswith("今天"):
        return bool(_GENERIC.match(text, end))
    if words.endswith("前"):
        # 比赛三天前 is three days before the match.
        before = text[max(0, start - 1) : start]
        return bool(_RELATIVE_TO_AN_EVENT.match(before)) and not bool(
            _MAY_STAND_BEFORE_A_COUNT.match(before)
        )
    return False
