"""ATTP requests and answers, and the guide that explains ATTP to a model (P15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from functools import cache
from typing import NamedTuple

from pydantic import Field, JsonValue

from memci.domain.pages.labels import labels_of
from memci.language.detection import Language
from memci.schemas.base import Answer, Request, Text
from memci.schemas.memory_tools import Found
from memci.schemas.pages import OVER, PageOut
from memci.schemas.tools import Tool, tools_in_code

LONGEST_ANSWER = 100_000


class AttpStatus(StrEnum):
    """How a call went."""

    SUCCESS = "success"
    FAIL = "fail"


class AttpRequest(Request):
    """What a model answered, as it is: TOML, with or without a fence and prose around it.

    Of more than 100,000 characters nothing is done, and our answer tells the model so.
    """

    text: Text


class AttpChanges(Answer):
    """What a call changed: pages that were asked for, pages that were hidden to fit, and tokens."""

    pages: list[str]
    collapsed: list[str]
    tokens_before: int
    tokens_after: int
    over: int = Field(description=OVER)


class AttpAnswer(Answer):
    """What the model's code came to; ``text`` says it in TOML, for the model."""

    text: str
    status: AttpStatus
    target: str = Field("", description="What the model said its call is about")
    result: JsonValue = Field(None, description="What the code left in __result__")
    printed: str = ""
    error: str | None = Field(None, description="Why nothing was done, and what to do next")
    changes: AttpChanges | None = Field(None, description="Null when nothing was run")


class Guide(NamedTuple):
    """What the page is called, and what it says."""

    name: str
    description: str
    text: str


_TOOLS = tools_in_code()
_ENGLISH = """\
You can act on this context. Pages have an index in brackets, such as [usr-12]. To act, answer with
TOML and nothing else:

thought = "why I do this"

[tool_call]
status = "success"
target = "usr-12"
code = '''
page = get_page(index="usr-12")
hide_details(index="usr-12")
__result__ = page["text"]
'''

- code is Python that calls the functions below. Name the arguments. Put what you want to be told
  into __result__ (text, numbers, true or false, lists, dicts).
- Put code between three single quotes (''').
- If you cannot do it: status = "fail" and message = "why", without code.
- target is the index that it is about, or a few words.
- math, json, datetime, re and random are there, and mean, median, stdev. No other imports, files or
  network. At most 5 seconds, 100 calls and 20 new notes.
- All changes of one answer are made together. If one fails, none is made.
- You get TOML back: status, result, changes (pages, tokens before and after), or error. When there
  is an error, do what it says and try again.

Functions:"""
_CHINESE = """\
你可以操作这个上下文。每个页面都有方括号里的索引，例如 [usr-12]。
要操作时，只用 TOML 回答，不要写别的：

thought = "为什么这样做"

[tool_call]
status = "success"
target = "usr-12"
code = '''
page = get_page(index="usr-12")
hide_details(index="usr-12")
__result__ = page["text"]
'''

- code 是调用下列函数的 Python 代码。参数要写名字。
  想知道的结果放进 __result__（文本、数字、真假、列表、字典）。
- 代码放在三个单引号（'''）之间。
- 如果做不到：写 status = "fail" 和 message = "原因"，不写 code。
- target 是相关页面的索引，或者几个字的说明。
- 可以直接用 math、json、datetime、re、random，以及 mean、median、stdev。
  不能导入别的模块，没有文件和网络。最多 5 秒、100 次调用、20 条新笔记。
- 一次回答里的所有改动一起生效；有一个失败，就全部不生效。
- 你会收到 TOML：status、result、changes（页面、前后的 token 数），或者 error。
  有 error 时，按它说的改好再试。

函数："""
_TITLES = {
    Language.ENGLISH: ("Tools (ATTP)", "How to call tools by TOML"),
    Language.CHINESE: ("工具协议（ATTP）", "怎样用 TOML 调用工具"),
}
_RETURNS = {
    Language.ENGLISH: "They return dicts with these keys:",
    Language.CHINESE: "它们返回字典，键是：",
}
_OTHERS = {Language.ENGLISH: "all others", Language.CHINESE: "其余"}
_IN_CHINESE: Mapping[str, str] = {
    "create_detail_page": "写一条笔记，正文是 detail。它是隐藏的，用 expand_details 显示正文。",
    "create_contents_page": "新建目录，并按顺序把 children 里的页面移进去。新目录是隐藏的。",
    "move_page": "把页面 source 连同下面的一切移到目录 target 的最后（同一段之内）。",
    "update_page": "修改页面的名称或描述。",
    "expand_details": "展开页面：显示它的消息或正文，或者目录里的页面。会占用 token。",
    "hide_details": "隐藏页面：只留下名称和描述。节省 token，内容不会丢失。",
    "remove_page": "把页面连同下面的一切移出上下文。restore_page 可以放回来。",
    "recall_page": "把目录页上归档的页面召回到对话中，并展开。",
    "restore_page": "把移出的页面连同一起移出的一切放回目录 parent 的最后。",
    "pin_page": "钉住页面：窗口满时系统不会隐藏它。",
    "unpin_page": "取消钉住：窗口满时系统可以隐藏它。",
    "pin": "置顶一段短文字或一条消息（message 是 id）：始终可见，直到 unpin，每次都占 token。",
    "unpin": "取消置顶。pin 是窗口里方括号中的编号。",
    "remember": "把事实、决定、偏好或教训记入长期记忆。",
    "update": "更正一条错误或过时的记忆（memory 是它的编号）。旧的留在历史里。",
    "recall": "从当前话题出发，按关键词回忆。",
    "search": "按含义和用词搜索说过的和记住的一切。",
    "summarise": "概括一个页面、几条消息，或到目前为止的对话。不改变任何东西。",
    "filter_memory": "列出满足所有条件的记忆或消息（what），最新的在前，不用查询。",
    "focus": "把注意力转向一样东西：recall 从它出发。",
    "update_plan": "写下本次对话计划的全部步骤；或用 step（从 1 起）和 state 说明一步的进展。",
    "auto_collapse": "隐藏旧页面，直到窗口不超过 max_tokens 个 token。",
    "get_page": "读一个页面的状态和内容，长文分段，不改变窗口。",
    "get_children": "列出目录里的页面。",
    "get_parent": "查看页面在哪个目录里。",
    "get_ancestors": "列出页面上面的各级目录，最近的在前。",
    "find_pages": "按词查找页面（名称、描述、摘要、笔记），也包括移出的页面。",
}


