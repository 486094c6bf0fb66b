"""Tools as commands: the table says what they take, and what their help says."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from memci.cli.options import AgentOption, JsonOption
from memci.cli.pages.answers import print_answer
from memci.cli.pages.options import FormatOption, SessionOption
from memci.cli.pages.texts import HOW, text_of
from memci.domain.pages.block import Format
from memci.shapes.arguments import REQUIRED, Argument, arguments_of
from memci.shapes.tools import Tool

_OURS = (("agent", AgentOption, Parameter.empty), ("session", SessionOption, None),
         ("form", FormatOption, Format.MARKDOWN), ("as_json", JsonOption, False))  # fmt: skip


def command_of(tool: Tool) -> Callable[..., None]:
    """Return a tool as a function that Typer makes a command of."""
    arguments = arguments_of(tool)

    def command(
        *, agent: str, session: str | None, form: Format, as_json: bool, **given: Any
    ) -> None:
        from memci.cli.connection import agent_of
        from memci.cli.output import print_json
        from memci.cli.pages.hints import hint_misspelt

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
    return text_of(given, argument.name) if argument.long and given is not None else given
