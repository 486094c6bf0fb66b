"""``memci settings``, also its comparison of two sets."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.connection import read_settings
from memci.cli.output import print_answer, print_list, printed_json, working
from memci.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memci.cli.trials import TrialSettings
    from memci.reading.comparison import TrialSide
    from memci.schemas.trials import RecordedQuestion, TrialsAnswer
    from memci.storage.session import Database


def show() -> None:
    """Print every setting, and where its value comes from. Secrets are not printed."""
    from memci.config.effective import effective_settings

    read_settings()  # names misspelt settings
    found = effective_settings()
    rows = ({"setting": each.name, "value": each.value, "from": each.source} for each in found)
    print_list(found, rows)


def env() -> None:
    """Print the addresses of broker and database: eval "$(memci settings env)".

    The configured addresses, or those of the embedded servers of a running `memci up`. They
    contain passwords.
    """
    import shlex
    import sys

    from memci.embedded.owner import addresses_of

    urls = addresses_of(read_settings())
    scheme, separator, rest = urls.database_url.partition("://")
    found = {
        "MEMCI_BROKER_URL": urls.broker_url,
        # Without SQLAlchemy's driver, which psql rejects.
        "MEMCI_DATABASE_URL": scheme.partition("+")[0] + separator + rest,
    }
    if printed_json(found):
        return
    for name, value in found.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


# Trials read the database only, but a runtime requires a broker address.
_NO_BROKER = "redis://nowhere"


def compare(
    *,
    first: Annotated[Path, typer.Argument(metavar="A.toml", help="First settings file.")],
    second: Annotated[Path, typer.Argument(metavar="B.toml", help="Second settings file.")],
    questions: Annotated[
        Path | None,
        typer.Option("--questions", "-q", metavar="FILE", help="Questions that `--record` stored."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", "-a", metavar="ID", help="Use the past questions of this agent."),
    ] = None,
    last: Annotated[
        int, typer.Option("--last", min=1, max=1_000, help="With --agent: the last N questions.")
    ] = 50,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Maximum of differing questions to show.")
    ] = 10,
) -> None:
    """Compare two settings on recorded questions.

    Each file has the format of memci.toml and overrides the current settings. Its table [request]
    has options of context requests: channels, sources, k, recent, budget_tokens. --questions names
    a file that `memci context --record` has written, or one of your own. With `evidence` (ids of
    messages), prints the share found. With --agent, uses that agent's past questions.

    Reads the database directly, and stores nothing: no receipt, and no use of a memory.
    """
    from memci.cli.database import database_at
    from memci.cli.trials import print_trials, read_questions, read_trial_settings

    if (questions is None) == (agent is None):
        raise InvalidInputError("give either --questions FILE or --agent ID")
    sides = read_trial_settings(first), read_trial_settings(second)
    recorded = read_questions(questions) if questions else None
    with database_at(read_settings()) as url, working("asking"):
        found = _run_trials(
            url, sides, lambda database: recorded or _past_questions(database, agent or "", last)
        )
    print_answer(found, partial(print_trials, most=limit))


def _past_questions(database: Database, agent_id: str, last: int) -> list[RecordedQuestion]:
    from memci.domain.agent_id import check_agent_id
    from memci.reading.comparison import asked_before

    if asked := asked_before(database, check_agent_id(agent_id), last):
        return asked
    raise NotFoundError(
        f"agent {agent_id} has no past questions: no receipt of a context belongs to a stored user "
        "message. `memci context QUERY --record FILE` records questions"
    )


def _run_trials(
    url: str,
    sides: tuple[TrialSettings, TrialSettings],
    load: Callable[[Database], list[RecordedQuestion]],
) -> TrialsAnswer:
    from memci.reading.comparison import TrialSide, run_trials
    from memci.runtime import Runtime
    from memci.storage.diagnosis import check_migrations

    places = {"database_url": url, "broker_url": _NO_BROKER}
    one, other = (Runtime(side.over(**places), keeps=False) for side in sides)
    with closing(one), closing(other):
        check_migrations(one.database)
        questions = load(one.database)
        first, second = (
            TrialSide(side.path.name, runtime.readings.assemble, side.options)
            for side, runtime in zip(sides, (one, other), strict=True)
        )
        for side, settings in zip((first, second), sides, strict=True):
            _check_options(side, settings.path, questions)
        return run_trials(one.database, (first, second), questions)


def _check_options(side: TrialSide, path: Path, questions: list[RecordedQuestion]) -> None:
    """Raise ``InvalidInputError`` for options that are invalid for one of the questions."""
    from pydantic import ValidationError

    from memci.schemas.problems import describe_faults

    for question in questions:
        try:
            side.request(question)
        except ValidationError as error:
            raise InvalidInputError(f"{path}: [request] {describe_faults(error)}") from None
