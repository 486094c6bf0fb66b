"""``MemciMemoryTool``: the files of Claude's memory tool, kept by memci (the extra ``anthropic``).

::

    tool = MemciMemoryTool(Memci("http://127.0.0.1:8000").agent("alice"))
    Anthropic().beta.messages.tool_runner(…, tools=[tool])
"""

from collections.abc import Sequence
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from memci.client import Agent, AsyncAgent
from memci.client.requests import Flow
from memci.integrations.client import FlowRunner, awaited, blocking
from memci.schemas.frameworks import ItemList, ItemsAnswer

_SPACE = "anthropic_memory_tool"  # the namespace of all files: no other program writes there
_ROOT = "memories"
_MOST = 500  # files of one command: moving one takes two items of a request
_SEARCHED = 262_144  # characters
_DEPTH = 2  # levels that a listing shows
_AROUND = 2  # lines before and after a change

# The names of a folder or a file, from the root on.
Path = tuple[str, ...]


class _Files:
    """The commands of the tool, on items of an agent; a folder is there as long as a file is.

    The texts of files are searchable items, which ``MemciStore`` of LangGraph finds too.
    """

    _runner: FlowRunner

    def do_view(self, command: Any) -> Flow[str]:
        path = _path(command.path)
        text = yield from self._text(path)
        if text is not None:
            lines = text.split("\n")
            first, last = command.view_range or (1, -1)
            shown = _numbered(lines, max(first, 1), len(lines) if last == -1 else last)
            return f"Here's the content of {command.path} with line numbers:\n{shown}"
        files = yield from self._below(path)
        if not files and path != (_ROOT,):
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        sizes = {path: 0}
        for file, content in files.items():
            for end in range(len(path), min(len(file), len(path) + _DEPTH) + 1):
                sizes[file[:end]] = sizes.get(file[:end], 0) + len(content.encode())
        listed = "\n".join(f"{sizes[each]}B\t/{'/'.join(each)}" for each in sorted(sizes))
        return (
            f"Here're the files and directories up to {_DEPTH} levels deep in {command.path}, "
            f"excluding hidden items:\n{listed}"
        )

    def do_create(self, command: Any) -> Flow[str]:
        path = _path(command.path)
        if (yield from self._text(path)) is not None or (yield from self._below(path)):
            raise ToolError(f"File {command.path} already exists")
        yield from self._put({path: command.file_text})
        return f"File created successfully at: {command.path}"

    def do_str_replace(self, command: Any) -> Flow[str]:
        text, old = (yield from self._read(command.path)), command.old_str
        count = text.count(old) if old else 0
        if count != 1:
            how = "did not appear verbatim" if not count else f"appears {count} times"
            raise ToolError(f"No replacement was performed: old_str {how} in {command.path}.")
        yield from self._put({_path(command.path): (new := text.replace(old, command.new_str))})
        line = text[: text.index(old)].count("\n") + 1
        shown = _numbered(new.split("\n"), max(line - _AROUND, 1), line + _AROUND)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            f"(with line numbers):\n{shown}"
        )

    def do_insert(self, command: Any) -> Flow[str]:
        lines = (yield from self._read(command.path)).removesuffix("\n").split("\n")
        lines = [] if lines == [""] else lines
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(f"Invalid `insert_line`: it must be within [0, {len(lines)}].")
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        yield from self._put({_path(command.path): "\n".join(lines) + "\n"})
        return f"The file {command.path} has been edited."

    def do_delete(self, command: Any) -> Flow[str]:
        gone = yield from self._at(command.path)
        yield from self._put(dict.fromkeys(gone))
        return f"Successfully deleted {command.path}"

    def do_rename(self, command: Any) -> Flow[str]:
        old, new = _path(command.old_path), _path(command.new_path)
        moved = yield from self._at(command.old_path)
        if (yield from self._text(new)) is not None or (yield from self._below(new)):
            raise ToolError(f"The destination {command.new_path} already exists")
        kept = {(*new, *path[len(old) :]): text for path, text in moved.items()}
        yield from self._put({**dict.fromkeys(moved), **kept})
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def do_clear_all_memory(self) -> Flow[str]:
        while files := (yield from self._below((_ROOT,))):
            yield from self._put(dict.fromkeys(files))
        return "All memory cleared"

    def _at(self, written: str) -> Flow[dict[Path, str | None]]:
        """Return the file at a path, or all files below it; there must be one."""
        path = _path(written)
        if path == (_ROOT,):
            raise ToolError("The directory /memories itself must stay")
        text = yield from self._text(path)
        if text is not None:
            return {path: text}
        if not (files := (yield from self._below(path))):
            raise ToolError(f"The path {written} does not exist")
        if len(files) == _MOST:
            raise ToolError(f"{written} has too many files: name one of its folders")
        return {**files}

    def _read(self, written: str) -> Flow[str]:
        text = yield from self._text(_path(written))
        if text is None:
            raise ToolError(f"The path {written} does not exist. Please provide a valid path.")
        return text

    def _text(self, path: Path) -> Flow[str | None]:
        if path == (_ROOT,):
            return None
        place = {"namespace": (_SPACE, *path[:-1]), "key": path[-1]}
        answer = yield from self._runner.send("/items/get", ItemList, {"items": [place]})
        (item,) = answer.items
        return None if item is None else str(item.value["text"])

    def _below(self, path: Path) -> Flow[dict[Path, str]]:
        body = {"prefix": (_SPACE, *path), "limit": _MOST}
        answer = yield from self._runner.send("/items/search", ItemList, body)
        files = (each for each in answer.items if each is not None)
        return {(*each.namespace[1:], each.key): str(each.value["text"]) for each in files}

    def _put(self, texts: dict[Path, str | None]) -> Flow[None]:
        """Store files, all or none; None removes one."""
        items = [
            {
                "namespace": (_SPACE, *path[:-1]),
                "key": path[-1],
                "value": None if text is None else {"text": text},
                "text": text[:_SEARCHED] if text else None,
            }
            for path, text in texts.items()
        ]
        yield from self._runner.send("/items", ItemsAnswer, {"items": items}, "PUT")


