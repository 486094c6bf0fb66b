"""Ask a language model for one task, count the call and check the answer.

The schema for the provider has types only, because some providers refuse limits. All limits are
checked here.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memci.domain.job import TRIES_INSIDE
from memci.domain.usage import Usage
from memci.errors import SmallModelAnswerError, SmallModelError
from memci.language.detection import Language
from memci.message import Message
from memci.smallmodel.litellm.prompts import instructions
from memci.smallmodel.litellm.provider import Provider
from memci.smallmodel.usage_account import current_account

# Reasoning before the answer, and a fence around it, which small models add.
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL | re.IGNORECASE)
_LIMITS = frozenset(
    {"title", "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
)


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()


def _line(text: str) -> str:
    return " ".join(_clean(text).split())


Text = Annotated[str, AfterValidator(_clean)]
Line = Annotated[str, AfterValidator(_line)]


class Shape(BaseModel):
    """The shape of an answer, without extra fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Cuts(Shape):
    """Numbers of the messages that begin a topic, from 1."""

    starts: Annotated[list[int], Field(max_length=1_000)]


class Notes(Shape):
    """The annotation of a text."""

    phrase: Line
    keywords: Annotated[list[Line], Field(max_length=40)]
    entities: Annotated[list[Line], Field(max_length=40)]
    type: Literal["episodic", "semantic", "procedural"]


class Relations(Shape):
    """A relation for each focus point, in their order."""

    relations: Annotated[list[Line], Field(max_length=100)]


class Shorter(Shape):
    """The shortened text."""

    text: Text


class Verdict(Shape):
    """The judgement of a text for the long term."""

    eligible: bool
    worth: Annotated[float, Field(ge=0, le=10)]


class Summary(Shape):
    """The summary of a conversation."""

    summary: Text


class Plan(Shape):
    """Queries, best first."""

    queries: Annotated[list[Line], Field(max_length=20)]


class Names(Shape):
    """The name and description of an interaction, and a line for each message, in their order."""

    name: Line
    description: Line
    lines: Annotated[list[Line], Field(max_length=100)]


ShapeT = TypeVar("ShapeT", bound=Shape)


def schema_of(shape: type[Shape]) -> dict[str, Any]:
    """Return the JSON schema of an answer for the provider."""
    schema: dict[str, Any] = _without_limits(shape.model_json_schema())
    schema.pop("description", None)
    return schema


def read_answer(text: str, shape: type[ShapeT]) -> ShapeT:
    """Parse an answer; raises ``SmallModelAnswerError``, which quotes none of it."""
    stripped = _THOUGHT.sub("", text, count=1)
    fenced = _FENCED.match(stripped)
    try:
        return shape.model_validate_json(fenced[1] if fenced else stripped)
    except ValidationError as error:
        kinds = sorted({each["type"] for each in error.errors(include_input=False)})
        raise SmallModelAnswerError(
            f"the model's answer is not the JSON that was asked for: {', '.join(kinds)}"
        ) from None


def _without_limits(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_limits(value)
            for key, value in schema.items()
            if key not in _LIMITS or isinstance(value, dict)
        }
    return schema


T = TypeVar("T")


class BudgetUsedUpError(SmallModelError):
    """The agent's budget of the day is used up; no call was made."""


@dataclass(frozen=True)
class Question(Generic[ShapeT, T]):
    """A prompt's instructions, and their data.

    The data travels as one JSON object in a message of its own, so that quotes, delimiters or
    orders in it stay inside a string. ``read`` turns an answer into the result of the task, or
    raises ``SmallModelAnswerError``.
    """

    prompt: str
    language: Language
    data: Mapping[str, Any]
    shape: type[ShapeT]
    read: Callable[[ShapeT], T]


class LanguageModel:
    """One model for one task; safe for threads."""

    def __init__(self, task: str, provider: Provider) -> None:
        """Take the task's name in the settings, such as ``compressor``, for counting usage."""
        self.task = task
        self.provider = provider

    def load(self) -> None:
        """Import the libraries of calls."""
        self.provider.load()

    def ask(self, question: Question[ShapeT, T], instead: Callable[[], T]) -> T:
        """Return the answer, or the result of ``instead`` if none is usable.

        An unusable answer is requested again at once, three times in all. After that, or when the
        day's budget is used up, the offline model takes over. Raises only
        ``SmallModelUnavailableError``.
        """
        account = current_account()
        key = (self.task, self.provider.model, *_messages(question))
        if key in account.answers:
            known: T = account.answers[key]
            return known
        for _ in range(TRIES_INSIDE):
            try:
                answer = self.ask_once(question)
            except BudgetUsedUpError:
                return instead()
            except SmallModelAnswerError:
                continue
            account.answers[key] = answer
            return answer
        account.fall_back(self.task, self.provider.model)
        return instead()

    def ask_once(self, question: Question[ShapeT, T]) -> T:
        """Make one call, or raise ``BudgetUsedUpError`` or any other ``SmallModelError``."""
        account, model = current_account(), self.provider.model
        if not account.begin(self.task, model):
            raise BudgetUsedUpError
        system, user = _messages(question)
        spent, failures = Usage(), 1
        try:
            text, spent = self.provider.complete(
                system, user, question.prompt, schema_of(question.shape)
            )
            answer = question.read(read_answer(text, question.shape))
            failures = 0
        finally:
            account.end(self.task, model, usage_of(spent, failures))
        return answer


OfflineT = TypeVar("OfflineT")


class ModelTask(Generic[OfflineT]):
    """A task of a language model; ``offline`` is the fallback."""

    def __init__(self, model: LanguageModel, offline: OfflineT) -> None:
        self._model = model
        self._offline = offline

    def load(self) -> None:
        """Import the libraries of calls."""
        self._model.load()


def usage_of(spent: Usage, failures: int) -> Usage:
    """Return the usage of a call that has ended."""
    answered = spent.tokens > 0 or not failures
    return replace(spent, failures=failures, unpriced=int(answered and spent.cost is None))


def _messages(question: Question[Any, Any]) -> tuple[str, str]:
    data = json.dumps(question.data, ensure_ascii=False)
    return instructions(question.prompt, question.language), data


_LEFT_OUT = " … "
_NOTE = "(note)"  # explained in the prompts


def excerpt(text: str, longest: int) -> str:
    """Return a text whole, or its beginning and its end: at most ``longest`` characters."""
    text = text.strip()
    if len(text) <= longest:
        return text
    end = longest // 3
    return text[: longest - end - len(_LEFT_OUT)].rstrip() + _LEFT_OUT + text[-end:].lstrip()


def speaker(message: Message) -> str:
    """Return the name or the role of a message's speaker; notes have none."""
    return _NOTE if message.is_note else message.name or message.role
