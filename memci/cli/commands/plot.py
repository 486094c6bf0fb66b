"""``memci plot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.options import JsonOption
from memci.errors import ConfigurationError, InvalidInputError, MemciError

if TYPE_CHECKING:
    from memci.shapes.network import FadingAnswer

_KINDS = ("png", "svg", "pdf")


def plot(
    *,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Whose memory.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to: .png, .svg or .pdf."),
    ] = None,
    passes: Annotated[int, typer.Option(min=2, max=500, help="Passes at most.")] = 200,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Memories at most.")] = 500,
    as_json: JsonOption = False,
) -> None:
    """Draw how memories fade: strength, importance, length.

    With --json the numbers are printed, for other programs to draw. A file that is there is
    replaced.
    """
    from memci.cli.connection import agent_of
    from memci.cli.output import counted, print_json, say

    kind = _kind(output) if output else None
    if output is None and not as_json:
        raise InvalidInputError("expected -o FILE, such as -o memories.png, or --json")
    with agent_of(agent) as memory:
        fading = memory.fading(passes=passes, limit=limit)
    if as_json:
        print_json(fading)
    if output is None or kind is None:
        return
    if not fading.passes:
        raise MemciError(
            f"nothing to draw: no snapshot of {agent} is kept. One is taken after each pass "
            f"(`memci compress --agent {agent}`), unless MEMCI_SNAPSHOT_BYTES is 0"
        )
    drawn = _drawn(fading, kind)
    try:
        output.write_bytes(drawn)
    except OSError as error:
        raise MemciError(f"{output} cannot be written: {error.strerror}") from None
    if as_json:
        return
    memories = counted(len(fading.memories), "memory", "memories")
    say(f"{output}: {memories} over {counted(len(fading.passes), 'pass', 'passes')}")


def _drawn(fading: FadingAnswer, kind: str) -> bytes:
    try:
        from memci.cli.network.plot import plot as draw
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise ConfigurationError(
            "plots are drawn with matplotlib, which is not installed: pip install matplotlib "
            "(memci's extra plot names the version); --json prints the numbers without it"
        ) from None
    return draw(fading, kind)


def _kind(output: Path) -> str:
    kind = output.suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        raise InvalidInputError(f"{output}: expected a name that ends in .png, .svg or .pdf")
    if not output.absolute().parent.is_dir():
        raise InvalidInputError(f"{output}: there is no folder {output.parent}")
    return kind
