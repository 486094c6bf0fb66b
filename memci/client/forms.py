"""A file as a form of multipart/form-data."""

from __future__ import annotations

from secrets import token_hex

_PART = "--{boundary}\r\nContent-Disposition: form-data; {about}\r\n{more}\r\n"


def form_of(name: str, content: bytes) -> tuple[bytes, str]:
    """Return a form with one file and its name, and the content type to send it with."""
    boundary = token_hex(16)
    named = _PART.format(boundary=boundary, about='name="name"', more="")
    filed = _PART.format(
        boundary=boundary,
        about='name="file"; filename="file"',
        more="Content-Type: application/octet-stream\r\n",
    )
    parts = (named.encode(), name.encode(), b"\r\n", filed.encode(), content)
    body = b"".join(parts) + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"
