"""Where the server is and who asks: what no request could be made of is refused at once."""

from __future__ import annotations

import httpx

from memci.errors import InvalidInputError


def check_url(url: str) -> str:
    """Return an address that requests can be sent to, or raise ``InvalidInputError``."""
    try:
        parsed = httpx.URL(url)
        fits = parsed.scheme in {"http", "https"} and bool(parsed.host)
    except httpx.InvalidURL:
        fits = False
    if not fits:
        raise InvalidInputError("expected an address such as http://127.0.0.1:8000", field="url")
    return url


def headers_for(api_key: str | None) -> dict[str, str]:
    """Return the headers that name the asker, or raise ``InvalidInputError``.

    Keys are read from files, with the line break that ends them: blanks around a key are dropped.
    """
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        # Never the key itself: it is a secret.
        raise InvalidInputError(
            "expected a key as `memci keys new` prints it; this one holds a line break, "
            "or a character that no HTTP header takes",
            field="api_key",
        )
    return {"Authorization": f"Bearer {key}"} if key else {}
