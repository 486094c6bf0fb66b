"""Cuts source code into one chunk for each symbol.

The grammars come inside wheels; nothing is downloaded.
"""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from memci.domain.documents import Chunk, ChunkKind, qualified
from memci.extraction.chunker import MOST_TOKENS, TARGET_TOKENS, count_tokens, split_text

if TYPE_CHECKING:
    from tree_sitter import Parser


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language: names of node types are its grammar's.

    ``leaves``: symbols that are looked into no further. ``containers``: symbols that have others
    inside. ``function`` is what the wheel calls its language.
    """

    language: str
    module: str
    leaves: frozenset[str]
    containers: frozenset[str]
    function: str = "language"


def _grammar(
    language: str, leaves: str, containers: str, *, module: str = "", function: str = "language"
) -> Grammar:
    name = f"tree_sitter_{module or language}"
    return Grammar(
        language, name, frozenset(leaves.split()), frozenset(containers.split()), function
    )


_JAVASCRIPT = "function_declaration generator_function_declaration method_definition"
_TYPESCRIPT = (
    f"{_JAVASCRIPT} type_alias_declaration enum_declaration interface_declaration"
    " abstract_method_signature function_signature"
)
_C = "function_definition preproc_function_def enum_specifier union_specifier type_definition"
GRAMMARS: Mapping[str, Grammar] = {
    each.language: each
    for each in (
        _grammar("python", "function_definition", "class_definition"),
        _grammar("javascript", _JAVASCRIPT, "class_declaration class"),
        _grammar(
            "typescript", _TYPESCRIPT,
            "class_declaration abstract_class_declaration internal_module module",
            function="language_typescript",
        ),
        _grammar(
            "tsx", _TYPESCRIPT, "class_declaration abstract_class_declaration internal_module",
            module="typescript", function="language_tsx",
        ),
        _grammar("go", "function_declaration method_declaration type_spec type_alias", ""),
        _grammar(
            "rust", "function_item function_signature_item struct_item enum_item union_item"
            " macro_definition type_item", "impl_item trait_item mod_item",
        ),
        _grammar(
            "java", "method_declaration constructor_declaration annotation_type_declaration",
            "class_declaration interface_declaration enum_declaration record_declaration",
        ),
        _grammar("c", f"{_C} struct_specifier", ""),
        _grammar(
            "cpp", f"{_C} concept_definition alias_declaration",
            "class_specifier struct_specifier namespace_definition",
        ),
        _grammar(
            "csharp", "method_declaration constructor_declaration property_declaration"
            " delegate_declaration enum_declaration operator_declaration local_function_statement",
            "class_declaration interface_declaration struct_declaration record_declaration"
            " namespace_declaration", module="c_sharp",
        ),
        _grammar("ruby", "method singleton_method", "class module"),
        _grammar(
            "php", "function_definition method_declaration",
            "class_declaration interface_declaration trait_declaration enum_declaration",
            function="language_php",
        ),
        _grammar("shell", "function_definition", "", module="bash"),
        _grammar("kotlin", "function_declaration", "class_declaration object_declaration"),
        _grammar(
            "swift", "function_declaration init_declaration protocol_function_declaration",
            "class_declaration protocol_declaration",
        ),
        _grammar(
            "scala", "function_definition function_declaration type_definition",
            "class_definition object_definition trait_definition enum_definition",
        ),
    )
}  # fmt: skip

_ENDINGS: Mapping[str, str] = {
    ending: language
    for language, endings in {
        "python": "py pyi pyw", "javascript": "js mjs cjs jsx", "typescript": "ts mts cts",
        "tsx": "tsx", "go": "go", "rust": "rs", "java": "java", "c": "c h",
        "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp cu cuh", "csharp": "cs csx", "ruby": "rb rake",
        "php": "php phtml", "shell": "sh bash zsh", "kotlin": "kt kts", "swift": "swift",
        "scala": "scala sc",
    }.items()
    for ending in endings.split()
}  # fmt: skip
# Named in the first line of a script that has no ending.
_INTERPRETERS: Mapping[str, str] = {
    "python": "python", "node": "javascript", "bash": "shell", "sh": "shell", "zsh": "shell",
    "ruby": "ruby", "php": "php",
}  # fmt: skip


def language_of_file(name: str, text: str) -> str | None:
    """Return the language of a file by its ending or its first line; None if it is no code."""
    stem, dot, ending = name.rpartition("/")[2].rpartition(".")
    if dot and stem:
        return _ENDINGS.get(ending.lower())
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return None
    words = first[2:].replace("/", " ").split()
    called = [each.rstrip("0123456789.") for each in words if each != "env"]
    return next((_INTERPRETERS[each] for each in called if each in _INTERPRETERS), None)


@cache
def parser_for(grammar: Grammar) -> Parser:
    """Return a parser of the language; not to be shared by threads."""
    from tree_sitter import Language, Parser  # noqa: PLC0415 - loads for code alone

    wheel = importlib.import_module(grammar.module)
    return Parser(Language(getattr(wheel, grammar.function)()))


if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({
    "arrow_function", "function_expression", "function", "generator_function", "class",
})  # fmt: skip
# What stands around a definition and belongs to it.
_WRAPPERS = frozenset({
    "decorated_definition", "export_statement", "template_declaration", "lexical_declaration",
    "variable_declaration", "type_declaration", "ambient_declaration", "declaration",
})  # fmt: skip
_DEEPEST = 200
# More symbols than any file that people wrote.
_MOST = 20_000
_LONGEST = 200


@dataclass(slots=True)
class Symbol:
    """A definition: bytes ``start`` to ``end`` of its file, with comments directly above it."""

    name: str
    start: int
    end: int
    inside: list[Symbol] = field(default_factory=list)


def symbols_of(source: bytes, grammar: Grammar) -> list[Symbol]:
    """Return the outermost symbols of a file, in order; broken code gives what can be read."""
    root = parser_for(grammar).parse(source).root_node
    found: list[Symbol] = []
    count = 0
    waiting: list[tuple[Node, list[Symbol], str, int]] = [(root, found, "", 0)]
    while waiting:
        node, siblings, around, depth = waiting.pop()
        siblings_inside, prefix = siblings, around
        name = _name(node, grammar)
        if name and count < _MOST:
            count += 1
            own = f"{around}.{name}" if around else name
            start, end = _extent(node, source)
            symbol = Symbol(own, start, end)
            siblings.append(symbol)
            if node.type not in grammar.containers:
                continue
            siblings_inside, prefix = symbol.inside, own
        if depth < _DEEPEST:
            inner = [(each, siblings_inside, prefix, depth + 1) for each in node.named_children]
            waiting += reversed(inner)
    _settle(found)
    return found


def _settle(symbols: list[Symbol]) -> None:
    """Let no symbol begin before the one before it has ended."""
    waiting = [symbols]
    while waiting:
        end = 0
        for symbol in waiting.pop():
            symbol.start = max(symbol.start, min(end, symbol.end))
            end = symbol.end
            waiting.append(symbol.inside)


def _name(node: Node, grammar: Grammar) -> str:
    """Return what a node defines, "" for nothing."""
    kind = node.type
    if kind == "variable_declarator":  # const f = () => …
        value = node.child_by_field_name("value")
        return _text(node.child_by_field_name("name")) if _is_function(value) else ""
    if kind not in grammar.leaves and kind not in grammar.containers:
        return ""
    if kind.endswith("_specifier") and node.child_by_field_name("body") is None:
        return ""  # "struct S *s": names one, and defines none
    if kind == "impl_item":
        return _text(node.child_by_field_name("type")).partition("<")[0]
    name = _text(node.child_by_field_name("name")) or _declared(node)
    if kind == "method_declaration" and (receiver := node.child_by_field_name("receiver")):
        owner = _raw(receiver).strip("()").split()[-1:]  # func (s *Server[T]) Run()
        return ".".join([*(each.lstrip("*").partition("[")[0] for each in owner), name])
    return name


def _is_function(node: Node | None) -> bool:
    return node is not None and node.type in _FUNCTIONS


def _declared(node: Node) -> str:
    """Return the name inside C's declarators: ``int *f(int a)``."""
    inner = node.child_by_field_name("declarator")
    while inner is not None:
        if inner.type.endswith("identifier") or inner.type in {"operator_name", "destructor_name"}:
            return _text(inner)
        inner = inner.child_by_field_name("declarator") or next(
            (each for each in inner.named_children if "declarator" in each.type), None
        )
    return ""


