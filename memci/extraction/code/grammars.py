"""Programming languages: which files they are in, and what of their grammars is a symbol.

The grammars come inside wheels; nothing is downloaded.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

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
