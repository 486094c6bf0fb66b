"""How much more a clause counts when a text is shortened, for what is at stake and who says it."""

from __future__ import annotations

import re

from memci.smallmodel.offline.weighty import is_vital

# Health and safety stay longest, then what must (not) be done, and how somebody is reached.
_VITAL = 2.4
_STRICT = 2.0
_REACHED = 1.5
# What an assistant says back is mostly an echo, a promise to remember, or general knowledge.
_ASSISTANT = 0.45
_NOTED = 0.4
_NOTES = re.compile(
    r"\bI(?:['’]ll| will| have|['’]ve) (?:\w+ )?(?:remember|keep|kept|note|remind|make|bear|add)|"
    "(?:我会|会|帮您|帮你|我)(?:记|提醒|注意|写)",
    re.IGNORECASE,
)
_SPOKEN_BY_ASSISTANT = re.compile(r"(?:Assistant|AI|Bot|Tool|助手|助理|工具)\s?[:：]")
_STRICTLY = re.compile(
    r"\b(?:must(?: not|n['’]t| never)|under no circumstances|important(?::| that)|urgent)\b|"
    r"important:|绝对(?:不|别|禁)|千万(?:别|不|要)|切勿|切忌|严禁|禁止|一定(?:要|不)|务必|必须|"
    r"重要(?:[:：]|的是)|紧急|只能吃",
    re.IGNORECASE,
)
_REACH = re.compile(r"[\w.+-]@[\w-]|\d{7}|\d-\d{3}-?\d{3}|\bTel\b|电话|手机号|微信号")


def stake(text: str, label: str) -> tuple[float, bool]:
    """Return the factor of a clause behind ``label``, and whether health or safety is at stake."""
    vital = is_vital(text)
    if label and _SPOKEN_BY_ASSISTANT.match(label):
        return _ASSISTANT * (_NOTED if _NOTES.search(text) else 1.0), vital
    if vital:
        return _VITAL, True
    if _STRICTLY.search(text):
        return _STRICT, False
    return _REACHED if _REACH.search(text) else 1.0, False
