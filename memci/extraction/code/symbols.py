"""Which symbols there are in a file of code, and where each begins and ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memci.domain.documents.symbol import qualified
from memci.extraction.code.grammars import Grammar, parser_for

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