@cache
def guide_in(language: Language) -> Guide:
    """Return the guide in a language. A tool without a Chinese line is described in English."""
    chinese = language is Language.CHINESE
    told = _IN_CHINESE if chinese else {}
    colon = labels_of(language).colon
    calls = (f"- {_call(tool)}{colon}{told.get(tool.name, tool.description)}" for tool in _TOOLS)
    head = _CHINESE if chinese else _ENGLISH
    text = "\n".join([head, *calls, "", _RETURNS[language], *_returns(language)])
    return Guide(*_TITLES[language], text)


def _call(tool: Tool) -> str:
    """Return how a tool is called; what may be left out stands with its default."""
    fields = tool.request.model_fields
    taken = (
        name
        if fields[name].is_required()
        else f"{name}={_plain(fields[name].get_default(call_default_factory=True))!r}"
        for name in tool.arguments
    )
    return f"{tool.name}({', '.join(taken)})"


def _plain(value: object) -> object:
    """Return a default as code would write it."""
    return value.value if isinstance(value, Enum) else value


def _returns(language: Language) -> Iterator[str]:
    """Return the keys of what functions return: one line for all that return the same.

    Those that most of them return come last, and need no names.
    """
    colon = labels_of(language).colon
    counts = Counter(tool.answer for tool in _TOOLS)
    for answer, _ in reversed(counts.most_common()):
        names = ", ".join(tool.name for tool in _TOOLS if tool.answer is answer)
        whose = _OTHERS[language] if answer is counts.most_common(1)[0][0] else names
        yield f"- {whose}{colon}{', '.join(answer.model_fields)}"
    yield f"- found[0]{colon}{', '.join(Found.model_fields)}"
    yield f"- page, pages[0]{colon}{', '.join(PageOut.model_fields)}"
