"""The commands of ``memci pages``, made from the table of tools when one of them is needed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, MutableMapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memci.cli.connection import agent_of
from memci.cli.options import AgentOption, JsonOption
from memci.cli.output import print_json
from memci.domain.pages.block import Format
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.schemas.tools import Argument, Tool

HOW = "@FILE: from a file; -: from standard input; @@ begins a text with @"
_STDIN, _FROM = "-", "@"


def read_text_argument(given: str, field: str) -> str:
    """Return the text that is meant, or raise ``InvalidInputError`` if it cannot be read."""
    if given != _STDIN and not given.startswith(_FROM):
        return given
    if given.startswith(_FROM * 2):
        return given[1:]
    from memci.client.files import unreadable

    try:
        content = sys.stdin.buffer.read() if given == _STDIN else Path(given[1:]).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(unreadable(given[1:], error), field=field) from None
    except UnicodeDecodeError:
        raise InvalidInputError(
            "this text is not in UTF-8: convert it first", field=field
        ) from None


SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Whose window; none: that of the last message."),
]
FormatOption = Annotated[
    Format, typer.Option("--format", help="How the window is written that the model sees.")
]


_OURS = (("agent", AgentOption, Parameter.empty), ("session", SessionOption, None),
         ("form", FormatOption, Format.MARKDOWN), ("as_json", JsonOption, False))  # fmt: skip


def tool_command(tool: Tool) -> Callable[..., None]:
    """Return a tool as a function that Typer makes a command of."""
    from memci.schemas.tools import arguments_of

    arguments = arguments_of(tool)

    def command(
        *, agent: str, session: str | None, form: Format, as_json: bool, **given: Any
    ) -> None:
        from memci.cli.pages.printing import hint_misspelt, print_answer

        asked = {each.name: _meant(each, given[each.name]) for each in arguments}
        told = {name: value for name, value in asked.items() if value is not None}
        with agent_of(agent) as memory:
            answer = getattr(memory, tool.name)(**told, session_id=session, format=form)
        print_json(answer) if as_json else print_answer(tool, answer)
        hint_misspelt(answer, agent, session)

    parameters = [
        *(_parameter(each) for each in arguments),
        *(
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, kind, default in _OURS
        ),
    ]
    vars(command)["__signature__"] = Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__name__ = tool.name
    command.__doc__ = tool.help
    return command


def _parameter(argument: Argument) -> Parameter:
    """Return a field as an argument if it needs no name, else as an option."""
    from memci.schemas.tools import REQUIRED

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


def _meant(argument: Argument, given: Any) -> Any:
    return (
        read_text_argument(given, argument.name) if argument.long and given is not None else given
    )


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
    from memci.schemas.tools import TOOLS, About, arguments_of

    made = typer.Typer(rich_markup_mode=None, add_completion=False)
    for tool in TOOLS:
        if tool.about is About.PAGES:
            number = any(each.positional and each.type is int for each in arguments_of(tool))
            kind = NumberCommand if number else ToolCommand
            made.command(tool.name.replace("_", "-"), cls=kind)(tool_command(tool))
    group: Any = typer.main.get_command(made)
    commands: MutableMapping[str, Any] = group.commands
    return commands


_NEGATIVE = re.compile(r"-\d+")


class ToolCommand(TyperCommand):
    """Says of words that it has no place for how several values are given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words behind the command."""
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left:
            ctx.fail(f"Got too much: {' '.join(left)}{self._several(left)}")
        return left

    def _several(self, words: list[str]) -> str:
        """Return how the option is used that takes several values, if there is one."""
        option = next((each.opts[0] for each in self.params if getattr(each, "multiple", 0)), None)
        if option is None:
            return ""
        return f"; several are given as {' '.join(f'{option} {each}' for each in words)}"


class NumberCommand(ToolCommand):
    """Takes a number without a name: a negative one is no option, but out of range."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; before a blank a dash begins no option, and a number may have blanks."""
        words = [f" {each}" if _NEGATIVE.fullmatch(each) else each for each in args]
        return super().parse_args(ctx, words)
