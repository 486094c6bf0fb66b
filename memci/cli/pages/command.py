"""Commands of tools: what is one too many is explained, and numbers may be negative."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

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
