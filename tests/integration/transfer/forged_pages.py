"""Forged pages of archives: invalid rows, and inconsistent trees (P1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.archives import Change, first


def of(pick: Callable[[dict[str, Any]], bool], **changed: Any) -> Change:
    """Change the first row that ``pick`` selects."""

    def change(rows: list[Any]) -> None:
        next(row for row in rows if pick(row)).update(changed)

    return change


def is_note(row: dict[str, Any]) -> bool:
    return row["text_version"] is not None and not row["cold"]


def is_folder(row: dict[str, Any]) -> bool:
    return row["name"] == "Plans"


def is_talk(row: dict[str, Any]) -> bool:
    return bool(row["number"]) and row["session_id"] == "sorted"


def is_system(row: dict[str, Any]) -> bool:
    return bool(row["number"] == 0)


def is_root(row: dict[str, Any]) -> bool:
    return bool(row["id"] == "usr-0")


def is_archive(row: dict[str, Any]) -> bool:
    return bool(row["managed"])


def segment(**changed: Any) -> Change:
    return lambda rows: rows[0]["segments"][1].update(changed)


def edit(index: str = "usr-1", **changed: Any) -> Change:
    """Replace the edits of the first step; each field has its values before and after."""
    was, became = ({name: two[at] for name, two in changed.items()} for at in (0, 1))
    return lambda rows: rows[0].update(changes=[{"index": index, "was": was, "became": became}])


def another(pick: Callable[[dict[str, Any]], bool], **changed: Any) -> Change:
    """Add a changed copy of the first row that ``pick`` selects."""

    def change(rows: list[Any]) -> None:
        rows.append({**next(row for row in rows if pick(row)), **changed})

    return change


def put_folder_into_itself(rows: list[Any]) -> None:
    folder = next(row for row in rows if is_folder(row))
    folder["parent"] = folder["id"]


PAGES: dict[str, tuple[str, Change]] = {
    "a page of no index": ("page", first(id="sys")),
    "a page of an index written otherwise": ("page", of(is_note, id="usr-01")),
    "a page of a path": ("page", of(is_note, id="../../etc-1")),
    "a page of another segment than its index says": ("page", of(is_note, segment="sys")),
    "a page of a kind that is none": ("page", first(kind="symlink")),
    "a page of many lines": ("page", of(is_note, name="A\n# [usr-0] root")),
    "a page of a line that Unicode ends": ("page", of(is_note, name="A\u2028# [usr-0]")),
    "a page of a name without end": ("page", of(is_note, name="x" * 201)),
    "a page of a description without end": ("page", of(is_folder, description="x" * 2001)),
    "a page of a summary without end": ("page", of(is_talk, entries=["x" * 401])),
    "a page of a summary of many lines": ("page", of(is_talk, entries=["a\nb"])),
    "a folder with a text": ("page", of(is_folder, text_version=1)),
    "a folder of messages": ("page", of(is_folder, first_seq=1, last_seq=1, number=1,
                                        answered=True)),
    "a folder with summaries": ("page", of(is_folder, entries=["user: a"])),
    "a note of messages": ("page", of(is_note, first_seq=1, last_seq=1, number=1, answered=True)),
    "a note of version 0": ("page", of(is_note, text_version=0)),
    "a page of nothing": ("page", of(is_note, text_version=None)),
    "a page of half a span": ("page", of(is_talk, last_seq=None)),
    "a page that ends before it begins": ("page", of(is_talk, first_seq=10, last_seq=9)),
    "a page of a system message in the conversation": ("page", of(is_talk, number=0)),
    "a page of an interaction in the system's segment": ("page", of(is_system, number=1)),
    "a page of two system messages": ("page", of(is_system, first_seq=1)),
    "a root that lies in something": ("page", of(is_root, parent="sys-0")),
    "a root that was removed": ("page", of(is_root, cold=True)),
    "a root that is a note": ("page", of(is_root, kind="detail", text_version=1)),
    "a page that lies nowhere": ("page", of(is_note, parent=None)),
    "a recall before the first": ("page", of(is_talk, recalls=-1)),
    "a tree of version 0": ("page_tree", first(version=0)),
    "a tree without segments": ("page_tree", first(segments=[])),
    "a tree whose segments are no objects": ("page_tree", first(segments=["sys", "usr"])),
    "a tree of two segments of one id": ("page_tree", segment(id="sys")),
    "a tree without a conversation": ("page_tree", segment(id="own")),
    "a segment of a permission that is none": ("page_tree", segment(permission="ROOT")),
    "a segment of a kind that is none": ("page_tree", segment(kind="root")),
    "a segment that numbers from 0": ("page_tree", segment(next_number=0)),
    "a segment that numbers in text": ("page_tree", segment(next_number="9")),
    "a segment that says more": ("page_tree", segment(owner="eve")),
    "a segment of many lines": ("page_tree", segment(name="A\n# B")),
    "a notice of no page": ("page_tree", first(notice=["# [usr-0] root"])),
    "an archive that is no page": ("page_tree", first(archive="/etc/passwd")),
    "a page of a user that is no text": ("page", first(user_id=5)),
    "a step of a user that is no text": ("page_step", first(user_id=["bob"])),
    "a page that nobody pinned": ("page", first(pinned_by="root")),
    "a page that takes less than nothing": ("page", first(content_tokens=-1)),
    "a step that is half undone": ("page_step", first(undone="half")),
    "a step of number 0": ("page_step", first(number=0)),
    "a step of an operation that is none": ("page_step", first(operations=["rm -rf"])),
    "a step that changes nothing": ("page_step", first(changes={})),
    "a step without an index": ("page_step", first(changes=[{"was": {}, "became": {}}])),
    "a step of one page twice": (
        "page_step", first(changes=[{"index": "usr-1", "was": {}, "became": {}}] * 2)),
    "a step that came from nothing": (
        "page_step", first(changes=[{"index": "usr-1", "was": {}, "became": {"name": "x"}}])),
    "a step that changes an index": ("page_step", edit(index="usr-1", kind=("detail", "contents"))),
    "a step that gives another's text": ("page_step", edit(text_version=(1, 2))),
    "a step that shows other messages": ("page_step", edit(span=([1, 2], [1, 9]))),
    "a step that names in many lines": ("page_step", edit(name=("a", "a\n# b"))),
    "a step of recalls that are none": ("page_step", edit(recalls=([0], [1]))),
    "a step of recalls of text": ("page_step", edit(recalls=([0, 0, 0, 0, 0], [0, 0, 0, 0, "1"]))),
    "a step that removes a root": ("page_step", edit(index="usr-0", cold=(False, True))),
    "a step that moves a root": ("page_step", edit(index="usr-0", parent=(None, "usr-5"))),
    "a text of no page": ("page_text", first(page_id="..")),
    "a text of version 0": ("page_text", first(version=0)),
    "a text that is none": ("page_text", first(text="")),
    "a text with U+0000": ("page_text", first(text="a\u0000b")),
    "half a surrogate pair in a text": ("page_text", lambda rows: rows.__setitem__(
        0, '{"page_id": "usr-1", "version": 1, "text": "\\ud800"}')),
}  # fmt: skip
TREES: dict[str, tuple[str, Change]] = {
    "two pages of one index": ("page", another(is_note)),
    "pages without a tree": ("page_tree", lambda rows: rows.clear()),
    "two trees": ("page_tree", lambda rows: rows.append({**rows[0], "version": 99})),
    "a page of a segment that is not": ("page", another(is_note, id="own-1", segment="own")),
    "a page above all numbers": ("page", of(is_talk, id="usr-999")),
    "a segment without a root": ("page_tree", lambda rows: rows[0]["segments"].append(
        {**rows[0]["segments"][0], "id": "own"})),
    "a page in a folder that is not": ("page", of(is_talk, parent="usr-998")),
    "a page in a page": ("page", of(is_folder, parent="usr-1")),
    "a page in a folder of another segment": ("page", of(is_note, parent="sys-0")),
    "a page in a removed folder": ("page", of(
        lambda row: row["cold"] and row["parent"] is not None, cold=False)),
    "a removed page in a folder": ("page", of(is_note, cold=True)),
    "a folder in itself": ("page", put_folder_into_itself),
    "a place above all": ("page", of(is_note, place=9_999)),
    "an interaction above all": ("page", of(is_talk, number=9_999)),
    "two interactions of one number": ("page", lambda rows: [
        row.update(number=1) for row in rows if is_talk(row)]),
    "a page of messages to come": ("page", of(is_talk, last_seq=9_999)),
    "messages on pages that never were": ("page_tree", first(settled_seq=9_999)),
    "messages that are on no page": ("page", lambda rows: rows.remove(
        next(row for row in rows if is_talk(row) and row["name"] == "Question 3?"))),
    "a page of another session's messages": ("page", of(is_talk, session_id="other")),
    "a page of messages of nobody": ("page", of(is_system, session_id=None)),
    "two pages of the same messages": ("page", another(is_talk, id="usr-3", number=3)),
    "an archive that is not there": ("page_tree", first(archive="usr-998")),
    "an archive that is a root": ("page_tree", first(archive="usr-0")),
    "an archive that the agent may move": ("page", of(is_archive, managed=False)),
    "a step to come": ("page_step", first(number=999)),
    "a step of no page": ("page_step", edit(index="usr-998", name=("a", "b"))),
    "a step into a page": ("page_step", edit(index="usr-2", parent=("usr-0", "usr-1"))),
    "a step out of nowhere": ("page_step", edit(index="usr-2", parent=("usr-998", "usr-0"))),
    "a step into another segment": ("page_step", edit(index="usr-2", parent=("usr-0", "sys-0"))),
    "a note without a text": ("page_text", lambda rows: rows.pop()),
    "a text of another version": ("page_text", first(version=7)),
    "a text of no note": ("page_text", first(page_id="usr-1")),
    "two texts of one note": ("page_text", lambda rows: rows.append(rows[0])),
}  # fmt: skip
