"""Steps that somebody lists: numbered lists and check lists, in English and Chinese (R7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memci.domain.context.plan import LONGEST_STEP, MOST_STEPS, Item, StepState

_LEAST = 2  # what has fewer steps is no plan
_LOOKED_AT = 16_000  # characters of a message
_DIGITS = {each: value for value, each in enumerate("一二三四五六七八九十", 1)}
_CIRCLED = {chr(0x2460 + place): place + 1 for place in range(20)}

_DONE = "xX✓✔√"
_BOX = re.compile(rf"^\s*(?:[-*+•]\s*|\d{{1,2}}[.)、]\s*)?\[([ {_DONE}~>*/-])\]\s+(?P<text>\S.*)$")
_SIGN = re.compile(
    r"^\s*(?:[-*+•]\s*|"
    r"(?:\d{1,2}[.)、]\s*))?(?P<sign>[✅☑✔✓☐⬜🔲⏳🔄▶❌⏭])\ufe0f?\s*(?P<text>\S.*)$"
)
_NUMBERED = re.compile(
    r"^\s*(?:#+\s*)?(?:[-*+]\s+)?(?:\*\*)?(?:"
    r"[(（]?(?P<number>\d{1,2})\s*(?:[)）、]|[.．](?!\d))\s*|"
    r"[(（]?(?P<chinese>[一二三四五六七八九十])[)）]?[、.．]\s*|"
    r"第(?P<ordinal>[一二三四五六七八九十]|\d{1,2})步\s*[：:,，、]?\s*|"
    r"步骤\s*(?P<place>[一二三四五六七八九十]|\d{1,2})\s*[：:,，、.]\s*|"
    r"step\s+(?P<step>\d{1,2})\s*[:.)–-]\s*|"
    r"(?P<circled>[①-⑳])\s*)(?:\*\*)?\s*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_STATES = {
    " ": StepState.PENDING, "☐": StepState.PENDING, "⬜": StepState.PENDING,
    "🔲": StepState.PENDING,
    "⏳": StepState.ACTIVE, "🔄": StepState.ACTIVE, "▶": StepState.ACTIVE, ">": StepState.ACTIVE,
    "~": StepState.ACTIVE, "*": StepState.ACTIVE, "/": StepState.ACTIVE,
    "-": StepState.DROPPED, "❌": StepState.DROPPED, "⏭": StepState.DROPPED,
    "✅": StepState.DONE, "☑": StepState.DONE,
    **dict.fromkeys(_DONE, StepState.DONE),
}  # fmt: skip
_TAIL = re.compile(
    r"\s*(?:[(（\[]\s*|[–—-]\s+|✅\s*)(?:(?P<done>done|completed?|finished|已完成|完成|做完了?)|"
    r"(?P<active>in progress|doing|进行中|正在进行)|"
    r"(?P<dropped>skipped|dropped|cancell?ed|已取消|跳过|取消)|"
    r"(?P<pending>pending|to ?do|not started|待办|未开始))\s*[)）\]]?\s*[.。]?$|\s*(?P<tick>✅|"
    r"✔)\ufe0f?\s*$",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"^~~(?P<text>.+)~~$")
# What is said of a list that is to be worked through, and not of any other one.
_ANNOUNCED = re.compile(
    r"\b(?:(?:my|our|the|a|new|revised|updated|following|this|here is|here's) (?:\w+ )?plan\b|"
    r"plan\s*(?:of action)?\s*[:：]|"
    r"action items?|to-?do(?: list)?s?\b|next steps|(?:i|we)(?:'ll| will| am going to| are "
    r"going to)|"
    r"(?:i|we) (?:need|have|plan|intend|propose) to|let's|steps (?:i|we)|my steps|our steps|"
    r"roadmap)",
    re.IGNORECASE,
)
_ANNOUNCED_CHINESE = re.compile(
    "计划|步骤如下|以下步骤|按.{0,6}步骤|分.{1,3}步|待办|接下来我|我(?:会|将|打算|准备|来)|"
    "我们(?:会|将|要|先|来|可以分)|行动项|任务清单|任务列表|路线图"
)


@dataclass(frozen=True, slots=True)
class Listing:
    """Steps that a text lists; ``is_plan``: it also says that they are to be taken."""

    items: tuple[Item, ...]
    is_plan: bool


@dataclass(frozen=True, slots=True)
class _Line:
    item: Item
    number: int | None  # None: it has a box in place of a number
    says_step: bool = False


def listing_in(text: str) -> Listing | None:
    """Return the longest list of steps in a text: with boxes, or numbered from 1 without a gap.

    A line that is no item, and is no part of one, ends a list. None: there are not two items.
    """
    best: Listing | None = None
    for before, lines in _runs(text[:_LOOKED_AT]):
        if len(lines) >= _LEAST and (best is None or len(lines) > len(best.items)):
            boxed = all(each.number is None for each in lines)
            steps = all(each.says_step for each in lines)
            announced = _ANNOUNCED.search(before) or _ANNOUNCED_CHINESE.search(before)
            items = tuple(each.item for each in lines[:MOST_STEPS])
            best = Listing(items, boxed or steps or bool(announced))
    return best


def item_of(line: str) -> Item:
    """Return a step as one line says it, such as "[x] Read the code"; any line is one."""
    box = _BOX.match(line)
    return Item(_text(box["text"]), _STATES[box[1]]) if box else Item(_text(line))


def _runs(text: str) -> Iterator[tuple[str, list[_Line]]]:
    """Yield lists, each with what stands directly before it."""
    before, run, fenced = "", list[_Line](), False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        item = None if fenced else _line(line)
        if item is not None and _follows(run, item):
            run.append(item)
        elif item is not None and item.number in {None, 1}:
            yield before, run
            run = [item]
        elif run and (not line.strip() or line[:1].isspace()):
            continue  # a gap, or what belongs to the item above
        elif line.strip():
            yield before, run
            run, before = [], line
    yield before, run


def _follows(run: list[_Line], item: _Line) -> bool:
    if not run:
        return False
    last = run[-1].number
    return item.number is None if last is None else item.number == last + 1


def _line(line: str) -> _Line | None:
    if box := _BOX.match(line):
        return _Line(Item(_text(box["text"]), _STATES[box[1]]), None)
    if sign := _SIGN.match(line):
        return _Line(Item(_text(sign["text"]), _STATES.get(sign["sign"], StepState.DONE)), None)
    if (found := _NUMBERED.match(line)) is None:
        return None
    text, state = _told(_text(found["text"]))
    says = bool(found["step"] or found["ordinal"] or found["place"])
    return _Line(Item(text, state), _number(found), says) if text else None


def _number(found: re.Match[str]) -> int:
    names = ("number", "chinese", "ordinal", "place", "step", "circled")
    given = next(found[name] for name in names if found[name])
    return _DIGITS.get(given) or _CIRCLED.get(given) or int(given)


def _told(text: str) -> tuple[str, StepState | None]:
    """Return a step's text and what its end says of how far it has come."""
    if struck := _STRUCK.match(text):
        return struck["text"], StepState.DONE
    tail = _TAIL.search(text)
    if tail is None:
        return text, None
    name = next(key for key, value in tail.groupdict().items() if value)
    return text[: tail.start()].rstrip(), StepState(name if name != "tick" else "done")


def _text(text: str) -> str:
    return " ".join(text.replace("**", "").split())[:LONGEST_STEP]
