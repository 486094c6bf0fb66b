"""All kinds of jobs."""

from __future__ import annotations


class Jobs:
    def __init__(self, *args: object) -> None: ...
