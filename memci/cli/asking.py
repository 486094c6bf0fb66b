"""Asking people before something is done that they may not want."""

from __future__ import annotations

import sys

import typer

from memci.errors import InvalidInputError, MemciError


def confirm(question: str, *, yes: bool, to: str, refused: str) -> None:
    """Ask, unless ``yes`` was said; ``to``: what it does, ``refused``: what is said after a no.

    Raises ``InvalidInputError`` where nobody is to be asked, ``MemciError`` after a no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInputError(f"nobody is here to be asked: say --yes to {to}")
    if not typer.confirm(question, err=True):
        raise MemciError(refused)
