"""Asks a language model for one task, and has every call counted and every answer checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memci.domain.lane.retry import TRIES_INSIDE
from memci.domain.language import Language
from memci.domain.usage import Usage
from memci.errors import SmallModelAnswerError, SmallModelError
from memci.smallmodel.account import current_account
from memci.smallmodel.litellm.answer import Shape, read_answer, schema_of
from memci.smallmodel.litellm.prompts import instructions
from memci.smallmodel.litellm.provider import Provider, Spent

ShapeT = TypeVar("ShapeT", bound=Shape)
T = TypeVar("T")


class BudgetUsedUpError(SmallModelError):
    """The agent's budget of the day is used up; no call was made."""


@dataclass(frozen=True)
class Question(Generic[ShapeT, T]):
    """What is asked: a prompt's instructions, and data that they speak of.

    The data travels as one JSON object in a message of its own: whatever stands in it, quotes,
    delimiters or orders, stays inside a string. ``read`` makes of a well-shaped answer what the
    task is for, or raises ``SmallModelAnswerError``.
    """

    prompt: str
    language: Language
    data: Mapping[str, Any]
    shape: type[ShapeT]
    read: Callable[[ShapeT], T]


class LanguageModel:
    """One model for one task; safe for threads."""

    def __init__(self, task: str, provider: Provider) -> None:
        """Name the task as the settings do, such as ``compressor``: usage is counted by it."""
        self.task = task
        self.provider = provider

    def load(self) -> None:
        """Import what calls need."""
        self.provider.load()

    def ask(self, question: Question[ShapeT, T], instead: Callable[[], T]) -> T:
        """Return the answer, or what ``instead`` does when none is usable.

        An answer that cannot be used is asked for anew at once, three times in all; then, or when
        the budget of the day is used up, the offline model takes over. Raises
        ``SmallModelUnavailableError`` alone.
        """
        account = current_account()
        asked = (self.task, self.provider.model, *_messages(question))
        if asked in account.answers:
            known: T = account.answers[asked]
            return known
        for _ in range(TRIES_INSIDE):
            try:
                answer = self.ask_once(question)
            except BudgetUsedUpError:
                return instead()
            except SmallModelAnswerError:
                continue
            account.answers[asked] = answer
            return answer
        account.fall_back(self.task, self.provider.model)
        return instead()

    def ask_once(self, question: Question[ShapeT, T]) -> T:
        """Make one call, or raise ``BudgetUsedUpError`` or any other ``SmallModelError``."""
        account, model = current_account(), self.provider.model
        if not account.begin(self.task, model):
            raise BudgetUsedUpError
        system, user = _messages(question)
        spent, failures = Spent(0, 0, None), 1
        try:
            text, spent = self.provider.complete(
                system, user, question.prompt, schema_of(question.shape)
            )
            answer = question.read(read_answer(text, question.shape))
            failures = 0
        finally:
            account.end(self.task, model, _usage(spent, failures))
        return answer


def _usage(spent: Spent, failures: int) -> Usage:
    answered = spent.prompt_tokens + spent.completion_tokens > 0 or not failures
    return Usage(
        failures=failures,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        cost=spent.cost,
        unpriced=int(answered and spent.cost is None),
    )


def _messages(question: Question[Any, Any]) -> tuple[str, str]:
    data = json.dumps(question.data, ensure_ascii=False)
    return instructions(question.prompt, question.language), data
