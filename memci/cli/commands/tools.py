"""``memci tools``."""

from __future__ import annotations

from typing import Annotated

import typer

from memci.shapes.tool_formats import ToolFormat


def tools(
    *,
    form: Annotated[
        ToolFormat, typer.Option("--format", help="As which provider or protocol wants them.")
    ] = ToolFormat.OPENAI,
) -> None:
    """Print the tools that a model may be given, as JSON.

    No server is asked.
    """
    from memci.cli.output import print_json
    from memci.shapes.tool_formats import tools as all_tools

    print_json(all_tools(form))
