"""The page of a context window: one example in each language."""

from __future__ import annotations

from collections.abc import Iterator

from docs.reference_pages.markdown import paragraph
from memci.language.detection import Language
from tests.support.document_examples import window


def blocks() -> Iterator[str]:
    """Yield the blocks of window.md."""
    yield paragraph(
        "What a model sees of a small trip, in both languages: see [how pages make a window](../explanation/pages.md)."
    )
    for language in Language:
        yield f"## {language.name.capitalize()}"
        yield f"````markdown\n{window(language).strip()}\n````"
