"""Follows the plan of a session: reads lists, tool calls and remarks about progress (R7)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from memci.domain.session.plan import (
    LONGEST_STEP,
    MOST_STEPS,
    Item,
    Plan,
    Step,
    StepState,
    made_of,
    with_states,
)
from memci.language.sentences import normalized_words, sentence_spans
from memci.message import Message, Role

_LEAST = 2  # a list with fewer steps is no plan
_SEARCHED = 16_000  # characters of a message
_NUMBERS = {
    **{str(each): each for each in range(1, 33)},
    **{chr(0x245F + each): each for each in range(1, 21)},  # in circles
    **{word: place for place, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1)},
    **{word: place for place, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
         "tenth"), 1)},
    **{each: place for place, each in enumerate("一二三四五六七八九十", 1)},
}  # fmt: skip

_DONE = "xX✓✔√"
_BOX = re.compile(
    rf"^\s*(?:[-*+•]\s*|\d{{1,2}}[.)、]\s*)?(?:\[(?P<box>[ {_DONE}~>*/-])\]\s+"
    r"|(?P<sign>[✅☑✔✓☐⬜🔲⏳🔄▶❌⏭])\ufe0f?\s*)(?P<text>\S.*)$"
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
# Words before a list that announce a plan.
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
    """Steps listed in a text."""

    items: tuple[Item, ...]
    is_plan: bool  # the text announces them as a plan


@dataclass(frozen=True, slots=True)
class _Line:
    item: Item
    number: int | None  # None: it has a box instead of a number
    says_step: bool = False


def listing_in(text: str) -> Listing | None:
    """Return the longest list of steps in a text: with boxes, or numbered from 1 without a gap.

    A line outside all items ends a list. None: fewer than two items.
    """
    best: Listing | None = None
    for before, lines in _step_lists(text[:_SEARCHED]):
        if len(lines) >= _LEAST and (best is None or len(lines) > len(best.items)):
            boxed = all(each.number is None for each in lines)
            steps = all(each.says_step for each in lines)
            announced = _ANNOUNCED.search(before) or _ANNOUNCED_CHINESE.search(before)
            items = tuple(each.item for each in lines[:MOST_STEPS])
            best = Listing(items, boxed or steps or bool(announced))
    return best


def item_of(line: str) -> Item:
    """Return the step of one line, such as "[x] Read the code"; any line is a step."""
    return _boxed(line) or Item(_text(line))


def _boxed(line: str) -> Item | None:
    box = _BOX.match(line)
    return Item(_text(box["text"]), _STATES[box["box"] or box["sign"]]) if box else None


def _step_lists(text: str) -> Iterator[tuple[str, list[_Line]]]:
    """Yield lists, each with the line before it."""
    before, run, fenced = "", list[_Line](), False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        item = None if fenced else _line(line)
        if item is not None and _continues_list(run, item):
            run.append(item)
        elif item is not None and item.number in {None, 1}:
            yield before, run
            run = [item]
        elif run and (not line.strip() or line[:1].isspace()):
            continue  # a gap, or a part of the item above
        elif line.strip():
            yield before, run
            run, before = [], line
    yield before, run


def _continues_list(run: list[_Line], item: _Line) -> bool:
    if not run:
        return False
    last = run[-1].number
    return item.number is None if last is None else item.number == last + 1


def _line(line: str) -> _Line | None:
    if boxed := _boxed(line):
        return _Line(boxed, None)
    if (found := _NUMBERED.match(line)) is None:
        return None
    text, state = _text_and_state(_text(found["text"]))
    says = bool(found["step"] or found["ordinal"] or found["place"])
    return _Line(Item(text, state), _number(found), says) if text else None


def _number(found: re.Match[str]) -> int:
    names = ("number", "chinese", "ordinal", "place", "step", "circled")
    value = next(found[name] for name in names if found[name])
    return _NUMBERS.get(value) or int(value)


def _text_and_state(text: str) -> tuple[str, StepState | None]:
    if struck := _STRUCK.match(text):
        return struck["text"], StepState.DONE
    tail = _TAIL.search(text)
    if tail is None:
        return text, None
    name = next(key for key, value in tail.groupdict().items() if value)
    return text[: tail.start()].rstrip(), StepState(name if name != "tick" else "done")


def _text(text: str) -> str:
    return " ".join(text.replace("**", "").split())[:LONGEST_STEP]


_LONGEST = 200  # characters; longer sentences are not read

_WORD = "|".join(sorted((each for each in _NUMBERS if each.isascii()), key=len, reverse=True))
_STEP = rf"(?:steps? (?:number |no\. ?|#)?(?P<a>{_WORD})|(?:the )?(?P<ax>{_WORD}) step)\b"
_OVER = r"(?:done|complete|completed|finished|ready|through)\b"
_STEP_CHINESE = (
    r"(?:第\s*(?P<a>[一二三四五六七八九十]|\d{1,2})\s*步|"
    r"步骤\s*(?P<ax>[一二三四五六七八九十]|\d{1,2}))"
)


def _rule(step: str, pattern: str, state: StepState) -> tuple[re.Pattern[str], StepState]:
    return re.compile(pattern.replace("STEP", step), re.IGNORECASE), state


_english, _chinese = partial(_rule, _STEP), partial(_rule, _STEP_CHINESE)

_RULES = (
    _english(r"\bSTEP(?: \([^)]*\))? (?:is|are|was|has been|'s) (?:now |all |already |finally |"
             r"also )?" + _OVER, StepState.DONE),
    _english(r"^\W*STEP\s*[:,–—-]?\s*" + _OVER + r"[\s.!✅]*$", StepState.DONE),
    _english(r"\b(?:finished|completed|done with|through with|wrapped up) (?:with "
             r")?STEP", StepState.DONE),
    _english(r"\b(?:moving on to|(?:now )?starting(?: on| with)?|started(?: on)?|beginning|"
             r"working on|on to|proceeding to|continuing with) STEP", StepState.ACTIVE),
    _english(r"\b(?:skip(?:ping|ped)?|drop(?:ping|ped)?|cancel(?:l?ing|l?ed)?|leave out|leaving "
             r"out) STEP", StepState.DROPPED),
    _english(r"\bSTEP (?:is|was|has been) (?:skipped|dropped|cancell?ed|no longer "
             r"needed)", StepState.DROPPED),
    _chinese("STEP(?:.{0,12})?(?:已经?|都|也|终于)?(?:完成|做完|搞定|弄完|弄好|做好|"
             "结束)了?", StepState.DONE),
    _chinese("(?:已经?)?(?:完成|做完|搞定|弄完|结束)了?STEP", StepState.DONE),
    _chinese("(?:现在|我)?(?:开始|进入|着手|继续|正在做|正在进行)(?:做|进行|"
             "执行)?STEP", StepState.ACTIVE),
    _chinese("(?:跳过|取消|放弃|不做|去掉)了?STEP", StepState.DROPPED),
    _chinese("STEP(?:不做了|跳过|取消)", StepState.DROPPED),
)  # fmt: skip
_THIS_DONE = re.compile(
    r"\b(?:this|the current) step (?:is|has been) (?:now )?"
    + _OVER
    + r"|\b(?:done|finished) with (?:this|the current) step\b"
    + "|(?:这一步|当前步骤|本步骤)(?:已经?)?(?:完成|做完|搞定)了?",
    re.IGNORECASE,
)
_ALL_DONE = re.compile(
    r"\b(?:all|every) (?:of the |the )?steps? (?:are|is|have been|has been) (?:now )?"
    + _OVER
    + r"|\bthe (?:whole |entire )?plan is (?:now )?(?:done|complete|completed|finished)\b"
    + "|(?:所有|全部)(?:的)?步骤(?:都|已|均)*(?:完成|做完)|计划(?:已|全部|都)+(?:完成|做完)",
    re.IGNORECASE,
)
# Questions, denials, conditions and announcements: nothing has changed.
_OPEN = re.compile(
    r"\?\s*$|\b(?:not|n't|never|once|when|whenever|if|after|before|until|unless|almost|nearly|"
    r"will|would|should|"
    r"could|can|may|might|half|let me know|as soon as|yet to)\b|isn't|hasn't|aren't|wasn't"
    "|[?？]\\s*$|[吗么][。！]?$|还没|没有|尚未|未完成|如果|假如|等|之后|以后|完成后|做完后|即将|"
    "快要|差不多|一半|之前|才能|先别|不要|"
    "是否|能不能|需要|应该|将会|会在",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Progress:
    """A change of state that a message reports."""

    position: int | None  # of the step, from 1; 0: the active one; None: all open ones
    state: StepState


def progress_in(text: str) -> list[Progress]:
    """Return the state changes of plan steps in a text, in its order."""
    text = text[:_SEARCHED]
    return [
        progress
        for start, end in sentence_spans(text)
        if end - start <= _LONGEST
        for progress in _progress_in_sentence(text[start:end])
    ]


def _progress_in_sentence(sentence: str) -> Iterator[Progress]:
    if _OPEN.search(sentence):
        return
    if _ALL_DONE.search(sentence):
        yield Progress(None, StepState.DONE)
    elif _THIS_DONE.search(sentence):
        yield Progress(0, StepState.DONE)
    states: dict[int, StepState] = {}
    for pattern, state in _RULES:
        for found in pattern.finditer(sentence):
            states.setdefault(_NUMBERS.get((found["a"] or found["ax"]).lower(), 0), state)
    yield from (Progress(place, state) for place, state in states.items() if place)


_TOOL = re.compile(
    r"(?:^|[._-])(?:(?:update|create|set|make|write|edit|replace|manage|new|"
    r"submit)_?(?:the_)?(?:plans?|todos?|todo_?list|"
    r"task_?list|tasks|steps)|(?:plans?|todos?|todo_?list|task_?list)_?(?:update|create|write|set|"
    r"manager)?)$",
    re.IGNORECASE,
)
_LISTS = ("plan", "todos", "steps", "tasks", "items", "todo_list", "todo", "list")
_TEXTS = ("step", "content", "title", "text", "description", "task", "name")
_STATE_FIELDS = ("status", "state")
_WORDS = {
    StepState.PENDING: "pending todo not_started open queued waiting 待办 未开始",
    StepState.ACTIVE: "in_progress active doing current started running 进行中",
    StepState.DONE: "completed complete done finished closed 已完成 完成",
    StepState.DROPPED: "cancelled canceled dropped skipped removed 取消 跳过",
}
_STATE_OF_WORD = {word: state for state, words in _WORDS.items() for word in words.split()}


def called_plan(tool_calls: Iterable[Mapping[str, Any]]) -> tuple[Item, ...]:
    """Return the steps of the last call that contains a plan; none without such a call.

    Models wrote the calls: unreadable ones are ignored.
    """
    found: tuple[Item, ...] = ()
    for call in tool_calls:
        function = call.get("function")
        if isinstance(function, Mapping) and _TOOL.search(str(function.get("name", ""))):
            found = _items(function.get("arguments")) or found
    return found


def _items(arguments: object) -> tuple[Item, ...]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return ()
    if isinstance(arguments, Mapping):
        lists = (arguments.get(name) for name in _LISTS)
        arguments = next((each for each in lists if isinstance(each, list)), None)
    if not isinstance(arguments, list):
        return ()
    items = [item for each in arguments if (item := _item(each)) is not None]
    return tuple(items[:MOST_STEPS])


def _item(value: object) -> Item | None:
    if isinstance(value, str):
        return Item(text) if (text := _text(value)) else None
    if not isinstance(value, Mapping):
        return None
    texts = (_text(value[name]) for name in _TEXTS if isinstance(value.get(name), str))
    text = next(filter(None, texts), "")
    word = next((value[name] for name in _STATE_FIELDS if isinstance(value.get(name), str)), "")
    state = _STATE_OF_WORD.get(word.strip().lower().replace(" ", "_").replace("-", "_"))
    return Item(text, state) if text else None


_SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})


@dataclass(frozen=True, slots=True)
class PlanSigns:
    """The content of a message about plans, independent of the current plan."""

    listing: Listing | None = None
    progress: Sequence[Progress] = ()

    def __bool__(self) -> bool:
        """Return True if it may concern a plan."""
        return self.listing is not None or bool(self.progress)


def plan_signs(message: Message) -> PlanSigns:
    """Return a message's content about plans; notes and other roles have none."""
    if message.role not in _SPEAKERS or message.is_note:
        return PlanSigns()
    if called := called_plan(message.tool_calls):
        return PlanSigns(Listing(called, is_plan=True))
    if not message.content:
        return PlanSigns()
    listing = listing_in(message.content)
    # The states in a plan are complete; the text around it is about them.
    progress = [] if listing and listing.is_plan else progress_in(message.content)
    return PlanSigns(listing, progress)


