"""Reads Markdown and plain text."""

import re
from collections.abc import Iterator
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from memci.extraction.blocks import Block, BlockKind, heading, join_cells, row

# Blocks alone: the text of a block stays as it is written.
_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")


def read_markdown(text: str) -> Iterator[Block]:
    """Yield headings, paragraphs, lists, rows of tables and fenced code, with their lines."""
    lines = text.split("\n")
    for node in SyntaxTreeNode(_PARSER.parse(text)).children:
        if node.map is not None:
            yield from _blocks(node, *node.map, lines)


def _blocks(node: SyntaxTreeNode, first: int, end: int, lines: list[str]) -> Iterator[Block]:
    text = "\n".join(lines[first:end]).rstrip()
    last = first + 1 + text.count("\n")
    block = Block(BlockKind.TEXT, text, first_line=first + 1, last_line=last)
    match node.type:
        case "heading":
            yield heading(_content(node), int(node.tag[1:]), line=first + 1)
        case "fence" | "code_block":
            language = node.info.split(maxsplit=1)[0].lower() if node.info.strip() else ""
            yield replace(block, kind=BlockKind.CODE, language=language)
        case "table":
            yield from _rows(node)
        case "hr":
            return
        case "html_block" if text.startswith("<!--"):
            return
        case _:
            yield block


def _rows(table: SyntaxTreeNode) -> Iterator[Block]:
    head, *body = (each for part in table.children for each in part.children)
    header = join_cells([_content(cell) for cell in head.children])
    for each in body:
        line = each.map[0] + 1 if each.map else None
        cells = [_content(cell) for cell in each.children]
        yield replace(row(cells, header), first_line=line, last_line=line)


def _content(node: SyntaxTreeNode) -> str:
    """Return the text of a heading or a cell."""
    return "".join(each.content for each in node.children)


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
