"""``memci export`` and ``memci import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memci.cli.options import JsonOption
from memci.errors import InvalidInputError


def export(
    *,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Whose memory.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to (default: AGENT.zip)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Save an agent with all that it is as one archive.

    It goes on meanwhile, and keeps what it has.
    """
    from memci.cli.connection import agent_of
    from memci.cli.output import counted, print_json, say, working

    target = output or Path(f"{agent}.zip")
    if target.exists() and not force:
        raise InvalidInputError(f"{target} is there already: say --force to replace it")
    if not target.absolute().parent.is_dir():
        raise InvalidInputError(f"{target}: there is no folder {target.parent}")
    with agent_of(agent) as memory, working(f"exporting {agent}"):
        manifest = memory.export(target, overwrite=force)
    if as_json:
        print_json(manifest)
        return
    messages, nodes = manifest.tables["message"].rows, manifest.tables["node"].rows
    size = target.stat().st_size / 1_000_000
    say(f"{target}: {counted(messages, 'message')}, {counted(nodes, 'node')}, {size:.1f} MB")


def import_(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive that export has made.")],
    agent: Annotated[
        str | None,
        typer.Option("--agent", "-a", metavar="ID", help="Its new id (default: the one it had)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make an agent of an archive, here or on another server.

    All of it or nothing; an agent that holds something already is left as it is.
    """
    from memci.cli.connection import agent_of
    from memci.cli.output import counted, hint, print_json, say, working
    from memci.client.files import read_manifest

    agent_id = agent or read_manifest(file).agent_id
    with agent_of(agent_id) as memory, working(f"importing {agent_id}"):
        answer = memory.import_(file)
    if as_json:
        print_json(answer)
        return
    messages, nodes = answer.rows.get("message", 0), answer.rows.get("node", 0)
    say(f"agent {answer.agent_id}: {counted(messages, 'message')}, {counted(nodes, 'node')}")
    if answer.queued:
        hint(f"{counted(answer.queued, 'job')} to run; `memci jobs --agent {agent_id}` lists them")
    if answer.reembed_job_id:
        hint("its vectors are not known to be of this server's embedder: they are made anew")
