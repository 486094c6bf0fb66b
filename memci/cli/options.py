"""Options that several commands take."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

AgentOption = Annotated[str, typer.Option("--agent", "-a", metavar="ID", help="Whose memory.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
UserOption = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="Only what was said with this user.")
]
# As they are printed, and as others write them.
_DAYS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]
_ZONED = ["%Y-%m-%d %H:%M:%S%z", "%Y-%m-%dT%H:%M:%S%z"]
AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        formats=[*_DAYS, *_ZONED],
        metavar="TIME",
        help="What was believed then, such as 2026-03-02 or 2026-03-02T09:15:00Z (UTC).",
    ),
]
CursorOption = Annotated[
    str | None, typer.Option("--cursor", help="Where to go on: the end of the last answer.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=500, help="Lines at most.")]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record", metavar="FILE", help="Add the question to this file, for `memci compare`."
    ),
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long --wait waits.")
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Return when the workers are done.")]
CollectionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--collection", metavar="NAME", help="Look into shared documents, too (may be repeated)."
    ),
]
