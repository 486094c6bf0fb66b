"""Names that others gave, as they may stand in an error or a log."""

from __future__ import annotations

_MOST = 64


def shown_name(name: str) -> str:
    """Return the name, no longer than a line bears and with nothing that acts on a terminal."""
    shown = "".join(each if each.isprintable() else "?" for each in name[:_MOST])
    return shown + ("…" if len(name) > _MOST else "")
