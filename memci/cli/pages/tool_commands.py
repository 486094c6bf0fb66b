"""The commands of ``memci pages``, made from the table of tools when one of them is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memci.cli.connection import agent_of
from memci.cli.options import AgentOption, SessionOption, with_json
from memci.cli.output import printed_json
from memci.domain.pages.window_text import Format
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.schemas.tools.table import Argument, Tool

HOW = "@FILE reads a file; - reads standard input; @@ stands for a first @"
_STDIN, _FROM = "-", "@"


def read_text_argument(value: str, field: str) -> str:
    """Return the text of an argument; raise ``InvalidInputError`` if it cannot be read."""
    if value != _STDIN and not value.startswith(_FROM):
        return value
    if value.startswith(_FROM * 2):
        return value[1:]
    from memci.client.archive_files import unreadable

    try:
        content = sys.stdin.buffer.read() if value == _STDIN else Path(value[1:]).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(unreadable(value[1:], error), field=field) from None
    except UnicodeDecodeError:
        message = "this text is not in UTF-8: convert it first"
        raise InvalidInputError(message, field=field) from None


FormatOption = Annotated[Format, typer.Option("--format", help="Format of the model's window.")]


_COMMON = (("agent", AgentOption, Parameter.empty), ("session", SessionOption, None),
         ("form", FormatOption, Format.MARKDOWN))  # fmt: skip


def tool_command(tool: Tool) -> Callable[..., None]:
    """Return a function that Typer can turn into the command of a tool."""
    from memci.schemas.tools.table import arguments_of

    arguments = arguments_of(tool)

    def command(*, agent: str, session: str | None, form: Format, **given: Any) -> None:
        from memci.cli.pages.printing import hint_misspelt, print_answer

        values = {
            each.name: read_text_argument(value, each.name) if each.long else value
            for each in arguments
            if (value := given[each.name]) is not None
        }
        with agent_of(agent) as memory:
            answer = getattr(memory, tool.name)(**values, session_id=session, format=form)
        if not printed_json(answer):
            print_answer(tool, answer)
        hint_misspelt(answer, agent, session)

    parameters = [
        *(_parameter(each) for each in arguments),
        *(
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, kind, default in _COMMON
        ),
    ]
    vars(command)["__signature__"] = Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__name__ = tool.name
    command.__doc__ = tool.help
    return command


def _parameter(argument: Argument) -> Parameter:
    """Return a parameter for a positional argument, or for an option."""
    from memci.schemas.tools.table import REQUIRED

    about = "; ".join(filter(None, (argument.about, HOW if argument.long else "")))
    about = f"{about[:1].upper()}{about[1:]}." if about else ""
    how: Any = (
        typer.Argument(metavar=argument.name.upper(), help=about)
        if argument.positional
        else typer.Option(f"--{argument.name.replace('_', '-')}", help=about)
    )
    return Parameter(
        argument.name,
        Parameter.KEYWORD_ONLY,
        annotation=Annotated[argument.type, how],
        default=Parameter.empty if argument.default is REQUIRED else argument.default,
    )


class ToolGroup(TyperGroup):
    """A group with its own commands, then a command for every tool about pages."""

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
    from memci.schemas.tools.table import TOOLS, About

    made = typer.Typer(rich_markup_mode=None, add_completion=False)
    for tool in TOOLS:
        if tool.about is About.PAGES:
            made.command(tool.name.replace("_", "-"), cls=ToolCommand)(
                with_json(tool_command(tool))
            )
    group: Any = typer.main.get_command(made)
    commands: MutableMapping[str, Any] = group.commands
    return commands


class ToolCommand(TyperCommand):
    """Explains, for extra words, how several values of an option are given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words behind the command."""
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left:
            ctx.fail(f"Unexpected arguments: {' '.join(left)}{self._several(left)}")
        return left

    def _several(self, words: list[str]) -> str:
        """Return the use of the option that takes several values; empty without one."""
        option = next((each.opts[0] for each in self.params if getattr(each, "multiple", 0)), None)
        if option is None:
            return ""
        return f"; give several values as {' '.join(f'{option} {each}' for each in words)}"
