"""HTML, read as a stream: no tree is built, so deep nesting costs nothing."""

import re
from collections.abc import Iterator
from html import unescape

from memci.extraction.blocks import Block, BlockKind, heading, join_cells, row
from memci.extraction.decoding import decode_text

_DECLARED = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,40})", re.IGNORECASE
)
_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "nav", "head", "iframe"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BREAKS = frozenset({
    "p", "div", "section", "article", "main", "header", "footer", "aside", "ul", "ol", "li", "dl",
    "dt", "dd", "blockquote", "figure", "figcaption", "form", "fieldset", "address", "hr", "body",
    "table", "tr", "caption", "details", "summary",
})  # fmt: skip
_SPACES = re.compile(r"\s+")
# Attributes and the end of a tag. What has no end reaches to the end of the file, here and below,
# so each character is read once.
_REST = r"""(?>=\s*+(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))|[^>])*+(?:>|\Z)"""
# What stands in these is no markup.
_RAW = "script|style|title|textarea|xmp|iframe|noembed|noframes"
_TOKEN = re.compile(
    rf"""
    <!--(?:-?>|.*?(?:--!?>|\Z))
    | <(?P<raw>{_RAW})(?=[\s/>]){_REST}(?P<content>.*?)(?:</(?P=raw)(?=[\s/>]){_REST}|\Z)
    | <(?P<end>/?)(?P<tag>[a-z][^\s/>]*){_REST}
    | <[!?/][^>]*(?:>|\Z)
    | (?P<text>[^<]+|<)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)


def read_html(body: bytes) -> Iterator[Block]:
    """Yield headings, paragraphs, rows of tables and preformatted text."""
    reader = _Reader()
    for token in _TOKEN.finditer(_decoded(body)):
        if token["text"]:
            reader.text(unescape(token["text"]))
        elif token["raw"]:
            reader.begin(token["raw"].lower())
            reader.text(unescape(token["content"]))
            reader.end(token["raw"].lower())
        elif token["tag"]:
            if not token["end"]:
                reader.begin(token["tag"].lower())
            if token["end"] or token[0].endswith("/>"):
                reader.end(token["tag"].lower())
    reader.end_block()
    yield from reader.blocks


def _decoded(body: bytes) -> str:
    declared = _DECLARED.search(body[:4096])
    try:
        if declared is not None:
            # Pages that declare GB2312 also use its extensions.
            name = declared[1].decode().lower()
            return body.decode("gb18030" if name in {"gb2312", "gbk"} else name)
    except (LookupError, UnicodeDecodeError):
        pass
    return decode_text(body)


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._text: list[str] = []
        self._level: int | None = None
        self._hidden: list[str] = []
        self._pre_depth = 0
        self._in_title = False
        self._cells: list[str] | None = None
        self._in_cell = False
        self._header = ""
        self._only_heads = False

    def begin(self, tag: str) -> None:
        if tag == "title" and not self.blocks:
            self._in_title, self._level = True, 0
        elif tag in _HIDDEN:
            if tag not in self._hidden:
                self._hidden.append(tag)
        elif tag == "body":
            self._hidden.clear()
        elif tag in _HEADINGS:
            self.end_block()
            self._level = _HEADINGS[tag]
        elif tag == "pre":
            self.end_block()
            self._pre_depth += 1
        elif tag in {"td", "th"}:
            self._begin_cell(is_head=tag == "th")
        elif tag == "br":
            self._text.append("\n")
        elif tag in _BREAKS:
            self._break(tag)

    def end(self, tag: str) -> None:
        if tag == "title" and self._in_title:
            self._in_title = False
            self.end_block()
        elif tag in _HIDDEN:
            if tag in self._hidden:
                del self._hidden[self._hidden.index(tag) :]
        elif tag in _HEADINGS:
            self.end_block()
        elif tag == "pre":
            self.end_block()
            self._pre_depth = max(0, self._pre_depth - 1)
        elif tag in {"td", "th"}:
            self._end_cell()
        elif tag == "tr":
            self._end_row()
        elif tag == "table":
            self._end_row()
            self._header = ""
        elif tag in _BREAKS and not self._in_cell:
            self.end_block()

    def text(self, data: str) -> None:
        if self._in_title or not self._hidden:
            self._text.append(data)

    def end_block(self) -> None:
        """End a block with the text since the last one."""
        text = "".join(self._text)
        self._text.clear()
        text = text.strip("\n") if self._pre_depth else _SPACES.sub(" ", text).strip()
        level, self._level = self._level, None
        if not text.strip():
            return
        if level is not None:
            self.blocks.append(heading(text, level))
        else:
            kind = BlockKind.CODE if self._pre_depth else BlockKind.TEXT
            self.blocks.append(Block(kind, text))

    def _break(self, tag: str) -> None:
        if tag == "table":
            self.end_block()
            self._header = ""
        elif tag == "tr":
            self._end_row()
            self.end_block()
        elif self._in_cell:
            self._text.append(" ")
        else:
            self.end_block()

    def _begin_cell(self, *, is_head: bool) -> None:
        if self._cells is None:
            self._cells, self._only_heads = [], True
        self._end_cell()
        self._text.clear()
        self._in_cell = True
        self._only_heads &= is_head

    def _end_cell(self) -> None:
        if self._in_cell and self._cells is not None:
            self._cells.append("".join(self._text))
            self._text.clear()
        self._in_cell = False

    def _end_row(self) -> None:
        self._end_cell()
        cells, self._cells = self._cells, None
        if not cells or not any(each.strip() for each in cells):
            return
        if self._only_heads and not self._header:
            self._header = join_cells(cells)
        else:
            self.blocks.append(row(cells, self._header))
