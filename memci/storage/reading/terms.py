"""Keywords, each given as its terms, as the columns that a statement looks them up by."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def keyword_columns(
    keywords: Iterable[Collection[str]],
) -> tuple[list[int], list[str], list[int]]:
    """Return, for each term of each keyword: the keyword's number, the term, how many it has."""
    spread = [
        (number, term, len(set(terms)))
        for number, terms in enumerate(keywords)
        for term in sorted(set(terms))
    ]
    return (
        [number for number, _, _ in spread],
        [term for _, term, _ in spread],
        [needed for _, _, needed in spread],
    )
