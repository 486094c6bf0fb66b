"""Commands that run memci itself: ``demo``, ``sample``, ``up`` and ``doctor``."""

from pathlib import Path
from typing import Annotated

import typer

from memci.cli.connection import read_settings
from memci.cli.output import print_answer, working


def demo() -> None:
    """Run a demo on two conversations, in about a minute.

    It uses a temporary folder, and removes it afterwards.
    """
    from memci.cli.demo.run import run_demo

    raise typer.Exit(run_demo(read_settings()))


def sample(
    folder: Annotated[Path, typer.Argument(help="Created if it does not exist.")] = Path("samples"),
) -> None:
    """Write the conversations of the demo into a folder."""
    from memci.cli.demo.stories import write_stories

    for path in write_stories(folder):
        typer.echo(path)


def up() -> None:
    """Run all parts in this terminal; Ctrl-C stops them.

    The parts are servers, API, workers, beat and Flower. The command starts the embedded PostgreSQL
    and Redis unless MEMCI_DATABASE_URL and MEMCI_BROKER_URL are set. MEMCI_PORT,
    MEMCI_FLOWER_PORT and MEMCI_DATA_DIR change the ports and the folder of the data.
    """
    from memci.cli.up.run import run_everything

    raise typer.Exit(run_everything(read_settings()))


def doctor() -> None:
    """Check the installation, and print each problem with a solution.

    Exit code 1: there is a problem.
    """
    from memci.cli.doctor.checks import any_wrong, examine
    from memci.cli.doctor.findings import print_findings

    with working("checking this machine, its servers and the workers"):
        findings = examine()
    print_answer({"findings": findings}, lambda found: print_findings(found["findings"]))
    raise typer.Exit(1 if any_wrong(findings) else 0)
