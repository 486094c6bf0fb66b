"""Reads Markdown and plain text."""

import re
from collections.abc import Iterator
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memci.extraction.blocks import Block, BlockKind, heading, row


def read_markdown(text: str) -> Iterator[Block]:
    """Yield headings, paragraphs, lists, rows of tables and fenced code, with their lines."""
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        end = _end(tokens, at)
        if token.map is not None:
            yield from _block(token, tokens[at:end], lines)
        at = end


def _end(tokens: list[Token], at: int) -> int:
    """Return the index of the token that closes the one at ``at``."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place + 1
    return len(tokens)


def _block(token: Token, inside: list[Token], lines: list[str]) -> Iterator[Block]:
    first, end = token.map or [0, 0]
    text = "\n".join(lines[first:end]).rstrip()
    block = Block(
        BlockKind.TEXT, text, first_line=first + 1, last_line=first + 1 + text.count("\n")
    )
    match token.type:
        case "heading_open":
            yield heading(inside[1].content, int(token.tag[1:]), line=first + 1)
        case "fence" | "code_block":
            language = token.info.split(maxsplit=1)[0].lower() if token.info.strip() else ""
            yield replace(block, kind=BlockKind.CODE, text=text, language=language)
        case "table_open":
            yield from _rows(inside)
        case "hr":
            return
        case "html_block" if text.startswith("<!--"):
            return
        case _:
            yield block


def _rows(inside: list[Token]) -> Iterator[Block]:
    header: list[str] = []
    cells: list[str] = []
    line: int | None = None
    for token in inside:
        if token.type == "tr_open":
            cells, line = [], token.map[0] + 1 if token.map else None
        elif token.type == "inline":
            cells.append(token.content)
        elif token.type == "thead_close":
            header = cells
        elif token.type == "tr_close" and header:
            yield replace(row(cells, header), first_line=line, last_line=line)


_PARAGRAPH = re.compile(r"(?:^(?=.*\S).*$\n?)+", re.MULTILINE)


def read_text(text: str) -> Iterator[Block]:
    """Yield paragraphs with their lines."""
    line, at = 1, 0
    for found in _PARAGRAPH.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        paragraph = found.group().rstrip()
        yield Block(
            BlockKind.TEXT, paragraph, first_line=line, last_line=line + paragraph.count("\n")
        )
