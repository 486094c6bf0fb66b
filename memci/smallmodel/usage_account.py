"""The account that calls of language models are charged to.

Adapters are stateless and know no agent. The code of a job, a pass or a read binds an account for
its thread, until the block ends.
"""

from collections.abc import Hashable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memci.domain.usage import Usage


class Account:
    """Counts the calls of one piece of work, while they happen.

    ``answers`` are earlier answers by question: a job that runs again after a failed call does not
    pay for them twice. This class is the account of work without one: it counts nothing, has no
    limit, and keeps no answers beyond the instance.
    """

    answers: MutableMapping[Hashable, Any]

    def __init__(self) -> None:
        """Begin without answers."""
        self.answers = {}

    def begin(self, task: str, model: str, *, limited: bool = True) -> bool:
        """Count a call before it is made.

        False: the agent's budget of the day is used up, and the call must not be made. A call
        without a fallback is not ``limited``.
        """
        del task, model, limited
        return True

    def end(self, task: str, model: str, usage: Usage) -> None:
        """Add the usage of the call; its ``calls`` are 0, because ``begin`` counted it."""

    def fall_back(self, task: str, model: str) -> None:
        """Record that the offline model took over, because the answers were unusable."""


_account: ContextVar[Account] = ContextVar("memci_account")


def current_account() -> Account:
    """Return the account that calls are charged to."""
    return _account.get(None) or Account()


@contextmanager
def charged_to(account: Account) -> Iterator[Account]:
    """Charge the calls of this block to an account."""
    token = _account.set(account)
    try:
        yield account
    finally:
        _account.reset(token)
