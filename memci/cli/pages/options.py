"""Options of several commands about pages."""

from __future__ import annotations

from typing import Annotated

import typer

SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Whose window; none: that of the last message."),
]
