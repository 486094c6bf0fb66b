"""Reads the pages of the documentation, and runs their fenced blocks."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.main import get_command

from memci.cli.app import app
from memci.config.settings import load_settings
from tests.support import command_line
from tests.support.deployment import SYSTEMD, compose
from tests.support.fleet import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
# docs/renames.md maps old names to new ones; it will be removed later.
PAGES = [README, *sorted(path for path in DOCS.rglob("*.md") if path.name != "renames.md")]
WRITTEN = [path for path in PAGES if path.parent.name != "reference"]
_FENCE = re.compile(r"^```(\w*)(?: (\w+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LOOP = re.compile(r"for \w+ in \$\(seq (\d+)\); do (.+); done")
# Commands of memci that run until they are stopped, depend on the machine, or make a key, without
# which the next pages would be refused.
_ENDLESS = {"up", "demo", "mcp", "doctor", "watch", "keys"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the word after that, and its content."""

    language: str
    kind: str
    text: str


def blocks(path: Path) -> list[Block]:
    return [Block(*each) for each in _FENCE.findall(path.read_text(encoding="utf-8"))]


def commands(text: str) -> Iterator[str]:
    """The commands of a shell block, without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def check_memci(words: list[str]) -> None:
    """Fail unless the command and its options exist."""
    command: Any = get_command(app)
    line, rest = shlex.join(words), words[1:]
    while rest and (inner := getattr(command, "commands", None)):
        if rest[0].startswith("-") and command.invoke_without_command:
            break
        assert rest[0] in inner, f"there is no such command: {line}"
        command = inner[rest.pop(0)]
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    assert {word for word in rest if re.match("-+[a-z]", word)} <= known, line


@dataclass
class Shell:
    """Runs the blocks of one page in order, in a folder of its own.

    Commands that cannot run here are checked: targets of make, files and services of Compose,
    manifests, units and extras must exist.
    """

    folder: Path
    settings: Mapping[str, str]
    addresses: Mapping[str, str]
    names: dict[str, Any] = field(default_factory=dict)

    def run(self, block: Block) -> str:
        """Run or check a block; return its output."""
        text = block.text
        for documented, real in self.addresses.items():
            text = text.replace(documented, real)
        match block.language:
            case "bash":
                return "".join(map(self._command, commands(text)))
            case "python":
                return self._python(text)
            case "toml":
                self._toml(text, block.kind)
            case "json":
                json.loads(text)
            case "markdown":
                self._lines_of_the_window(text)
            case language:
                assert language in {"", "text"}, f"nothing is known about {language} blocks"
        return ""

    def close(self) -> None:
        """Close the clients that a page has opened."""
        for each in self.names.values():
            if hasattr(each, "_transport") and not inspect.isclass(each):
                each._transport.close()
            elif type(each).__name__ == "OpenAI":
                each.close()

    def _command(self, line: str) -> str:
        loop = _LOOP.fullmatch(line)
        if loop:
            return "".join(self._command(loop[2]) for _ in range(int(loop[1])))
        words = shlex.split(line, comments=True)
        if words[0] == "memci" and not re.search(r"[|><;&$]", line):
            check_memci(words)
            if words[1] in _ENDLESS:
                return ""
            if "watch" in words or words[1:3] in (["db", "backup"], ["db", "restore"]):
                return ""  # these two are for embedded servers
            return self._memci(words[1:])
        if not _checked(words):
            return self._bash(line)
        return ""

    def _memci(self, words: list[str]) -> str:
        done = command_line.run(*words, settings=self.settings)
        assert done.returncode == 0, f"memci {shlex.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def _bash(self, line: str) -> str:
        if line.startswith("export "):
            return ""
        shim = self.folder / "bin/memci"
        if not shim.exists():
            shim.parent.mkdir()
            shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memci.cli "$@"\n')
            shim.chmod(0o755)
        found = f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line], cwd=self.folder, capture_output=True,
            env={**command_line.environment(**self.settings), "PATH": found}, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stderr.decode()}"
        return done.stdout.decode()

    def _python(self, text: str) -> str:
        code = compile(text, "documented", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with redirect_stdout(io.StringIO()) as printed:
            coroutine = eval(code, self.names)  # noqa: S307 - our own documentation
            if inspect.iscoroutine(coroutine):
                asyncio.run(coroutine)
        return printed.getvalue()

    def _toml(self, text: str, kind: str) -> None:
        values = tomllib.loads(text)
        if kind == "attp":
            assert values
            return
        options = values.pop("request", None)
        assert (options is not None) == (kind == "request")
        path = self.folder / "memci.toml"
        path.write_text("\n".join(text.partition("[request]")[:1]))
        os.environ["MEMCI_CONFIG"] = str(path)
        try:
            load_settings()
        finally:
            del os.environ["MEMCI_CONFIG"]

    def _lines_of_the_window(self, text: str) -> None:
        whole = iter((DOCS / "reference/window.md").read_text(encoding="utf-8").splitlines())
        for line in text.splitlines():
            assert any(line == each for each in whole), f"no window has this line here: {line}"


def _checked(words: list[str]) -> bool:
    """Check a command that cannot run here; return False if it can."""
    program, rest = words[0], words[1:]
    if program == "sudo":
        while rest[0].startswith("-"):
            rest = rest[2 if rest[0] == "-u" else 1 :]
        return _checked([Path(rest[0]).name, *rest[1:]])
    if program not in _CHECKS:
        return program in _UNCHECKED
    assert _CHECKS[program](rest), shlex.join(words)
    return True


def _files(words: list[str]) -> bool:
    paths = [ROOT / word for word in words if word.startswith(("docker/", "deploy/"))]
    return bool(paths) and all(any(path.parent.glob(path.name)) for path in paths)


def _targets(words: list[str]) -> bool:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return {word for word in words if "=" not in word} <= set(targets)


def _services(words: list[str]) -> bool:
    scaled = {word.partition("=")[0] for word in words if re.fullmatch(r"\w+=\d+", word)}
    return _files(words) and scaled <= set(compose()["services"])


def _units(words: list[str]) -> bool:
    known = {path.name for path in SYSTEMD.iterdir()}
    return all({f"{each}.service", each} & known for each in words if each.startswith("memci"))


def _extras(words: list[str]) -> bool:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"\[([\w,-]+)\]", " ".join(words))
    known = set(project["optional-dependencies"])
    return all(set(extras.split(",")) <= known for extras in named)


def _script(words: list[str]) -> bool:
    if words[0] == "-m":
        return importlib.util.find_spec(words[1]) is not None
    return (ROOT / words[0]).exists()


_CHECKS: Mapping[str, Callable[[list[str]], bool]] = {
    "make": _targets,
    "docker": _services,
    "kubectl": _files,
    "helm": _files,
    "systemctl": _units,
    "pip": _extras,
    "pipx": _extras,
    "uvx": _extras,
    "install": _files,
    "cp": lambda words: _files(words[:-1]),
    "python": _script,
}
# Programs of other projects: only the syntax is checked.
_UNCHECKED = {"claude", "pg_dump", "pg_restore", "redis-cli", "useradd", "python3"}
