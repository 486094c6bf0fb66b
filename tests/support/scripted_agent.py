"""A scripted language model that works with a small context.

It has no memory: like a real model, it decides by the request alone. The user's question tells it
what to do, such as ``ask: kestrel-17``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memci.domain.token_counts import LIST_OVERHEAD, MESSAGE_OVERHEAD
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.model_server import RecordedRequest, Reply, calls, says

_BELOW_ROOT = 2  # level of headings
_HEADING = re.compile(r"^(#+) \[([a-z]+-\d+)\] (.*) \((.*)\)$", re.MULTILINE)
_count = OfflineTokenCounter().count


def sent_tokens(body: Mapping[str, Any]) -> int:
    """Tokens of a request as it arrived: its messages, and its tools as compact JSON."""
    messages = sum(_message_tokens(each) for each in body["messages"])
    return LIST_OVERHEAD + messages + _count(_json(body.get("tools", [])))


def _message_tokens(message: Mapping[str, Any]) -> int:
    made = message.get("tool_calls")
    return (
        _count(message.get("content") or "")
        + (_count(_json(made)) if made else 0)
        + (MESSAGE_OVERHEAD)
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Line:
    """A heading in the window: its page, the state of the page, and the text below it."""

    level: int
    index: str
    name: str
    state: str
    below: str

    @property
    def is_archived(self) -> bool:
        return "recalled" in self.state

    @property
    def is_interaction(self) -> bool:
        """Whether this is a page of the conversation; notes are called lessons."""
        in_chapter = self.level == _BELOW_ROOT and self.index.startswith("usr-")
        is_note = self.name.startswith("Lesson")
        return in_chapter and self.state.startswith("page") and not is_note


class Seen:
    """A request as the model reads it: pages, then the current interaction."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        asked = max(n for n, each in enumerate(messages) if each["role"] == "user")
        self.question = str(messages[asked]["content"])
        self.results = [str(each["content"]) for each in messages[asked:] if each["role"] == "tool"]
        before = [str(each.get("content") or "") for each in messages[:asked]]
        self.said = [each for each in before if not each.startswith("#")]
        written = "".join(each for each in before if each.startswith("#"))
        found = list(_HEADING.finditer(written))
        ends = [*(each.start() for each in found[1:]), len(written)]
        every = [
            Line(len(each[1]), each[2], each[3], each[4], written[each.end() : end])
            for each, end in zip(found, ends, strict=True)
        ]
        self.lines = every[:-1]  # the last one is the question

    def in_state(self, state: str) -> list[Line]:
        return [each for each in self.lines if each.state == f"page, {state}"]

    def about(self, thing: str) -> Line | None:
        """The first line about a thing that has more to show, and is not just a question about it.

        A system page may tell of the thing, too, such as the page of the key messages.
        """
        found = (each for each in self.lines if "expanded" not in each.state)
        about = (each for each in found if thing in each.name + each.below and _tells(each.name))
        return next(about, None)

    def contents(self) -> Line | None:
        return next((each for each in self.lines if each.name == "Contents Page"), None)

    @property
    def last_result(self) -> str:
        return self.results[-1] if self.results else ""


def _tells(name: str) -> bool:
    return not name.startswith("ask")


def scripted_agent(handler: Any, asked: RecordedRequest) -> None:
    """Reply to a request; this function is a ``Reply``."""
    seen = Seen(asked.body["messages"])
    task, _, subject = seen.question.partition(": ")
    _TASKS[task](seen, subject)(handler, asked)


def _log(_: Seen, fact: str) -> Reply:
    return says(f"Understood, that is clear about {fact.split(maxsplit=1)[0]}.")


def _ask(seen: Seen, thing: str) -> Reply:
    """Answer with a thing's code from its message, whose page is expanded for that.

    The index of the page is in the window or on the Contents Page, or it is searched.
    """
    lead = f"{thing} has the code "
    for text in seen.said:
        if lead in text:
            return says(text.partition(lead)[2].partition(".")[0])
    return _look_for(seen, thing)


def _look_for(seen: Seen, thing: str) -> Reply:
    line = seen.about(thing)
    if line is not None:
        return calls("recall_page" if line.is_archived else "expand_details", index=line.index)
    contents = seen.contents()
    if contents is not None and not seen.results and "hidden" in contents.state:
        return calls("expand_details", index=contents.index)
    if contents is not None and f'"index":"{contents.index}","state":"exp' in seen.last_result:
        # It is not found. Real models try this, too; it is refused for pages of the system.
        return calls("hide_details", index=contents.index)
    if "pages" not in seen.last_result:
        return calls("find_pages", query=thing, limit=3)
    found = json.loads(seen.last_result)["pages"]
    page = next(each for each in found if thing in str(each) and _tells(each["name"]))
    if page["state"] == "removed":
        return calls("restore_page", index=page["index"], parent="usr-0")
    is_archived = contents is not None and page.get("parent") == contents.index
    return calls("recall_page" if is_archived else "expand_details", index=page["index"])


def _note(seen: Seen, lesson: str) -> Reply:
    if not seen.results:
        return calls("create_detail_page", name=lesson[:40], detail=lesson, parent="usr-0")
    return says("Written down.")


def _file(seen: Seen, name: str) -> Reply:
    """Make a folder of all shelves, or of the first two interactions and all visible notes."""
    if seen.results:
        return says(f"Filed into {name}.")
    here = [each for each in seen.lines if each.level == _BELOW_ROOT]
    if name.startswith("Cabinet"):
        found = [each for each in here if each.name.startswith("Shelf")]
    else:
        talk = [each for each in here if each.is_interaction]
        found = [*talk[:2], *(each for each in here if each.name.startswith("Lesson"))]
    return calls(
        "create_contents_page", name=name, parent="usr-0", description="What was filed",
        children=[each.index for each in found],
    )  # fmt: skip


def _hide(seen: Seen, how: str) -> Reply:
    """Hide the first interaction; if that was a mistake, undo and redo it."""
    steps = {"once": 1, "by mistake": 2, "after all": 3}[how]
    if len(seen.results) >= steps:
        return says("Done.")
    if seen.results:
        return calls("undo" if len(seen.results) == 1 else "redo")
    expanded = [each.index for each in seen.in_state("expanded") if each.is_interaction]
    return calls("hide_details", index=expanded[0]) if expanded else says("Nothing to hide.")


def _tidy(seen: Seen, tokens: str) -> Reply:
    return says("Tidy.") if seen.results else calls("auto_collapse", max_tokens=int(tokens))


_TASKS: Mapping[str, Callable[[Seen, str], Reply]] = {
    "log": _log,
    "ask": _ask,
    "note": _note,
    "file": _file,
    "hide": _hide,
    "tidy": _tidy,
}
