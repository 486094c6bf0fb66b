"""Files of recorded questions: one JSON object a line, as ``RecordedQuestion`` has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.shapes.trial import RecordedQuestion


def append_question(
    path: Path,
    agent: str,
    query: str | None,
    *,
    budget_tokens: int,
    receipt_id: UUID,
    **options: Any,
) -> None:
    """Write one question at the end of the file; the file is its writer's own to read.

    Raises ``InvalidInputError`` when it cannot be written.
    """
    told = {
        "agent": agent,
        "query": query,
        "budget_tokens": budget_tokens,
        **options,
        "receipt_id": str(receipt_id),
    }
    line = json.dumps({name: value for name, value in told.items() if value is not None},
                      ensure_ascii=False)  # fmt: skip
    try:
        path.touch(mode=0o600)
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from None


def read_questions(path: Path) -> list[RecordedQuestion]:
    """Read a file of questions; ``InvalidInputError`` names the line that is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    questions = list(_questions(path, lines))
    if not questions:
        raise InvalidInputError(
            f"{path} holds no question: `memci context QUERY --agent ID --record {path}` adds one"
        )
    return questions


def _questions(path: Path, lines: list[str]) -> Iterator[RecordedQuestion]:
    from pydantic import ValidationError

    from memci.expectation import expectation
    from memci.shapes.trial import RecordedQuestion

    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield RecordedQuestion.model_validate_json(line)
        except ValidationError as error:
            (fault, *_) = error.errors(include_input=False, include_url=False)
            field = ".".join(map(str, fault["loc"]))
            raise InvalidInputError(
                f"{path}, line {number}: {f'{field}: ' if field else ''}{expectation(fault)}"
            ) from None