def _text(node: Node | None) -> str:
    return qualified(_raw(node))


def _raw(node: Node | None) -> str:
    if node is None or node.text is None:
        return ""
    return " ".join(node.text[:_LONGEST].decode(errors="replace").split())


def _extent(node: Node, source: bytes) -> tuple[int, int]:
    """Return where a symbol begins and ends: with what wraps it, and comments right above it."""
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS and _alone(outer):
        outer = outer.parent
    first = outer
    while (above := first.prev_sibling) is not None and _belongs(above, first, source):
        first = above
    return _line_start(source, first.start_byte), outer.end_byte


def _alone(node: Node) -> bool:
    """Whether what wraps a node wraps nothing else of its kind."""
    parent = node.parent
    return parent is not None and sum(each.type == node.type for each in parent.named_children) == 1


def _belongs(above: Node, first: Node, source: bytes) -> bool:
    is_note = "comment" in above.type or above.type == "attribute_item"
    between = source[above.end_byte : first.start_byte]
    own_line = not source[_line_begin(source, above.start_byte) : above.start_byte].strip()
    return is_note and own_line and not between.strip() and between.count(b"\n") <= 1


def _line_begin(source: bytes, at: int) -> int:
    return source.rfind(b"\n", 0, at) + 1


def _line_start(source: bytes, at: int) -> int:
    """Return where the line begins, if there are only blanks before."""
    begin = _line_begin(source, at)
    return at if source[begin:at].strip() else begin


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
