"""The sub-commands of ``memci pages``: the table of tools is read when one of them is needed."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class ToolGroup(TyperGroup):
    """A group that has a command for every tool beside its own."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name all commands."""
        self._fill()
        return super().list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command."""
        self._fill()
        return super().resolve_command(ctx, args)

    def _fill(self) -> None:
        from memci.cli.pages.tools import command_of
        from memci.shapes.tools import TOOLS, About

        tools = [each for each in TOOLS if each.about is About.PAGES]
        if any(name not in self.commands for name in map(_named, tools)):
            made = typer.Typer(rich_markup_mode=None, add_completion=False)
            for tool in tools:
                made.command(_named(tool))(command_of(tool))
            ready: Any = typer.main.get_command(made)
            self.commands.update(ready.commands)


def _named(tool: Any) -> str:
    name: str = tool.name
    return name.replace("_", "-")
