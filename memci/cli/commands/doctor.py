"""``memci doctor``."""

from __future__ import annotations

import typer

from memci.cli.options import JsonOption


def doctor(*, as_json: JsonOption = False) -> None:
    """Say what is wrong and what to do about it.

    Exit code 1: something is wrong.
    """
    from memci.cli.doctor.examine import examine, worst
    from memci.cli.doctor.report import print_findings
    from memci.cli.output import print_json, working

    with working("looking at this machine, its servers and the workers"):
        findings = examine()
    if as_json:
        print_json({"findings": [each.as_json() for each in findings]})
    else:
        print_findings(findings)
    raise typer.Exit(1 if worst(findings) else 0)
