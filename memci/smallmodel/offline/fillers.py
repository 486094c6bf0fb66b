"""Takes out of a clause what fills a pause and tells nothing."""

from __future__ import annotations

import re

from memci.smallmodel.offline.words import CHINESE_FILLERS, CHINESE_NEGATIONS, ENGLISH_FILLERS

_ENGLISH = re.compile(
    r"(?<![\w'’-])(?:" + "|".join(map(re.escape, ENGLISH_FILLERS)) + r")(?![\w'’-])[,，]?\s*",
    re.IGNORECASE,
)
_CHINESE = re.compile("|".join(sorted(CHINESE_FILLERS, key=len, reverse=True)))
_PARTICLES = re.compile(r"(?<=[\u3400-\u9fff])[啊呀呢吧哦啦嘛哟]+(?=[，。！？；…]|$)")
_INTERJECTION = re.compile(
    r"(?:(?:oh|wow|hey|hi|hello|well|yeah|yep|yes|okay|ok|haha|lol|um|uh|hmm|aww?|so)\b[,!.]*\s*)+",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|nor|hardly|cannot)|n['’]t|" + "|".join(CHINESE_NEGATIONS) + r")\s*.?$",
    re.IGNORECASE,
)


def without_fillers(clause: str) -> str:
    """Return the clause without fillers; as it is, if nothing else is in it.

    What follows a negation stays: "not just tea" is not "not tea".
    """
    text = _INTERJECTION.sub("", clause, count=1) if _INTERJECTION.match(clause) else clause
    for fillers in (_ENGLISH, _CHINESE):
        text = fillers.sub(lambda match: match[0] if _denied(match) else "", text)
    text = _PARTICLES.sub("", text).strip()
    return text if any(character.isalnum() for character in text) else clause


def _denied(match: re.Match[str]) -> bool:
    return bool(_DENIED.search(match.string, max(0, match.start() - 8), match.start()))
