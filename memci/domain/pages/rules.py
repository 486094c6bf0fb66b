"""Parameters of one agent's pages (P7, P8, P13)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageRules:
    """How much stands in a window, and for how long; counted in interactions and tokens.

    ``active_pages`` is n of P7; ``never_recalled`` and ``not_recalled`` are m and p of P8, after
    which a line leaves the Contents Page. Above ``high`` of ``window_max_tokens`` pages are
    collapsed down to ``low`` of it (P13). ``max_pins`` texts can be pinned, which all together
    take ``pins_max_tokens`` at most.
    """

    active_pages: int = 8
    never_recalled: int = 20
    not_recalled: int = 40
    contents_max_tokens: int = 2_000
    window_max_tokens: int = 8_000
    high: float = 0.875
    low: float = 0.75
    max_pins: int = 32
    pins_max_tokens: int = 1_000
