"""The page of tools for models."""

from __future__ import annotations

from collections.abc import Iterator

from docs.reference_pages.markdown import items, paragraph, sentence
from memci.schemas.tools.table import TOOLS, Tool


def blocks() -> Iterator[str]:
    """Yield the blocks of tools.md."""
    yield paragraph(
        "The tools that a model may be given, over MCP, as function schemas (`memci tools`, `GET /v1/tools`) or by"
        " ATTP. The answer of each is the shape of that name in [http.md](http.md#shapes)."
    )
    for tool in TOOLS:
        yield f"## `{tool.name}`"
        yield paragraph(sentence(tool.description) + _use(tool))
        arguments = [
            f"`{name}`{'' if each.is_required() else ' (optional)'} {sentence(each.description)}"
            for name, each in tool.request.model_fields.items()
        ]
        if arguments:
            yield items(arguments)


def _use(tool: Tool) -> str:
    said = [
        "only looks" if not tool.changes else "",
        "for developers alone" if not tool.for_agents else "",
        "not in ATTP" if not tool.in_code else "",
        "`undo` does not take it back" if tool.changes and not tool.undone else "",
        "destroys for good" if tool.destroys else "",
        "needs a key of scope `admin`" if tool.erases else "",
    ]
    told = "; ".join(each for each in said if each)
    return f" ({told})" if told else ""
