"""Networks are printed as trees and as DOT."""

from __future__ import annotations

import re
import sys
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from memci.cli.commands.network import show_network
from memci.cli.network.tree import TreeNode, dot_of, print_tree, quoted, trees_of
from memci.schemas.network import NetworkAnswer
from tests.support.examples import examples
from tests.support.networks import entity, link, network, node


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def printed(answer: NetworkAnswer, capsys: pytest.CaptureFixture[str], depth: int = 4) -> list[str]:
    print_tree(answer, depth)
    return capsys.readouterr().out.splitlines()


def ids_in(tree_node: TreeNode) -> list[int]:
    return [tree_node.node.id, *(each for child in tree_node.children for each in ids_in(child))]


networks = st.integers(1, 9).flatmap(
    lambda count: st.builds(
        lambda focus, pairs: network(
            [node(each, focus=each in focus) for each in range(1, count + 1)],
            [
                link(source, target, strength, dangling=target > count)
                for (source, target), strength in pairs.items()
            ],
        ),
        st.sets(st.integers(1, count), max_size=3),
        st.dictionaries(
            st.tuples(st.integers(1, count), st.integers(1, count + 3)).filter(
                lambda pair: pair[0] != pair[1]
            ),
            st.floats(0, 1),
            max_size=20,
        ),
    )
)


@settings(max_examples=examples(500))
@given(networks, st.integers(0, 4))
def test_every_node_is_in_the_tree_once_or_counted_as_hidden(answer: NetworkAnswer, depth: int):
    focus, unreachable = trees_of(answer, depth)
    trees = [*focus, *unreachable]
    placed = [each for tree in trees for each in ids_in(tree)]
    assert len(placed) == len(set(placed))

    def hidden(tree_node: TreeNode) -> int:
        return tree_node.hidden + sum(map(hidden, tree_node.children))

    assert len(placed) + sum(map(hidden, trees)) == len(answer.nodes)
    assert [tree.node.id for tree in focus] == [
        each for each in answer.focus if each in {tree.node.id for tree in focus}
    ]


def test_the_tree_follows_the_strongest_links_first(capsys: pytest.CaptureFixture[str]):
    answer = network(
        [
            entity(1, "Lisbon", focus=True, importance=2.0),
            node(2, "a weak one"), node(3, "a strong one"), node(4, "behind it"), node(5, "alone"),
        ],
        [
            link(1, 2, 0.25, relation="concerns"), link(3, 1, 1.0), link(1, 3, 0.5, relation="is"),
            link(4, 3, 0.5), link(2, 9, 0.1, dangling=True, relation="next", hint="an umbrella"),
        ],
    )  # fmt: skip
    head, *lines = printed(answer, capsys)
    assert head == "ada, now: 5 nodes, 5 links"
    assert lines == [
        "● #1 importance 2.00  Lisbon",
        "├─ ██████ 1.00 ↔ is #3 importance 1.00, 50% of 100  a strong one",
        "│  └─ ███··· 0.50 ← about #4 importance 1.00, 50% of 100  behind it",
        "└─ ██···· 0.25 → concerns #2 importance 1.00, 50% of 100  a weak one",
        "   └─ █····· 0.10 ⇢ next #9 forgotten: an umbrella",
        "not reachable from the focus:",
        "● #5 importance 1.00, 50% of 100  alone",
    ]


def test_nodes_below_the_depth_are_counted(capsys: pytest.CaptureFixture[str]):
    chain = network(
        [node(each, focus=each == 1) for each in range(1, 6)],
        [link(each, each + 1) for each in range(1, 5)],
    )
    assert printed(chain, capsys, depth=1)[-1].strip() == "└─ … 3 nodes farther out (--depth)"
    assert len(printed(chain, capsys, depth=4)) == 6


def test_a_long_chain_does_not_exceed_the_recursion_limit(capsys: pytest.CaptureFixture[str]):
    count = 3 * sys.getrecursionlimit()
    chain = network(
        [node(each) for each in range(1, count + 1)],
        [link(each, each + 1) for each in range(1, count)],
    )
    assert len(printed(chain, capsys, depth=count)) == count + 1


def test_omitted_dangling_links_nodes_and_links_are_counted(
    capsys: pytest.CaptureFixture[str],
):
    answer = network([node(1)], [link(1, 10 + each, dangling=True) for each in range(8)], (3, 1))
    show_network(answer, 4, as_dot=False)
    out, err = capsys.readouterr()
    assert out.count("forgotten: a hint") == 5
    assert "… 3 more links to what is forgotten" in out
    assert out.startswith("ada, now: 4 nodes, 9 links")
    assert err == "not shown: 3 nodes, 1 link: --limit shows more\n"


def test_a_node_of_an_old_snapshot_shows_when_it_was_forgotten(capsys: pytest.CaptureFixture[str]):
    answer = network([node(1, None)], [])
    assert "50% of 100  (forgotten in pass 7)" in "\n".join(printed(answer, capsys))


@pytest.mark.parametrize("width", [20, 40, 61])
def test_wide_characters_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, width: int):
    answer = network(
        [entity(1, "云南", focus=True), node(2, "我们准备四月去云南旅行" * 5)],
        [link(1, 2, relation="关于")],
    )
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    print_tree(answer, 4)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert max(cell_len(line) for line in plain.splitlines()) <= width
    assert "\x1b[" in terminal.getvalue()


def test_a_pipe_gets_whole_lines_without_colour(capsys: pytest.CaptureFixture[str]):
    lines = printed(network([node(1, "words " * 12)], []), capsys)
    assert "\x1b" not in "".join(lines)
    assert lines[1].count("words") == 12


def test_control_characters_and_newlines_are_not_printed(capsys: pytest.CaptureFixture[str]):
    evil = "\x1b]0;x\x07first\nsecond\x9b2J [bold]"
    answer = network([node(1, evil)], [link(1, 2, dangling=True, relation=evil, hint=evil)])
    print_tree(answer, 4)
    lines = [*capsys.readouterr().out.splitlines(), *dot_of(answer).splitlines()]
    assert all(character.isprintable() for line in lines for character in line)
    assert any("[bold]" in line for line in lines)


@settings(max_examples=examples(500))
@given(st.text(max_size=60))
def test_any_text_is_one_string_of_dot(text: str):
    line = quoted(text)
    assert re.fullmatch(r'"(?:[^"\\]|\\\\|\\")*"', line)
    assert "\n" not in line


def test_dot_has_every_node_and_link():
    answer = network(
        [entity(1, 'the "old" \\N town', focus=True), node(2)],
        [link(1, 2, 1.0), link(2, 9, 0.5, dangling=True, hint="an umbrella")],
    )
    dot = dot_of(answer)
    assert dot.startswith("digraph memory {\n")
    assert dot.endswith("}\n")
    assert r'1 [label="the \"old\" \\N town", shape=ellipse, penwidth=3];' in dot
    assert '1 -> 2 [label="about", penwidth=3.00];' in dot
    assert '2 -> 9 [label="about", penwidth=1.65, style=dashed];' in dot
    assert '9 [label="an umbrella", style=dashed, fontcolor=gray40];' in dot
