"""How much of a file is read, so that a hostile one costs no more than a large one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Limits of one file; whatever is over one of them is refused whole, and says so.

    ``unpacked_bytes``: what a zip (Office files, EPUB) may hold. ``pages``: of a PDF, or slides.
    ``seconds``: of processor time, and twice as many on the clock. ``memory_bytes``: of the process
    that reads it. ``chunks``: that it may give.
    """

    unpacked_bytes: int = 256 * 1024 * 1024
    pages: int = 2_000
    seconds: int = 60
    memory_bytes: int = 1024 * 1024 * 1024
    chunks: int = 20_000