def follow(
    plan: Plan | None, message: Message, signs: PlanSigns, user_id: str | None
) -> Plan | None:
    """Return the session's plan after a message; the same object if nothing has changed.

    ``user_id``: the user of the session.
    """
    listing = signs.listing
    if listing is not None and (listing.is_plan or repeats_plan(plan, listing.items)):
        return listed(plan, listing.items, message.seq, message.session_id, user_id)
    if plan is None or not signs.progress:
        return plan
    changed = plan
    for each in signs.progress:
        changed = with_states(changed, _states(changed, each), message.seq)
    return _changed(plan, changed)


def listed(
    plan: Plan | None, items: Sequence[Item], seq: int, session_id: str | None, user_id: str | None
) -> Plan:
    """Return the plan after the message of this seq listed it, or a new plan."""
    if plan is not None and repeats_plan(plan, items):
        return _changed(plan, _updated(plan, items, seq))
    return made_of(items, seq, session_id, user_id)


def repeats_plan(plan: Plan | None, items: Sequence[Item]) -> bool:
    """Return True if a list repeats the plan: it shares half of its items, or of the steps."""
    known = {normalized_words(each.text) for each in plan.steps} if plan else set()
    shared = sum(normalized_words(each.text) in known for each in items)
    return shared > 0 and 2 * shared >= min(len(items), len(known))


