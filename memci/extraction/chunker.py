"""Cuts blocks into chunks of about 200 tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil

from memci.domain.documents import Chunk, ChunkKind
from memci.extraction.blocks import Block, BlockKind
from memci.language.detection import language_of

# One token each in MiniLM's vocabulary: Han, kana, Hangul, and their punctuation.
IDEOGRAPH = (
    r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003134f]"
)
_PARTS = re.compile(rf"{IDEOGRAPH}|[A-Za-z]+|\d+|[^\s\w]|_|\w+?(?={IDEOGRAPH}|[A-Za-z\d\s]|\W|$)")
_LETTERS_A_TOKEN = 4
_DIGITS_A_TOKEN = 2


def count_tokens(text: str) -> int:
    """Return an estimate that is rather too high: long and rare words fall into many pieces."""
    return sum(map(_cost, _PARTS.findall(text)))


def _cost(part: str) -> int:
    if part.isascii():
        if part.isalpha():
            return ceil(len(part) / _LETTERS_A_TOKEN) if len(part) > _LETTERS_A_TOKEN + 2 else 1
        if part.isdigit():
            return ceil(len(part) / _DIGITS_A_TOKEN)
    return ceil(len(part) / 2)


# A character that marks change belongs to the one before it.
_MARKS = r"[\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef]*"
_ATOM = re.compile(rf"\s+|{IDEOGRAPH}{_MARKS}|(?:(?!{IDEOGRAPH})\S)+")
_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*$|[。！？；…][”’」』）]*$")
# No word is as long: base64, minified code, keys.
_LONGEST_WORD = 120
_PIECE = re.compile(rf"(?s).{{1,{_LONGEST_WORD}}}{_MARKS}")


def split_text(text: str, most: int) -> Iterator[str]:
    """Yield the text in pieces of at most ``most`` tokens, without white space at the seams.

    A piece ends with a sentence or a line where one ends in its second half. What has no seam for
    120 characters is no word, and is cut.
    """
    atoms = [piece for atom in _ATOM.findall(text) for piece in _pieces(atom)]
    start = 0
    while start < len(atoms):
        end = _end(atoms, start, most)
        piece = "".join(atoms[start:end]).strip()
        if piece:
            yield piece
        start = end


def _pieces(atom: str) -> list[str]:
    return [atom] if len(atom) <= _LONGEST_WORD else _PIECE.findall(atom)


def _end(atoms: list[str], start: int, most: int) -> int:
    """Return where the piece that begins at ``start`` ends; it holds one atom at least."""
    tokens, good = 0, None
    for at in range(start, len(atoms)):
        tokens += count_tokens(atoms[at])
        if tokens > most and at > start:
            return good or at
        if tokens > most / 2 and _may_end(atoms, at):
            good = at + 1
    return len(atoms)


def _may_end(atoms: list[str], at: int) -> bool:
    return "\n" in atoms[at] or bool(_SENTENCE_END.search(atoms[at]))


# What a chunk is filled to, and what it never exceeds: the embedder reads 256 with the path.
TARGET_TOKENS = 200
MOST_TOKENS = 220
# Of headings in a path, so that they leave room for what stands below them.
_MOST_HEADING = 80
_MOST_HEADER_TOKENS = MOST_TOKENS // 2
_DEEPEST = 6
_KINDS = {BlockKind.ROW: ChunkKind.TABLE, BlockKind.CODE: ChunkKind.CODE}


def chunks_of(blocks: Iterable[Block]) -> Iterator[Chunk]:
    """Yield the chunks of a document, in order."""
    path: list[tuple[int, str]] = []
    filling = _Filling(())
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if not filling.is_parent_of(block):
                yield from filling.close()
            path = [each for each in path if each[0] < block.level][: _DEEPEST - 1]
            path.append((block.level, _short(block.text)))
            filling = _Filling(_titles(path), block)
        for piece in _pieces_of_block(block):
            if not filling.takes(piece):
                yield from filling.close()
                filling = _Filling(filling.path)
            filling.add(piece)
    yield from filling.close()


class _Filling:
    """A chunk under way; ``above`` is the heading that it comes directly after."""

    def __init__(self, path: tuple[str, ...], above: Block | None = None) -> None:
        self.path = path
        self._above = above
        self._blocks: list[Block] = []
        self._tokens = 0

    def is_parent_of(self, below: Block) -> bool:
        """Whether nothing stands between its heading and one below that, which names it."""
        return not self._blocks and self._above is not None and self._above.level < below.level

    def takes(self, block: Block) -> bool:
        """Whether a block may still go in: of one kind and page, and not too long together."""
        if not self._blocks:
            return True
        last = self._blocks[-1]
        alike = (last.kind, last.header, last.page) == (block.kind, block.header, block.page)
        return alike and self._tokens + count_tokens(block.text) <= TARGET_TOKENS

    def add(self, block: Block) -> None:
        if not self._blocks:
            self._tokens = count_tokens(block.header)
        self._blocks.append(block)
        self._tokens += count_tokens(block.text)

    def close(self) -> Iterator[Chunk]:
        """Yield it; a heading with nothing below it is text itself."""
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
    seam = "\n" if first.kind is BlockKind.ROW else "\n\n"
    text = seam.join(each.text for each in blocks)
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


@dataclass(frozen=True, slots=True)
class _Lines:
    """Counts lines on the way through a text that is cut."""

    first: int | None
    text: str

    def of(self, start: int, end: int) -> tuple[int | None, int | None]:
        if self.first is None:
            return None, None
        begin = self.first + self.text.count("\n", 0, start)
        return begin, begin + self.text.count("\n", start, end)


def _pieces_of_block(block: Block) -> Iterator[Block]:
    """Yield what of a block is text; of a heading, what a path has no room for."""
    if block.kind is BlockKind.HEADING:
        if len(block.text) > _MOST_HEADING:
            yield from _fitting(replace(block, kind=BlockKind.TEXT))
    elif block.text.strip():
        yield from _fitting(block)


def _fitting(block: Block) -> Iterator[Block]:
    """Yield the block, in pieces if it is too long."""
    if count_tokens(block.header) > _MOST_HEADER_TOKENS:
        block = replace(block, header="")
    most = MOST_TOKENS - count_tokens(block.header)
    if count_tokens(block.text) <= most:
        yield block
        return
    counted, at = _Lines(block.first_line, block.text), 0
    for piece in split_text(block.text, most):
        start = block.text.index(piece, at)
        at = start + len(piece)
        first, last = counted.of(start, at)
        yield replace(block, text=piece, first_line=first, last_line=last)


def _titles(path: list[tuple[int, str]]) -> tuple[str, ...]:
    """Return the headings of a path; a page's title is often its first heading, too."""
    titles = [title for _, title in path if title]
    return tuple(each for at, each in enumerate(titles) if at == 0 or each != titles[at - 1])


def _short(title: str) -> str:
    return title if len(title) <= _MOST_HEADING else title[: _MOST_HEADING - 1].rstrip() + "…"
