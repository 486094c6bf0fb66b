"""Atoms: spans that become false or unreadable if a part is cut off.

Times, dates and their ranges, numbers with units, bracketed notes and quotations, addresses, names.
"""

import re
from collections.abc import Iterable

Span = tuple[int, int]

_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?\b"
_TO = r"(?:\s?[-–—~～至到]\s?|\s(?:to|until|and)\s)"
_DATE = (
    rf"(?:{_DAY}(?:{_TO}{_DAY})?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}}\b)?|"
    rf"{_MONTH}\s{_DAY}(?:{_TO}{_DAY})?(?:,?\s\d{{4}}\b)?|{_MONTH}\s\d{{4}}\b|"
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?)"
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?"
_WHEN = rf"(?:{_DATE}|{_TIME})"
_HAN_NUMBER = r"(?:\d+(?:[.,:]\d+)*|[〇零一二三四五六七八九十百千万亿两半]+)"
# Only the beginning of a run of such characters: searches from each of its characters would find
# nothing else, and cost the square of its length.
_HAN_START = r"(?<![〇零一二三四五六七八九十百千万亿两半\d])(?<!\d[.,:])"
_MAIL_START = r"(?<![A-Za-z0-9._%+-])"
_PATH_START = r"(?<![A-Za-z0-9_.-])"
_HAN_UNIT = (
    "(?:年|月|日|号|点半?|时|分钟?|秒|个|元|块|万|亿|公斤|公里|千克|克|斤|米|厘米|小时|天|周|岁|度|"
    "次|位|人|本|张|页|楼|路|班|平米)"
)
_HAN_MEASURE = rf"(?:上午|下午|早上|晚上|中午|凌晨)?(?:{_HAN_NUMBER}\s?{_HAN_UNIT})+"
_UNIT = (
    r"(?:[kKmMGT]?[BgmWV]|km/h|[cm]m|kg|lbs?|oz|ml|[Ll]|°\s?[CF]?|%|percent|euros?|dollars?|pounds?|"
    r"kroner|NOK|EUR|USD|CNY|hours?|hrs?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|"
    r"people|miles?|km|metres?|meters?|kilos?|grams?|litres?|million|billion|thousand|[ap]\.?m\b\.?)"
)
_NUMBER = (
    r"[$€£¥+\-]?\d+(?:[.,:/]\d+)*(?:\s?[-–—~～]\s?\d+(?:[.,:/]\d+)*)*"
    rf"(?:[^\W\d_\u3400-\u9fff]+|[\s-]?{_UNIT}(?!\w))*%?"
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’-]*"
_PATTERNS = (
    (
        r"(?:https?://|www\.)[^\s，。；！？、（）《》「」“”\"<>]*"
        r"[^\s，。；！？、（）《》「」“”\"<>.,;:!?)\]]"
    ),
    rf"{_MAIL_START}[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",
    (
        rf"{_PATH_START}(?:~?/|[A-Za-z]:\\)?[A-Za-z0-9_.-]+(?:[/\\][A-Za-z0-9_.-]+)*"
        r"[/\\][A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
    ),
    rf"{_WHEN}(?:(?:{_TO}|,?\s(?:on|at)\s|,?\s){_WHEN})*",
    rf"{_HAN_START}{_HAN_MEASURE}(?:\s?[-–—~～至到]\s?{_HAN_MEASURE})*",
    rf"{_HAN_START}{_HAN_NUMBER}\s?[-–—~～至到]\s?{_HAN_MEASURE}",
    _NUMBER,
    rf"\b(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\.\s)?{_CAPITAL}(?:\s{_CAPITAL}){{0,4}}",
)
_PLAIN = tuple(re.compile(rf"(?<![A-Za-z0-9_])(?:{each})") for each in _PATTERNS)
_PAIRS = ("()", "（）", "[]", "【】", "「」", "『』", "《》", "“”", "<>")
_LONGEST_NOTE = 100
_NOTES = re.compile(
    "|".join(
        rf"{re.escape(pair[0])}[^{re.escape(pair)}\n]{{1,{_LONGEST_NOTE}}}{re.escape(pair[1])}"
        for pair in _PAIRS
    )
    + rf'|(?<!\w)"[^"\n]{{1,{_LONGEST_NOTE}}}"(?!\w)'
)
_OPENERS = {pair[1]: pair[0] for pair in _PAIRS}
_MARKS = re.compile("[" + re.escape("".join(_PAIRS)) + '"]')


def atoms(text: str) -> list[Span]:
    """Return (start, end) of each atom of ``text``, in order; none overlap."""
    return joined([match.span() for each in (*_PLAIN, _NOTES) for match in each.finditer(text)])


def notes(text: str) -> list[Span]:
    """Return (start, end) of brackets, quotations and dates with a comma, which seams could cut."""
    return joined([match.span() for each in (_NOTES, _PLAIN[3]) for match in each.finditer(text)])


def is_inside(at: int, spans: Iterable[Span]) -> bool:
    """Return True if a cut at ``at`` would divide one of ``spans``."""
    return any(start < at < end for start, end in spans)


def balanced(text: str, original: str) -> str:
    """Return ``text`` without unpaired marks, if ``original`` has none."""
    found = _unpaired(text)
    if not found or _unpaired(original):
        return text
    rest = "".join(character for at, character in enumerate(text) if at not in found)
    return rest.strip() or text


def _unpaired(text: str) -> set[int]:
    waiting: list[tuple[str, int]] = []
    alone: set[int] = set()
    quote: int | None = None
    for match in _MARKS.finditer(text):
        mark, at = match[0], match.start()
        if mark == '"':
            quote = at if quote is None else None
        elif mark not in _OPENERS:
            waiting.append((mark, at))
        elif waiting and waiting[-1][0] == _OPENERS[mark]:
            waiting.pop()
        else:
            alone.add(at)
    alone.update(at for _, at in waiting)
    return alone if quote is None else alone | {quote}


def joined(spans: list[Span]) -> list[Span]:
    """Return the spans in order, with overlapping ones merged."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
