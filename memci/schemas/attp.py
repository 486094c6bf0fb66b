"""ATTP requests and answers, and the guide that explains ATTP to a model (P15)."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from enum import Enum, StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pydantic import Field, JsonValue

from memci.domain.pages.window_labels import labels_of
from memci.language.detection import Language
from memci.schemas.base import Answer, Request, Text
from memci.schemas.pages import PageOut, WindowEffect
from memci.schemas.tools.memory import Found
from memci.schemas.tools.table import Tool, tools_in_code

LONGEST_ANSWER = 100_000


class AttpStatus(StrEnum):
    """The outcome of a call."""

    SUCCESS = "success"
    FAIL = "fail"


class AttpRequest(Request):
    """The unchanged answer of a model: TOML, with or without a fence and prose around it.

    More than 100,000 characters are refused, and our answer tells the model so.
    """

    text: Text


class AttpChanges(WindowEffect):
    """The changes of a call: requested pages, pages that were hidden to fit, and tokens."""

    pages: list[str]


class AttpAnswer(Answer):
    """The result of the model's code; ``text`` is its TOML form for the model."""

    text: str
    status: AttpStatus
    target: str = Field("", description="What the model said its call is about")
    result: JsonValue = Field(None, description="The value of __result__")
    printed: str = ""
    error: str | None = Field(None, description="Why nothing was done, and what to do next")
    changes: AttpChanges | None = Field(None, description="Null when nothing was run")


class Guide(NamedTuple):
    """The name, description and text of the page."""

    name: str
    description: str
    text: str


_TOOLS = tools_in_code()
_TEXTS = tomllib.loads((files(__package__) / "attp_guide.toml").read_text(encoding="utf-8"))


@cache
def guide_in(language: Language) -> Guide:
    """Return the guide in a language. A tool without a Chinese line is described in English."""
    texts = _TEXTS["chinese" if language is Language.CHINESE else "english"]
    functions, colon = texts.get("functions", {}), labels_of(language).colon
    calls = (
        f"- {_call(tool)}{colon}{functions.get(tool.name, tool.description)}" for tool in _TOOLS
    )
    returns = _returns(texts["others"], colon)
    text = "\n".join([texts["head"], *calls, "", texts["returns"], *returns])
    return Guide(texts["name"], texts["description"], text)


def _call(tool: Tool) -> str:
    """Return how a tool is called; optional arguments stand with their defaults."""
    arguments = []
    for name in tool.arguments:
        field = tool.request.model_fields[name]
        default = field.get_default(call_default_factory=True)
        value = default.value if isinstance(default, Enum) else default
        arguments.append(name if field.is_required() else f"{name}={value!r}")
    return f"{tool.name}({', '.join(arguments)})"


def _returns(others: str, colon: str) -> Iterator[str]:
    """Yield the keys of what functions return: one line for all that return the same.

    Those that most of them return come last, as the ``others``.
    """
    counts = Counter(tool.answer for tool in _TOOLS).most_common()
    for answer, _ in reversed(counts):
        names = ", ".join(tool.name for tool in _TOOLS if tool.answer is answer)
        which = others if answer is counts[0][0] else names
        yield f"- {which}{colon}{', '.join(answer.model_fields)}"
    yield f"- found[0]{colon}{', '.join(Found.model_fields)}"
    yield f"- page, pages[0]{colon}{', '.join(PageOut.model_fields)}"