class MemciMemoryTool(_Files, BetaAbstractMemoryTool):
    """The memory tool for ``Anthropic``: files below /memories, one set for each agent."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        """Take an agent of ``Memci``, and options of the SDK's own tool."""
        super().__init__(**options)
        self._runner = FlowRunner(agent)

    view = blocking(_Files.do_view)
    create = blocking(_Files.do_create)
    str_replace = blocking(_Files.do_str_replace)
    insert = blocking(_Files.do_insert)
    delete = blocking(_Files.do_delete)
    rename = blocking(_Files.do_rename)
    clear_all_memory = blocking(_Files.do_clear_all_memory)


class AsyncMemciMemoryTool(_Files, BetaAsyncAbstractMemoryTool):
    """The memory tool for ``AsyncAnthropic``."""

    def __init__(self, agent: Agent | AsyncAgent, **options: Any) -> None:
        """Take an agent of ``Memci`` or ``AsyncMemci``, and options of the SDK's own tool."""
        super().__init__(**options)
        self._runner = FlowRunner(agent)

    view = awaited(_Files.do_view)
    create = awaited(_Files.do_create)
    str_replace = awaited(_Files.do_str_replace)
    insert = awaited(_Files.do_insert)
    delete = awaited(_Files.do_delete)
    rename = awaited(_Files.do_rename)
    clear_all_memory = awaited(_Files.do_clear_all_memory)


def _path(written: str) -> Path:
    """Return the names of a path that a model wrote; raise ``ToolError`` for an invalid one."""
    root, *names = written.strip("/").split("/")
    if root != _ROOT or not written.startswith("/") or {"", ".", ".."} & set(names):
        raise ToolError(f"Expected a path such as /memories/notes.md, not {written[:200]}")
    return (root, *names)


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    shown = enumerate(lines[first - 1 : last], start=first)
    return "\n".join(f"{number:>6}\t{line}" for number, line in shown)
