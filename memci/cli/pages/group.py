"""The sub-commands of ``memci pages``: the table of tools is read when one of them is needed."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import typer
from typer.core import TyperGroup


class ToolGroup(TyperGroup):
    """A group that has a command for every tool about pages, behind its own commands."""

    _own: MutableMapping[str, Any]
    _filled = False

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """All commands by name."""
        if not self._filled:
            self._filled = True
            self._own.update(_commands_of_tools())
        return self._own

    @commands.setter
    def commands(self, own: MutableMapping[str, Any]) -> None:
        self._own = own


def _commands_of_tools() -> MutableMapping[str, Any]:
    from memci.cli.pages.command import NumberCommand, ToolCommand
    from memci.cli.pages.tools import command_of
    from memci.shapes.arguments import arguments_of
    from memci.shapes.tools import TOOLS, About

    made = typer.Typer(rich_markup_mode=None, add_completion=False)
    for tool in TOOLS:
        if tool.about is About.PAGES:
            number = any(each.positional and each.type is int for each in arguments_of(tool))
            kind = NumberCommand if number else ToolCommand
            made.command(tool.name.replace("_", "-"), cls=kind)(command_of(tool))
    group: Any = typer.main.get_command(made)
    commands: MutableMapping[str, Any] = group.commands
    return commands
