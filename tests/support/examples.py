"""The number of Hypothesis examples: few in ``make test``, all in ``make test-all``."""

from __future__ import annotations

from hypothesis import settings

SHORT = "short"
LONG = "long"
_SHARE_OF_SHORT = 10


def register_profiles() -> None:
    """Register both profiles and load the short one; ``--hypothesis-profile long`` loads the other.

    No example has a deadline, since the machine may be busy.
    """
    settings.register_profile(SHORT, max_examples=20, deadline=None)
    settings.register_profile(LONG, max_examples=100, deadline=None)
    settings.load_profile(SHORT)


def examples(count: int) -> int:
    """Return ``count`` under the long profile, else a tenth of it (at least 5)."""
    return count if is_long() else max(5, count // _SHARE_OF_SHORT)


def is_long() -> bool:
    """Return True under the long profile."""
    return settings.get_current_profile_name() == LONG