def _changed(before: Plan, after: Plan) -> Plan:
    return before if after == before else after


def _updated(plan: Plan, items: Sequence[Item], seq: int) -> Plan:
    """Return a plan after a new listing: finished steps stay, missing open ones are dropped."""
    known = {normalized_words(each.text): each for each in plan.steps}
    listed = [normalized_words(each.text) for each in items]
    left = [each for each in plan.steps if normalized_words(each.text) not in listed]
    steps = [
        *(each for each in left if each.state.is_over),
        *(known.get(normalized_words(each.text), Step(each.text, seq)) for each in items),
        *(each for each in left if not each.state.is_over),
    ][:MOST_STEPS]
    over = sum(each.state.is_over for each in left)
    states = {over + place: each.state for place, each in enumerate(items, 1) if each.state}
    dropped = dict.fromkeys(range(over + len(items) + 1, len(steps) + 1), StepState.DROPPED)
    return with_states(replace(plan, steps=tuple(steps)), {**states, **dropped}.items(), seq)


def _states(plan: Plan, progress: Progress) -> list[tuple[int, StepState]]:
    states = [(place, each.state) for place, each in enumerate(plan.steps, 1)]
    if progress.position is None:
        return [(place, progress.state) for place, state in states if not state.is_over]
    if progress.position == 0:
        return [(place, progress.state) for place, state in states if state is StepState.ACTIVE]
    here = [(progress.position, progress.state)]
    if progress.state is StepState.ACTIVE:
        # The active steps before it are done.
        before = states[: progress.position - 1]
        left = [place for place, state in before if state is StepState.ACTIVE]
        return [*((place, StepState.DONE) for place in left), *here]
    return here
