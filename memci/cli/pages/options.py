"""Options of several commands about pages."""

from __future__ import annotations

from typing import Annotated

import typer

from memci.domain.pages.block import Format

SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Whose window; none: that of the last message."),
]
FormatOption = Annotated[
    Format,
    typer.Option("--format", help="How the window is written that the model sees."),
]
