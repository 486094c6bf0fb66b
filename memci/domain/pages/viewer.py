"""In whose window a tree is seen, and what that user may see (P3, R5)."""

from __future__ import annotations

from dataclasses import dataclass

from memci.domain.pages.page import Page
from memci.domain.pages.pin import Pin


@dataclass(frozen=True, slots=True)
class Viewer:
    """A session, and the user that it is with: that of the last message in it.

    With a user only this user's pages and pins are seen, and those of no user; without one all, as
    in reads. ``is_new``: nobody has spoken in the session yet, so nobody knows whose it will be,
    and only what is of no user is seen.
    """

    session_id: str | None = None
    user_id: str | None = None
    is_new: bool = False

    @property
    def names_new_session(self) -> bool:
        """Whether a session is named in which nobody has spoken yet."""
        return self.is_new and self.session_id is not None

    @property
    def sees_all(self) -> bool:
        """Whether no page is another user's."""
        return self.user_id is None and not self.is_new

    def sees(self, seen: Page | Pin) -> bool:
        """Tell whether this is not another user's; what a page lies in may be, and hide it.

        A pin may be of one session alone: who looks from none sees those of all.
        """
        if isinstance(seen, Pin) and self._is_elsewhere(seen):
            return False
        return self.sees_all or seen.user_id is None or seen.user_id == self.user_id

    def _is_elsewhere(self, pin: Pin) -> bool:
        elsewhere = pin.session_id not in {None, self.session_id}
        return elsewhere and self.session_id is not None


ANYBODY = Viewer()
