"""Labels of the window in the agent's language, and safe forms of untrusted text (P11)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memci.language.detection import Language


@dataclass(frozen=True, slots=True)
class Labels:
    """State in words; ``{}`` is a number. ``heading`` is a page's name with its state."""

    heading: str
    page: str
    folder: str
    expanded: str
    page_hidden: str
    folder_hidden: str
    pinned: str
    takes: str
    system: str
    conversation: str
    archive: str
    archive_says: str
    recalled: str
    recalled_once: str
    never_recalled: str
    more: str  # entries that are not shown
    collapsed: str
    excess: str
    comma: str
    colon: str
    beside: str  # between indexes in a row
    lost: str
    pins: str
    pin_kinds: dict[str, str]
    roles: dict[str, str]


_ENGLISH = Labels(
    heading="{} ({})",
    page="page",
    folder="folder",
    expanded="expanded",
    page_hidden="hidden, can be expanded",
    folder_hidden="hidden, {} inside, can be expanded",
    pinned="pinned",
    takes="about {:,} tokens",
    system="System",
    conversation="Conversation",
    archive="Contents Page",
    archive_says="Archived interactions; recall_page brings one back by its index.",
    recalled="recalled {} times, last at interaction {}",
    recalled_once="recalled once, at interaction {}",
    never_recalled="never recalled",
    more="… {:,} more (get_page)",
    collapsed="Collapsed to fit the window: {} ({})",
    excess="Over the token limit of {most:,} by {over:,}: what cannot be hidden takes more",
    comma=", ",
    colon=": ",
    beside=", ",
    lost="(its text is missing in the page store)",
    pins="Pinned (always in sight)",
    pin_kinds={
        "task": "task",
        "constraint": "constraint",
        "preference": "preference",
        "decision": "decision",
        "note": "note",
    },
    roles={"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"},
)
_CHINESE = Labels(
    heading="{}（{}）",
    page="页面",
    folder="目录",
    expanded="已展开",
    page_hidden="已隐藏，可展开",
    folder_hidden="已隐藏，内有 {} 页，可展开",
    pinned="已固定",
    takes="约 {:,} token",
    system="系统",
    conversation="对话",
    archive="目录页",
    archive_says="已归档的交互；recall_page 可按索引召回。",
    recalled="召回 {} 次，最近在第 {} 轮交互",
    recalled_once="召回 1 次，在第 {} 轮交互",
    never_recalled="未召回",
    more="…… 另有 {:,} 条（get_page）",
    collapsed="为适应窗口已折叠 {} 页（{}）",
    excess="超出上限 {over:,} token（上限 {most:,}）：不可隐藏的内容已超出",
    comma="，",
    colon="：",
    beside="、",
    lost="（页面存储中缺少其文本）",
    pins="置顶（始终可见）",
    pin_kinds={
        "task": "任务",
        "constraint": "约束",
        "preference": "偏好",
        "decision": "决定",
        "note": "备注",
    },
    roles={"user": "用户", "assistant": "助手", "tool": "工具", "system": "系统"},
)


def labels_of(language: Language) -> Labels:
    """Return the labels of a language."""
    return _CHINESE if language is Language.CHINESE else _ENGLISH


_FENCE = re.compile(r"`{3,}")
# What begins a heading, in Markdown or as text, and what opens a fence.
_MARK = re.compile(r"\s*(?:[#=]|`{3}|~{3})")


def fenced(text: str, label: str = "") -> str:
    """Fence a text by more backticks than it has anywhere in a row."""
    longest = max((len(match[0]) for match in _FENCE.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def plain_name(name: str | None) -> str:
    """Return what a speaker is called, without what could break a line or a fence."""
    return re.sub(r"[\s`]+", " ", name or "").strip()


def plain_line(line: str) -> str:
    """Return a line that stands alone and begins neither a heading nor a fence."""
    return f"\\{line}" if _MARK.match(line) else line
