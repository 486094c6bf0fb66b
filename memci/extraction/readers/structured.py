"""JSON, JSON lines and notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from memci.errors import UnreadableDocumentError
from memci.extraction.block import Block, BlockKind, heading, row
from memci.extraction.readers.markdown import read_markdown
from memci.extraction.readers.text import read_text

_MOST_OUTPUT = 2_000


def read_json(text: str) -> Iterator[Block]:
    """Yield a block for each member; what is no JSON, or nested too deep, is read as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from read_text(text)
        return
    if isinstance(value, dict):
        for name, each in value.items():
            yield heading(str(name), 1)
            yield from _values(each)
    else:
        yield from _values(value)


def read_json_lines(text: str) -> Iterator[Block]:
    """Yield a block for each line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                shown = _shown(json.loads(line))
            except (ValueError, RecursionError):
                shown = line.strip()
            yield Block(BlockKind.TEXT, shown, first_line=number, last_line=number)


def read_notebook(text: str, read_code: Callable[[str, str], Iterator[Block]]) -> Iterator[Block]:
    """Yield the cells of a Jupyter notebook, and what they printed; nothing is run.

    ``read_code`` takes code and its language.
    """
    try:
        book = json.loads(text)
        language = str(
            book.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        ).lower()
        cells = [each for each in book["cells"] if isinstance(each, dict)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise UnreadableDocumentError(
            "this is no notebook of nbformat 4: open it in Jupyter and save it again"
        ) from None
    for cell in cells:
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            for block in read_markdown(source):
                # Lines of a cell are not lines of the file.
                yield Block(block.kind, block.text, level=block.level, header=block.header)
        elif cell.get("cell_type") == "code":
            yield from read_code(source, language)
            yield from _outputs(cell.get("outputs"))
        elif source.strip():
            yield Block(BlockKind.TEXT, source)


def _outputs(outputs: object) -> Iterator[Block]:
    for each in outputs if isinstance(outputs, list) else []:
        if not isinstance(each, dict):
            continue
        data = each.get("data")
        said = _joined(each.get("text"))
        if isinstance(data, dict):
            said += _joined(data.get("text/plain"))
        if said.strip():
            yield Block(BlockKind.TEXT, said[:_MOST_OUTPUT])


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(each for each in source if isinstance(each, str))
    return source if isinstance(source, str) else ""


def _values(value: Any) -> Iterator[Block]:
    if not isinstance(value, list):
        yield Block(BlockKind.TEXT, _shown(value))
        return
    for each in value:
        if isinstance(each, dict) and each and not any(map(_is_nested, each.values())):
            yield row([_shown(one) for one in each.values()], [str(name) for name in each])
        else:
            yield Block(BlockKind.TEXT, _shown(each))


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_inner(each)}" for name, each in value.items())
    return _inner(value)


def _inner(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
