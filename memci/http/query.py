"""Query parameters that no route has: what they should do would silently not be done."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from starlette.requests import Request

from memci.domain.names import shown_name
from memci.errors import InvalidInputError


def check_query(request: Request, known: Collection[str]) -> None:
    """Raise ``InvalidInputError`` for the first parameter that is not among the known ones."""
    for name in request.query_params:
        if name not in known:
            raise InvalidInputError(_advice(name, known), field=shown_name(name))


def _advice(name: str, known: Collection[str]) -> str:
    if not known:
        return "there is no such parameter: this path takes none"
    nearest = get_close_matches(name, known, n=1)
    if nearest:
        return f"there is no such parameter; did you mean {nearest[0]}?"
    return f"there is no such parameter: this path takes {', '.join(sorted(known))}"
