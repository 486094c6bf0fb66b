"""Flower's password: as set, else one of our own in a private file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from memci.config import Settings

_FILE = "flower.password"


def flower_password(settings: Settings) -> tuple[str, str]:
    """Return the password, and a phrase that says where people find it."""
    if settings.flower_password is not None:
        return settings.flower_password.get_secret_value(), "password as in MEMCI_FLOWER_PASSWORD"
    path = settings.data_dir / _FILE
    return _kept_in(path), f"password in {path}"


def _kept_in(path: Path) -> str:
    if not path.exists():
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123 - a mode from the first moment
            file.write(secrets.token_urlsafe(24) + "\n")
        fresh.replace(path)
    return path.read_text(encoding="ascii").strip()
