"""Files that ``memci settings compare`` reads, and how it prints a comparison."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memci.cli.output import counted, listed, print_table, say, shortened
from memci.errors import ConfigurationError, InvalidInputError
from memci.schemas.trials import Trial, TrialContext, TrialsAnswer, TrialTotals

if TYPE_CHECKING:
    from memci.config.settings import Settings
    from memci.schemas.trials import RecordedQuestion

_WIDTH = 90
_MOST_IDS = 8


def print_trials(found: TrialsAnswer, *, most: int) -> None:
    """Print totals, then up to ``most`` questions on which the two sides differ most."""
    sides = (found.first, found.second)
    print_table(("", *(side.name for side in sides)), _rows(found))
    say(f"{counted(len(found.trials), 'question')}; {found.overlap:.0%} of all messages are "
        "in both contexts")  # fmt: skip
    differing = sorted(filter(_difference, found.trials), key=_difference, reverse=True)
    for trial in differing[:most]:
        say(f"\n{trial.agent}: {shortened(trial.query or '(no question)', _WIDTH)}")
        for side, context in zip(sides, (trial.first, trial.second), strict=True):
            say(f"  {side.name}: {_described(trial, context)}")
    if not differing:
        say("both give the same messages for every question")
    elif len(differing) > most:
        say(f"\nand {len(differing) - most} more that differ; --limit shows them")


def _rows(found: TrialsAnswer) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, Callable[[TrialTotals], str]]] = [
        ("tokens", lambda side: f"{side.mean_tokens:,.0f}"),
        ("messages", lambda side: f"{side.mean_messages:,.1f}"),
        ("p50 ms", lambda side: f"{side.p50_ms:,.1f}"),
        ("p95 ms", lambda side: f"{side.p95_ms:,.1f}"),
    ]
    if found.with_evidence:
        known = counted(found.with_evidence, "question")
        rows.append((f"evidence found, of {known}", lambda side: _percent(side.recall)))
    if found.first.as_recorded is not None:
        rows.append(("of the recorded messages", lambda side: _percent(side.as_recorded)))
    return [(name, cell(found.first), cell(found.second)) for name, cell in rows]


def _difference(trial: Trial) -> float:
    """Return the difference of two contexts; evidence weighs ten times more than messages."""
    recall = abs((trial.first.recall or 0.0) - (trial.second.recall or 0.0))
    either = {*trial.first.message_ids, *trial.second.message_ids}
    apart = 1 - len(trial.both) / len(either) if either else 0.0
    return 10 * recall + apart


def _described(trial: Trial, context: TrialContext) -> str:
    parts = [counted(len(context.message_ids), "message"), counted(context.tokens, "token")]
    if context.recall is not None:
        found = len(set(trial.evidence).intersection(context.message_ids))
        parts.append(f"evidence {found} of {len(trial.evidence)}")
    own = [each for each in context.message_ids if each not in set(trial.both)]
    if own:
        parts.append(f"only here {listed(own, _MOST_IDS)}")
    return ", ".join(parts)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


_TABLE = "request"
# All trials use one database, so these settings of the files are ignored.
_PLACES = frozenset({"database_url", "broker_url", "data_dir"})
# These fields come from the recorded questions.
_RECORDED = frozenset({"query", "min_seq", "wait_ms", "explain"})


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """The settings of one file, which override the current ones, and its ``[request]``."""

    path: Path
    values: dict[str, Any]
    options: dict[str, Any]

    def over(self, **values: Any) -> Settings:
        """Return the settings; ``values`` win. ``ConfigurationError`` names file and setting."""
        from memci.config.settings import load_settings

        try:
            return load_settings(**{**self.values, **values})
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.path}: {error}") from None


def read_trial_settings(path: Path) -> TrialSettings:
    """Read a file; raise ``InvalidInputError`` for a fault in it."""
    from memci.config.toml_tables import as_settings
    from memci.config.unknown_names import misspelt_in
    from memci.schemas.reads import ContextRequest

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidInputError(f"{path} is not TOML: {error}") from None
    options = content.pop(_TABLE, {})
    known = sorted(ContextRequest.model_fields.keys() - _RECORDED)
    for each in misspelt_in(content, str(path)):
        raise InvalidInputError(str(each))
    if not isinstance(options, dict):
        raise InvalidInputError(f"{path}: [{_TABLE}] is a table of options of a context request")
    for name in sorted(options.keys() - set(known)):
        raise InvalidInputError(
            f"{path}: {name!r} is no option of [{_TABLE}]; there are {', '.join(known)}"
        )
    values = {name: value for name, value in as_settings(content).items() if name not in _PLACES}
    return TrialSettings(path, values, options)


def append_question(path: Path, **asked: Any) -> None:
    """Append a question, by the fields of ``RecordedQuestion``, to a file for its owner alone.

    Raises ``InvalidInputError`` if it cannot be written.
    """
    known = {name: value for name, value in asked.items() if value is not None}
    line = json.dumps(known, ensure_ascii=False, default=str)
    try:
        path.touch(mode=0o600)
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from None


def read_questions(path: Path) -> list[RecordedQuestion]:
    """Read a file of questions; raise ``InvalidInputError`` with the number of a bad line."""
    from pydantic import ValidationError

    from memci.schemas.problems import describe_faults
    from memci.schemas.trials import RecordedQuestion

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    questions: list[RecordedQuestion] = []
    for number, line in enumerate(lines, start=1):
        try:
            questions += [RecordedQuestion.model_validate_json(line)] if line.strip() else []
        except ValidationError as error:
            raise InvalidInputError(
                f"{path}, line {number}: {describe_faults(error, RecordedQuestion)}"
            ) from None
    if not questions:
        raise InvalidInputError(
            f"{path} has no questions: `memci context QUERY --agent ID --record {path}` adds one"
        )
    return questions
