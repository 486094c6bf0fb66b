"""Cuts blocks into chunks of about 200 tokens."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from math import ceil

from memci.domain.documents import Chunk, ChunkKind
from memci.extraction.blocks import Block, BlockKind
from memci.language.detection import language_of

# Counted as one token each: Han, kana, Hangul, and their punctuation.
IDEOGRAPH = (
    r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003134f]"
)
_PARTS = re.compile(rf"{IDEOGRAPH}|[A-Za-z]+|\d+|[^\s\w]|_|\w+?(?={IDEOGRAPH}|[A-Za-z\d\s]|\W|$)")
_LETTERS_A_TOKEN = 4
_DIGITS_A_TOKEN = 2


def count_tokens(text: str) -> int:
    """Return an estimate of the tokens, rather too high: long and rare words have many."""
    return sum(map(_tokens_of_part, _PARTS.findall(text)))


# All rows of a table have one header.
_header_tokens = lru_cache(maxsize=8)(count_tokens)


def _tokens_of_part(part: str) -> int:
    if part.isascii():
        if part.isalpha():
            return ceil(len(part) / _LETTERS_A_TOKEN) if len(part) > _LETTERS_A_TOKEN + 2 else 1
        if part.isdigit():
            return ceil(len(part) / _DIGITS_A_TOKEN)
    return ceil(len(part) / 2)


# A combining character belongs to the one before it.
_MARKS = r"[\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef]*"
_ATOM = re.compile(rf"\s+|{IDEOGRAPH}{_MARKS}|(?:(?!{IDEOGRAPH})\S)+")
_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*$|[。！？；…][”’」』）]*$")
# Longer ones are no words: base64, minified code, keys.
_LONGEST_WORD = 120
_PIECE = re.compile(rf"(?s).{{1,{_LONGEST_WORD}}}{_MARKS}")


def split_text(text: str, most: int) -> Iterator[str]:
    """Yield the text in pieces of at most ``most`` tokens, without white space at their ends.

    A piece ends with a sentence or a line if one ends in its second half. A word of more than 120
    characters is cut.
    """
    atoms: list[str] = []
    for atom in _ATOM.findall(text):
        atoms += [atom] if len(atom) <= _LONGEST_WORD else _PIECE.findall(atom)
    start = 0
    while start < len(atoms):
        end = _end_of_piece(atoms, start, most)
        piece = "".join(atoms[start:end]).strip()
        if piece:
            yield piece
        start = end


def _end_of_piece(atoms: list[str], start: int, most: int) -> int:
    """Return the end of the piece that begins at ``start``; it has at least one atom."""
    tokens, good_end = 0, None
    for at in range(start, len(atoms)):
        tokens += count_tokens(atoms[at])
        if tokens > most and at > start:
            return good_end or at
        if tokens > most / 2 and ("\n" in atoms[at] or _SENTENCE_END.search(atoms[at])):
            good_end = at + 1
    return len(atoms)


# The size that a chunk is filled to, and the most: few embedders read less than 256 tokens.
TARGET_TOKENS = 200
MOST_TOKENS = 220
# Longest heading in a path, to leave room for the text.
_MOST_HEADING = 80
_MOST_HEADER_TOKENS = MOST_TOKENS // 2
_DEEPEST = 6
_KINDS = {BlockKind.ROW: ChunkKind.TABLE, BlockKind.CODE: ChunkKind.CODE}


def chunks_of(blocks: Iterable[Block]) -> Iterator[Chunk]:
    """Yield the chunks of a document, in order."""
    path: list[tuple[int, str]] = []
    builder = _ChunkBuilder(())
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if not builder.is_parent_of(block):
                yield from builder.close()
            path = [each for each in path if each[0] < block.level][: _DEEPEST - 1]
            path.append((block.level, _short(block.text)))
            builder = _ChunkBuilder(_titles(path), block)
        for piece in _split_block(block):
            if not builder.takes(piece):
                yield from builder.close()
                builder = _ChunkBuilder(builder.path)
            builder.add(piece)
    yield from builder.close()


class _ChunkBuilder:
    """Collects the blocks of one chunk; ``above`` is the heading directly before it."""

    def __init__(self, path: tuple[str, ...], above: Block | None = None) -> None:
        self.path = path
        self._above = above
        self._blocks: list[Block] = []
        self._tokens = 0

    def is_parent_of(self, below: Block) -> bool:
        """Return True if ``below`` directly follows this heading and has it in its path."""
        return not self._blocks and self._above is not None and self._above.level < below.level

    def takes(self, block: Block) -> bool:
        """Return True if a block fits: it has the same kind and page, and there is room."""
        if not self._blocks:
            return True
        last = self._blocks[-1]
        is_alike = (last.kind, last.header, last.page) == (block.kind, block.header, block.page)
        return is_alike and self._tokens + count_tokens(block.text) <= TARGET_TOKENS

    def add(self, block: Block) -> None:
        if not self._blocks:
            self._tokens = _header_tokens(block.header)
        self._blocks.append(block)
        self._tokens += count_tokens(block.text)

    def close(self) -> Iterator[Chunk]:
        """Yield the chunk; a heading without a text below it becomes text."""
        blocks, path = self._blocks, self.path
        if not blocks:
            if self._above is None or not self._above.text:
                return
            blocks = [replace(self._above, kind=BlockKind.TEXT)]
            path = path[:-1]  # it ends with the heading itself
        yield _chunk(path, blocks)
        self._blocks, self._above = [], None


def _chunk(path: tuple[str, ...], blocks: list[Block]) -> Chunk:
    first, last = blocks[0], blocks[-1]
    separator = "\n" if first.kind is BlockKind.ROW else "\n\n"
    text = separator.join(each.text for each in blocks)
    if first.header and first.header != first.text:
        text = f"{first.header}\n{text}"
    return Chunk(
        text=text,
        path=path,
        kind=_KINDS.get(first.kind, ChunkKind.TEXT),
        language=first.language or language_of(text).value,
        first_line=first.first_line,
        last_line=last.last_line,
        page=first.page,
    )


def _split_block(block: Block) -> Iterator[Block]:
    """Yield the text of a block, in pieces if it is too long; of headings only long ones."""
    if block.kind is BlockKind.HEADING:
        if len(block.text) <= _MOST_HEADING:
            return
        block = replace(block, kind=BlockKind.TEXT)
    elif not block.text.strip():
        return
    if _header_tokens(block.header) > _MOST_HEADER_TOKENS:
        block = replace(block, header="")
    most = MOST_TOKENS - _header_tokens(block.header)
    if count_tokens(block.text) <= most:
        yield block
        return
    at, line = 0, block.first_line
    for piece in split_text(block.text, most):
        start = block.text.index(piece, at)
        if line is None:
            yield replace(block, text=piece)
        else:
            first = line + block.text.count("\n", at, start)
            line = first + piece.count("\n")
            yield replace(block, text=piece, first_line=first, last_line=line)
        at = start + len(piece)


def _titles(path: list[tuple[int, str]]) -> tuple[str, ...]:
    """Return the headings of a path; a title is often the first heading, too."""
    return tuple(title for title, _ in groupby(title for _, title in path if title))


def _short(title: str) -> str:
    return title if len(title) <= _MOST_HEADING else title[: _MOST_HEADING - 1].rstrip() + "…"
