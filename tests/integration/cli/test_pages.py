"""Pages on the command line, against the real API."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from memci import Memci
from memci.cli import app
from memci.cli.pages.printing import PRINTERS
from memci.schemas.tools.table import TOOLS, About
from tests.integration.http.serving import Served
from tests.support.command_line import run

HOSTILE = "\x1b[31m[bold]red[/bold]\u202etxt.exe\x07 مرحبا"


class Shell:
    """Runs ``memci pages`` for one agent, in this process, which is faster."""

    def __init__(self, server: Served, agent: str, monkeypatch: Any, capsys: Any) -> None:
        self.agent = agent
        self._server = server
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("MEMCI_API_URL", server.url)

    def say(self, *texts: str, session: str = "s1") -> None:
        roles = ("user", "assistant")
        messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
        with Memci(self._server.url) as memci:
            memci.agent(self.agent).record(messages, remember="never", session_id=session)

    def run(self, *words: str, given: str = "") -> tuple[int, str, str]:
        """Return exit code, output and errors."""
        self._monkeypatch.setattr("sys.argv", ["memci", "pages", *words])
        self._monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(given.encode())))
        self._capsys.readouterr()
        code = app.run()
        return code, *self._capsys.readouterr()

    def output(self, *words: str, given: str = "") -> str:
        """Return the output of a command that must work."""
        code, printed, errors = self.run(*words, "--agent", self.agent, given=given)
        assert (code, errors) == (0, "")
        return printed

    def json(self, *words: str) -> Any:
        return json.loads(self.output(*words, "--json"))

    def refused(self, *words: str) -> tuple[int, str]:
        """Return exit code and errors of a command that must fail."""
        code, printed, errors = self.run(*words)
        assert printed == ""
        return code, errors


@pytest.fixture
def ada(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    made = Shell(server, "ada", monkeypatch, capsys)
    made.say("How do I sort a list in Go?", "Use the slices package.", "And a map?", "By its keys.")
    return made


def test_the_tree_shows_all_pages_with_their_tokens(ada: Shell):
    ada.output("create-contents-page", "usr-0", "--name", "Go", "--children", "usr-1")
    ada.output("expand-details", "usr-3")
    ada.output("pin-page", "usr-2")
    printed = ada.output("tree")
    tree = ada.json("tree")
    tokens = tree["tokens_of"]
    assert tree["tokens"] == ada.json("window")["tokens"]
    assert printed.splitlines() == [
        f"ada, session s1: {tree['tokens']} tokens",
        "● sys-0  expanded, 0 pages  System (system, READ_ONLY to agents)",
        f"● usr-0  expanded, 2 pages, {tokens['usr-0']} tokens  Conversation (user)",
        f"├─ usr-2  expanded, pinned, {tokens['usr-2']} tokens  And a map?",
        f"└─ usr-3  expanded, 1 page, {tokens['usr-3']} tokens  Go",
        f"   └─ usr-1  expanded, {tokens['usr-1']} tokens  How do I sort a list in Go?",
    ]
    ada.output("hide-details", "usr-3")
    assert (
        ada.output("tree").splitlines()[-1]
        == "   └─ usr-1  inside a hidden folder  How do I sort a list in Go?"
    )


def test_a_change_is_printed_in_one_line(ada: Shell):
    before = ada.json("window")["tokens"]
    made = ada.output("create-contents-page", "usr-0", "--name", "Go")
    between = ada.json("window")["tokens"]
    assert made == f"usr-3 is hidden, 0 pages, in usr-0 · {before} → {between} tokens\n"
    moved = ada.output("move-page", "usr-1", "usr-3")
    after = ada.json("window")["tokens"]
    assert moved == f"usr-1 is inside a hidden folder, in usr-3 · {between} → {after} tokens\n"
    ada.output("expand-details", "usr-3")
    collapsed = ada.output("auto-collapse", "100")
    assert collapsed.endswith(" tokens · collapsed: usr-1, usr-3\n"), (
        "the page, and then its folder"
    )
    assert ada.output("auto-collapse", "1").startswith("nothing to collapse · ")


def test_changes_of_pins_are_printed_like_other_changes(ada: Shell):
    before = ada.json("window")["tokens"]
    pinned = ada.output("pin", "--text", "Use metric units.", "--kind", "preference")
    between = ada.json("window")["tokens"]
    assert pinned == f"pin 1 is set · {before} → {between} tokens\n"
    assert ada.output("unpin", "1") == f"pin 1 is removed · {between} → {before} tokens\n"


def test_the_archive_is_a_folder_of_the_tree(ada: Shell):
    for number in range(9):
        ada.say(f"第 {number} 个问题？", "好的。")
    lines = ada.output("tree").splitlines()
    archive = next(n for n, line in enumerate(lines) if "the archive, expanded, 3 pages" in line)
    assert lines[archive].endswith("目录页")
    within = lines[archive + 1 : archive + 4]
    assert [line.split()[2:4] for line in within] == [[f"usr-{n}", "archived,"] for n in (1, 2, 3)]
    assert within[0].endswith("tokens  How do I sort a list in Go?")
    assert within[2].startswith("│  └─ usr-3")
    recalled = ada.output("recall-page", "usr-1")
    assert recalled.startswith("usr-1 is expanded, recalled 1 time, in usr-0 · ")


def test_long_texts_come_from_files_standard_input_and_arguments(ada: Shell, tmp_path: Path):
    (tmp_path / "note.txt").write_text("排序是稳定的。\n第二行", encoding="utf-8")
    note = ("create-detail-page", "usr-0", "--name", "笔记", "--detail")
    ada.output(*note, f"@{tmp_path / 'note.txt'}")
    ada.output(*note, "-", given="from a pipe")
    ada.output(*note, "@@home")
    texts = [ada.json("show", f"usr-{number}")["text"] for number in (3, 4, 5)]
    assert texts == ["排序是稳定的。\n第二行", "from a pipe", "@home"]
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    for wrong, text in (("@/no/such", "there is no such file"), (f"@{tmp_path}/latin", "UTF-8")):
        code, error = ada.refused(*note, wrong, "-a", "ada")
        assert code == 2
        assert error.startswith("memci: detail: ")
        assert text in error


def test_a_page_is_printed_with_its_text(ada: Shell):
    assert ada.output("show", "usr-1").splitlines() == [
        "usr-1 How do I sort a list in Go?",
        "state     expanded",
        "in        usr-0",
        "segment   usr",
        "session   s1",
        "messages  1 to 2",
        "",
        "- user: How do I sort a list in Go?",
        "- assistant: Use the slices package.",
        "",
        "user: How do I sort a list in Go?",
        "",
        "assistant: Use the slices package.",
    ]
    assert ada.output("get-page", "usr-1") == ada.output("show", "usr-1")


def test_a_folder_is_listed_in_parts(ada: Shell):
    (first,) = ada.json("get-children", "usr-0", "--limit", "1")["pages"]
    _, out, err = ada.run("get-children", "usr-0", "--limit", "1", "--agent", ada.agent)
    assert first["index"] in out
    assert "there is more: --offset 1" in err
    _, out, err = ada.run("get-children", "usr-0", "--offset", "1", "--agent", ada.agent)
    assert first["index"] not in out
    assert "there is more" not in err


def test_the_window_is_printed_as_the_model_sees_it(ada: Shell):
    window = ada.json("window")
    lines = ada.output("window").splitlines()
    assert lines[0] == "── user"
    assert window["messages"][0]["content"].splitlines() == lines[1:-5]
    assert lines[-3].split() == ["segment", "tokens"]
    assert lines[-2].split() == ["usr", str(window["by_segment"]["usr"])]
    assert lines[-1] == f"{window['tokens']:,} tokens ({window['tokenizer']}) · session s1"
    native = ada.output("window", "--format", "native")
    assert "── assistant\nUse the slices package.\n" in native
    small = ada.output("window", "--budget", "1")
    assert "collapsed to fit: usr-1\n" in small
    assert "tokens over the budget" in small


def test_each_session_has_its_own_window(ada: Shell):
    ada.say("你好，帮我写一首诗。", "好的。", session="s2")
    assert ada.output("tree").startswith("ada, session s2: ")
    assert "帮我写一首诗" in ada.output("tree")
    assert "帮我写一首诗" not in ada.output("tree", "--session", "s1")
    assert "你好" in ada.output("window")
    assert "你好" not in ada.output("window", "--session", "s1")


def test_removed_pages_are_listed_by_cursor_and_restored(ada: Shell):
    ada.output("create-contents-page", "usr-0", "--name", "Go", "--children", "usr-2")
    assert "usr-1 is removed · " in ada.output("remove-page", "usr-1")
    ada.output("remove-page", "usr-3")
    rows = [line.split(maxsplit=1)[0] for line in ada.output("tree", "--removed").splitlines()]
    assert rows == ["index", "usr-3", "usr-1"]
    _, first, hint = ada.run("tree", "-a", "ada", "--removed", "--limit", "1")
    assert "usr-1" not in first
    cursor = hint.rsplit(maxsplit=1)[-1]
    assert "usr-1" in ada.output("tree", "--removed", "--limit", "1", "--cursor", cursor)
    ada.output("restore-page", "usr-3", "usr-0")
    assert ada.json("tree", "--removed")["pages"][0]["index"] == "usr-1"
    assert ada.json("find-pages", "sort list")["pages"][0]["index"] == "usr-1"


def test_errors_are_a_sentence_and_a_code(ada: Shell):
    for words, code, expected in (
        (("move-page", "usr-9", "usr-0", "-a", "ada"), 1, "memci: there is no page 'usr-9'"),
        (("move-page", "usr-1", "usr-2", "-a", "ada"), 1, "memci: usr-2 is no folder"),
        (("hide-details", "nonsense", "-a", "ada"), 2, "memci: index"),
        (("undo", "-a", "ada"), 1, "memci: there is nothing to undo"),
        (("tree", "-a", "nobody"), 1, "memci: there is no agent"),
        (("move-page", "usr-1", "-a", "ada"), 2, "TARGET"),
        (("auto-collapse", "0", "-a", "ada"), 2, "memci: max_tokens: "),
        (("unpin", "0", "-a", "ada"), 2, "memci: pin: "),
        (
            ("create-segment", "--id", "bad id", "--name", "x", "-a", "ada"),
            2,
            "memci: id: expected a short name of small letters",
        ),
        (
            ("create-contents-page", "usr-0", "usr-1", "usr-2", "--name", "x", "-a", "ada"),
            2,
            "give several values as --children usr-1 --children usr-2",
        ),
        (("hide-details", "usr-1", "usr-2", "-a", "ada"), 2, "Unexpected arguments: usr-2"),
        (("tree", "ada"), 2, "Did you mean: memci pages tree --agent ada"),
        (("undo", "ada"), 2, "Did you mean: memci pages undo --agent ada"),
        (("tree", "--cursor", "1", "-a", "ada"), 2, "--limit and --cursor need --removed"),
        (("tree", "--removed", "--cursor", "x", "-a", "ada"), 2, "memci: cursor: not a cursor"),
        (("tree",), 2, "Missing option '--agent'"),
    ):
        ended = ada.refused(*words)
        assert ended[0] == code, (words, ended)
        assert expected in ended[1], (words, ended)


def test_a_misspelt_command_is_not_taken_for_an_agent(ada: Shell):
    for words in (("expand",), ("remove", "usr-1", "-a", "ada")):
        _, error = ada.refused(*words)
        assert "Did you mean " in error
        assert "--agent expand" not in error


def test_the_help_says_what_each_option_takes(ada: Shell):
    for tool, expected in (("create-segment", "Small letters"), ("pin", "Text to keep in sight")):
        code, printed, _ = ada.run(tool, "--help")
        assert (code, expected in " ".join(printed.split())) == (0, True)
        assert "@FILE" not in printed, "it is no long text"


def test_help_says_whose_step_is_undone(ada: Shell):
    for tool in ("undo", "redo"):
        code, printed, _ = ada.run(tool, "--help")
        assert (code, "the agent's own" in " ".join(printed.split())) == (0, True)
        assert "your last" not in printed


def test_no_control_character_is_printed(ada: Shell):
    note = ("--name", HOSTILE, "--description", HOSTILE, "--detail", HOSTILE)
    ada.output("create-detail-page", "usr-0", *note)
    ada.output("create-segment", "--id", "evil", "--name", HOSTILE)
    ada.output("remove-page", "usr-1")
    ada.say(HOSTILE, HOSTILE)
    ada.output("expand-details", "usr-3")
    commands = (("tree",), ("window",), ("show", "usr-3"), ("show", "usr-4"), ("find-pages", "red"),
             ("get-children", "usr-0"), ("tree", "--removed"))  # fmt: skip
    for words in commands:
        for more in ((), ("--json",)):
            printed = ada.output(*words, *more)
            assert not set(printed) & set("\x1b\x07\u202e\r"), words
    assert "[bold]red[/bold]" in ada.output("tree")
    assert "مرحبا" in ada.output("tree")


def test_a_new_session_or_agent_gives_a_hint(ada: Shell):
    for command in (["window"], ["tree"]):
        code, printed, hint = ada.run(*command, "--agent", "ada", "--session", "nosuch")
        assert code == 0
        assert printed
        assert "session nosuch has no messages yet" in hint
        assert ada.run(*command, "--agent", "ada", "--session", "s1")[2] == ""
    note = ("create-detail-page", "usr-0", "--name", "A", "--detail", "x")
    code, _, hint = ada.run(*note, "--agent", "adda")
    assert code == 0
    assert "this created agent adda" in hint
    assert ada.run(*note, "--agent", "adda")[2] == ""
    code, _, hint = ada.run("pin-page", "usr-1", "--agent", "ada", "--session", "nosuch")
    assert code == 0
    assert "session nosuch has no messages yet" in hint


def test_every_tool_has_a_command_and_an_answer_that_can_be_printed():
    help_text = run("pages", "--help").stdout
    for tool in TOOLS:
        if tool.about is About.PAGES:
            assert f"\n  {tool.name.replace('_', '-')} " in help_text
            assert tool.answer in PRINTERS, tool.name
