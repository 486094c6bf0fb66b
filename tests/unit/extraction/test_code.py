"""R9: code in every language is found by its symbols, with their lines."""

from __future__ import annotations

import pytest

from memci.domain.documents import ChunkKind, last_part, qualified
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.chunker import count_tokens
from memci.extraction.formats import read_document
from memci.extraction.source_code import GRAMMARS, code_chunks, language_of_file

SOURCES: dict[str, tuple[str, list[str]]] = {
    "a.py": (("class A:\n    x = 1\n\n    def b(self):\n        pass\n\n\n"
              "async def f():\n    pass\n"), ["A", "A.b", "f"]),
    "a.js": (("class A { b() {} }\nfunction t() {}\nconst f = (x) => x;\n"
             "export default function g() {}\n"), ["A", "A.b", "t", "f", "g"]),
    "a.jsx": ("const App = () => <p>hi</p>;\n", ["App"]),
    "a.ts": (("export interface I { x: number }\ntype T = string;\nexport class A<X> {\n"
             "  b(): void {}\n}\nenum E { One }\nnamespace N { function x() {} }\n"),
             ["I", "T", "A", "A.b", "E", "N", "N.x"]),
    "a.tsx": ("export function App() { return <p>hi</p>; }\n", ["App"]),
    "a.go": (("package p\n\n// Run runs.\nfunc (s *Server) Run() {}\n\nfunc Top() {}\n\n"
             "type S struct { x int }\n"), ["Server.Run", "Top", "S"]),
    "a.rs": (("impl<T> Foo for Bar<T> { fn baz(&self) {} }\nfn top() {}\nstruct S;\nenum E {}\n"
             "trait T { fn x(); }\nmod m { fn inner() {} }\nmacro_rules! q { () => {} }\n"),
             ["Bar", "Bar.baz", "top", "S", "E", "T", "T.x", "m", "m.inner", "q"]),
    "A.java": (("class A {\n  A() {}\n  int b() { return 1; }\n  enum E { X }\n}\n"
               "record R(int x) {}\n"), ["A", "A.A", "A.b", "A.E", "R"]),
    "a.c": (("static int *f(int a) { return 0; }\nstruct S { int x; };\nstruct S *use;\n"
            "typedef struct { int y; } T;\nenum E { One };\n"), ["f", "S", "T", "E"]),
    "a.cpp": (("namespace N {\nclass A {\n int b() { return 1; }\n};\n}\n"
              "int N::A::c(int x) { return 1; }\ntemplate<class T> T g(T x) { return x; }\n"),
              ["N", "N.A", "N.A.b", "N.A.c", "g"]),
    "A.cs": (("namespace N {\n class A {\n  public A() {}\n  int B() { return 1; }\n"
             "  int P { get; set; }\n }\n interface I {}\n enum E { One }\n}\n"),
             ["N", "N.A", "N.A.A", "N.A.B", "N.A.P", "N.I", "N.E"]),
    "a.rb": ("module M\n  class A < B\n    def c\n    end\n\n    def self.d; end\n  end\nend\n",
             ["M", "M.A", "M.A.c", "M.A.d"]),
    "a.php": ("<?php\nclass A { function b() {} }\nfunction t() {}\ninterface I {}\n",
              ["A", "A.b", "t", "I"]),
    "a.sh": ("foo() {\n  echo a\n}\nfunction bar {\n  echo b\n}\n", ["foo", "bar"]),
    "a.kt": ("class A {\n    fun b(x: Int): Int {\n        return 1\n    }\n}\n\nfun top() {}\n",
             ["A", "A.b", "top"]),
    "a.swift": ("class A {\n    func b() {}\n}\n\nfunc top() {}\n", ["A", "A.b", "top"]),
    "a.scala": ("object A {\n  def b(x: Int) = 1\n}\n", ["A", "A.b"]),
}  # fmt: skip


def chunks(name: str, text: str):
    return read_document(name, text.encode(), ExtractionLimits())


@pytest.mark.parametrize("name", SOURCES)
def test_symbols_are_found_in_every_language(name: str):
    text, expected = SOURCES[name]
    found = chunks(name, text)
    assert {each.symbol for each in found if each.symbol} == set(expected)
    assert {each.kind for each in found} == {ChunkKind.CODE}


def test_every_grammar_has_an_example_here():
    tried = {language_of_file(name, text) for name, (text, _) in SOURCES.items()}
    assert tried == set(GRAMMARS)


PYTHON = '''"""What it is for."""

import os

LIMIT = 3


# Reads a file.
@cached
def read(path):
    """Return its text."""
    return open(path).read()


class Parser:
    """Parses."""

    depth = 0

    def run(self):
        return 1

    def stop(self):
        return 2
'''


def test_a_symbol_has_its_lines_with_comments_and_decorators():
    found = {each.symbol: each for each in code_chunks(PYTHON, "python")}
    read = found["read"]
    assert (read.first_line, read.last_line) == (8, 12)
    assert read.text.startswith("# Reads a file.\n@cached\ndef read(path):")
    assert read.path == ("read",)
    own = found["Parser"]
    assert '"""Parses."""' in own.text
    assert "depth = 0" in own.text
    assert "def run" not in own.text
    run = found["Parser.run"]
    assert (run.text, run.first_line, run.last_line) == ("def run(self):\n    return 1", 20, 21)
    assert "import os" in found[None].text
    assert found[None].first_line == 1


def test_a_long_symbol_is_several_chunks_with_its_name():
    body = "\n".join(f"    total_{n} = compute(first_{n}, second_{n})" for n in range(120))
    found = list(code_chunks(f"def big():\n{body}\n", "python"))
    assert len(found) > 3
    assert {each.symbol for each in found} == {"big"}
    assert all(count_tokens(each.text) <= 220 for each in found)
    lines = [line for each in found for line in range(each.first_line, each.last_line + 1)]
    assert lines == list(range(1, 122))


def test_code_on_one_line_is_cut():
    minified = "".join(f"function f{n}(a){{return a+{n}}}" for n in range(300))
    found = list(code_chunks(minified, "javascript"))
    assert {each.symbol for each in found} == {f"f{n}" for n in range(300)}
    data = "var a=[" + ",".join(str(n) for n in range(20_000)) + "]"
    assert all(count_tokens(each.text) <= 220 for each in code_chunks(data, "javascript"))


def test_readable_parts_of_broken_code_are_found():
    found = list(
        code_chunks("def good():\n    return 1\n\n)))((( class\n\ndef other(:\n", "python")
    )
    assert "good" in {each.symbol for each in found}


def test_the_language_of_a_script_is_read_from_its_first_line():
    assert language_of_file("bin/tool", "#!/usr/bin/env python3\n") == "python"
    assert language_of_file("run", "#!/bin/sh -e\n") == "shell"
    assert language_of_file("LICENSE", "Apache") is None
    assert language_of_file(".bashrc", "x") is None


@pytest.mark.parametrize(
    ("written", "name"),
    [("Foo::bar()", "Foo.bar"), ("Foo#bar", "Foo.bar"), ("obj->run(x, y)", "obj.run"),
     (" parse_config ", "parse_config"), ("a.b.C", "a.b.C")],
)  # fmt: skip
def test_symbols_are_recognised_in_common_notations(written: str, name: str):
    assert qualified(written) == name
    assert last_part(name) == name.rsplit(".", maxsplit=1)[-1].lower()
