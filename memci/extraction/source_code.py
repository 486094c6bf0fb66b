"""Cuts source code into one chunk for each symbol.

The grammars are in wheels; nothing is downloaded.
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
    """One language, and the node types of its grammar."""

    language: str
    module: str
    endings: frozenset[str]  # of files
    leaves: frozenset[str]  # symbols without symbols inside
    containers: frozenset[str]  # symbols with symbols inside


_JAVASCRIPT = "function_declaration generator_function_declaration method_definition"
_TYPESCRIPT = (
    f"{_JAVASCRIPT} type_alias_declaration enum_declaration interface_declaration"
    " abstract_method_signature function_signature"
)
_RUST = (
    "function_item function_signature_item struct_item enum_item union_item macro_definition"
    " type_item"
)
_CSHARP = (
    "method_declaration constructor_declaration property_declaration delegate_declaration"
    " enum_declaration operator_declaration local_function_statement"
)
_JAVA = "class_declaration interface_declaration"
_C = "function_definition preproc_function_def enum_specifier union_specifier type_definition"
GRAMMARS: Mapping[str, Grammar] = {
    language: Grammar(language, f"tree_sitter_{module}", *(frozenset(of.split()) for of in words))
    for language, module, *words in (
        ("python", "python", "py pyi pyw", "function_definition", "class_definition"),
        ("javascript", "javascript", "js mjs cjs jsx", _JAVASCRIPT, "class_declaration class"),
        (
            "typescript", "typescript", "ts mts cts", _TYPESCRIPT,
            "class_declaration abstract_class_declaration internal_module module",
        ),
        (
            "tsx", "typescript", "tsx", _TYPESCRIPT,
            "class_declaration abstract_class_declaration internal_module",
        ),
        ("go", "go", "go", "function_declaration method_declaration type_spec type_alias", ""),
        ("rust", "rust", "rs", _RUST, "impl_item trait_item mod_item"),
        (
            "java", "java", "java",
            "method_declaration constructor_declaration annotation_type_declaration",
            f"{_JAVA} enum_declaration record_declaration",
        ),
        ("c", "c", "c h", f"{_C} struct_specifier", ""),
        (
            "cpp", "cpp", "cc cpp cxx c++ hh hpp hxx h++ ipp cu cuh",
            f"{_C} concept_definition alias_declaration",
            "class_specifier struct_specifier namespace_definition",
        ),
        (
            "csharp", "c_sharp", "cs csx", _CSHARP,
            f"{_JAVA} struct_declaration record_declaration namespace_declaration",
        ),
        ("ruby", "ruby", "rb rake", "method singleton_method", "class module"),
        (
            "php", "php", "php phtml", "function_definition method_declaration",
            f"{_JAVA} trait_declaration enum_declaration",
        ),
        ("shell", "bash", "sh bash zsh", "function_definition", ""),
        (
            "kotlin", "kotlin", "kt kts", "function_declaration",
            "class_declaration object_declaration",
        ),
        (
            "swift", "swift", "swift",
            "function_declaration init_declaration protocol_function_declaration",
            "class_declaration protocol_declaration",
        ),
        (
            "scala", "scala", "scala sc",
            "function_definition function_declaration type_definition",
            "class_definition object_definition trait_definition enum_definition",
        ),
    )
}  # fmt: skip
_LANGUAGES = {ending: each.language for each in GRAMMARS.values() for ending in each.endings}
# In the first line of a script without an ending.
_INTERPRETERS: Mapping[str, str] = {
    "python": "python", "node": "javascript", "bash": "shell", "sh": "shell", "zsh": "shell",
    "ruby": "ruby", "php": "php",
}  # fmt: skip


def language_of_file(name: str, text: str) -> str | None:
    """Return the language of a file by its ending or its first line; None for other files."""
    stem, dot, ending = name.rpartition("/")[2].rpartition(".")
    if dot and stem:
        return _LANGUAGES.get(ending.lower())
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
    language = getattr(wheel, "language", None) or getattr(wheel, f"language_{grammar.language}")
    return Parser(Language(language()))


if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({
    "arrow_function", "function_expression", "function", "generator_function", "class",
})  # fmt: skip
# Nodes around a definition that belong to it.
_WRAPPERS = frozenset({
    "decorated_definition", "export_statement", "template_declaration", "lexical_declaration",
    "variable_declaration", "type_declaration", "ambient_declaration", "declaration",
})  # fmt: skip
_DEEPEST = 200
# More symbols than any file by people has.
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
    """Return the outermost symbols of a file, in order; of broken code those that can be parsed."""
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
    _remove_overlaps(found)
    return found


def _remove_overlaps(symbols: list[Symbol]) -> None:
    """Move the start of each symbol behind the end of the one before it."""
    waiting = [symbols]
    while waiting:
        end = 0
        for symbol in waiting.pop():
            symbol.start = max(symbol.start, min(end, symbol.end))
            end = symbol.end
            waiting.append(symbol.inside)


def _name(node: Node, grammar: Grammar) -> str:
    """Return the name that a node defines, "" for none."""
    kind = node.type
    if kind == "variable_declarator":  # const f = () => …
        value = node.child_by_field_name("value")
        is_function = value is not None and value.type in _FUNCTIONS
        return _text(node.child_by_field_name("name")) if is_function else ""
    if kind not in grammar.leaves and kind not in grammar.containers:
        return ""
    if kind.endswith("_specifier") and node.child_by_field_name("body") is None:
        return ""  # "struct S *s" uses a name, and defines none
    if kind == "impl_item":
        return _text(node.child_by_field_name("type")).partition("<")[0]
    name = _text(node.child_by_field_name("name")) or _declared(node)
    if kind == "method_declaration" and (receiver := node.child_by_field_name("receiver")):
        owner = _raw(receiver).strip("()").split()[-1:]  # func (s *Server[T]) Run()
        return ".".join([*(each.lstrip("*").partition("[")[0] for each in owner), name])
    return name


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
    """Return the start and end of a symbol, with its wrappers and the comments above it."""
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS and _is_only_one(outer):
        outer = outer.parent
    first = outer
    while (above := first.prev_sibling) is not None and _belongs_to(above, first, source):
        first = above
    return _line_start(source, first.start_byte), outer.end_byte


def _is_only_one(node: Node) -> bool:
    """Return True if the parent of a node has no other child of its type."""
    parent = node.parent
    return parent is not None and sum(each.type == node.type for each in parent.named_children) == 1


def _belongs_to(above: Node, first: Node, source: bytes) -> bool:
    is_comment = "comment" in above.type or above.type == "attribute_item"
    between = source[above.end_byte : first.start_byte]
    own_line = not source[_line_begin(source, above.start_byte) : above.start_byte].strip()
    return is_comment and own_line and not between.strip() and between.count(b"\n") <= 1


def _line_begin(source: bytes, at: int) -> int:
    return source.rfind(b"\n", 0, at) + 1


def _line_start(source: bytes, at: int) -> int:
    """Return the start of the line, if there are only blanks before ``at``."""
    begin = _line_begin(source, at)
    return at if source[begin:at].strip() else begin


def code_chunks(text: str, language: str) -> Iterator[Chunk]:
    """Yield the chunks of a file in the order of its lines.

    A class is a chunk of its own lines (head, docstring, fields), and each method is one. Imports,
    constants and statements have no symbol. A long symbol has several chunks.
    """
    source = text.encode()
    whole = Symbol("", 0, len(source), symbols_of(source, GRAMMARS[language]))
    waiting: list[Symbol] = [whole]
    chunks: list[Chunk] = []
    while waiting:
        symbol = waiting.pop()
        chunks += _own_chunks(source, language, symbol)
        waiting += symbol.inside
    yield from sorted(chunks, key=lambda each: (each.first_line or 0, each.last_line or 0))


def _own_chunks(source: bytes, language: str, symbol: Symbol) -> Iterator[Chunk]:
    """Yield the chunks of a symbol without those of the symbols inside it."""
    lines = list(_own_lines(source, symbol))
    if not any(text.strip(" \t{}();") for _, text in lines):
        return
    groups: list[list[tuple[int, str]]] = [[]]
    tokens = 0
    for number, text in lines:
        group, more = groups[-1], count_tokens(text)
        gap = bool(group) and not symbol.name and number > group[-1][0] + 1
        if group and (tokens + more > TARGET_TOKENS or (gap and tokens > TARGET_TOKENS / 2)):
            group, tokens = [], 0
            groups.append(group)
        group.append((number, text))
        tokens += more
    for group in groups:
        text = textwrap.dedent("\n".join(each for _, each in group)).strip("\n")
        pieces = [text] if count_tokens(text) <= MOST_TOKENS else split_text(text, MOST_TOKENS)
        for piece in pieces if text.strip() else ():
            yield Chunk(
                text=piece,
                path=(symbol.name,) if symbol.name else (),
                kind=ChunkKind.CODE,
                symbol=symbol.name or None,
                language=language,
                first_line=group[0][0],
                last_line=group[-1][0],
            )


def _own_lines(source: bytes, symbol: Symbol) -> Iterator[tuple[int, str]]:
    """Yield the lines of a symbol without the symbols inside it, with numbers from 1."""
    at = symbol.start
    for start, end in [*((each.start, each.end) for each in symbol.inside), (symbol.end, 0)]:
        own = source[at:start].decode(errors="replace")
        if own.strip():
            text = own.lstrip("\n")
            first = source.count(b"\n", 0, at) + 1 + len(own) - len(text)
            yield from enumerate(text.rstrip().split("\n"), start=first)
        at = max(at, end)
