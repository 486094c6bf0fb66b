"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memci.extraction.block import Block, BlockKind

_PARAGRAPH = re.compile(r"(?:^(?=.*\S).*$\n?)+", re.MULTILINE)


def read_text(text: str) -> Iterator[Block]:
    """Yield paragraphs with their lines."""
    line, at = 1, 0
    for found in _PARAGRAPH.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        said = found.group().rstrip()
        yield Block(BlockKind.TEXT, said, first_line=line, last_line=line + said.count("\n"))
