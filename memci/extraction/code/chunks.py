"""From code to chunks: one for each symbol, and one for what stands between them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from memci.domain.documents.chunk import Chunk, ChunkKind
from memci.extraction.chunker import MOST_TOKENS, TARGET_TOKENS
from memci.extraction.code.grammars import GRAMMARS
from memci.extraction.code.symbols import Symbol, symbols_of
from memci.extraction.splitting import split_text
from memci.extraction.tokens import count_tokens


def code_chunks(text: str, language: str) -> Iterator[Chunk]:
    """Yield the chunks of a file in the order of its lines.

    A class is a chunk of its own lines (head, docstring, fields), and each method is one. What
    belongs to no symbol (imports, constants, statements) has none. Long ones are several chunks.
    """
    source = text.encode()
    whole = Symbol("", 0, len(source), symbols_of(source, GRAMMARS[language]))
    cut = _Cut(source, language)
    waiting: list[Symbol] = [whole]
    chunks: list[Chunk] = []
    while waiting:
        symbol = waiting.pop()
        chunks += cut.own(symbol)
        waiting += symbol.inside
    yield from sorted(chunks, key=lambda each: (each.first_line or 0, each.last_line or 0))


@dataclass(frozen=True, slots=True)
class _Cut:
    source: bytes
    language: str

    def own(self, symbol: Symbol) -> Iterator[Chunk]:
        """Yield the chunks of a symbol without those inside it."""
        lines = list(self._lines(symbol))
        if not any(said.strip(" \t{}();") for _, said in lines):
            return
        group: list[tuple[int, str]] = []
        tokens = 0
        for number, said in lines:
            more = count_tokens(said)
            gap = bool(group) and not symbol.name and number > group[-1][0] + 1
            if group and (tokens + more > TARGET_TOKENS or (gap and tokens > TARGET_TOKENS / 2)):
                yield from self._chunks(symbol, group)
                group, tokens = [], 0
            group.append((number, said))
            tokens += more
        yield from self._chunks(symbol, group)

    def _lines(self, symbol: Symbol) -> Iterator[tuple[int, str]]:
        """Yield the lines of a symbol's own, by number from 1."""
        at = symbol.start
        for start, end in [*((each.start, each.end) for each in symbol.inside), (symbol.end, 0)]:
            own = self.source[at:start].decode(errors="replace")
            number = self.source.count(b"\n", 0, at) + 1
            if own.strip():
                skipped = len(own) - len(own.lstrip("\n"))
                kept = own.lstrip("\n").rstrip()
                for place, said in enumerate(kept.split("\n")):
                    yield number + skipped + place, said
            at = max(at, end)

    def _chunks(self, symbol: Symbol, lines: list[tuple[int, str]]) -> Iterator[Chunk]:
        said = textwrap.dedent("\n".join(each for _, each in lines)).strip("\n")
        if not said.strip():
            return
        pieces = [said] if count_tokens(said) <= MOST_TOKENS else split_text(said, MOST_TOKENS)
        for piece in pieces:
            yield Chunk(
                text=piece,
                path=(symbol.name,) if symbol.name else (),
                kind=ChunkKind.CODE,
                symbol=symbol.name or None,
                language=self.language,
                first_line=lines[0][0],
                last_line=lines[-1][0],
            )
