"""The account that calls of language models are charged to: that of the work under way.

Adapters are stateless and know no agent. The code that runs a job, a pass or a read binds an
account around it. The binding holds for the thread, until the block ends.
"""

from collections.abc import Hashable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from memci.domain.usage import Usage


class Account(Protocol):
    """Takes down what one piece of work makes models do, as it happens.

    ``answers`` are those that it was given already, by what was asked: a job that is run again
    because a later call failed does not pay for them twice.
    """

    answers: MutableMapping[Hashable, Any]

    def begin(self, task: str, model: str, *, limited: bool = True) -> bool:
        """Count a call that is about to be made.

        False: the agent's budget of the day is used up, and the call is not to be made. A call
        that nothing else can stand in for is not ``limited``.
        """
        ...

    def end(self, task: str, model: str, usage: Usage) -> None:
        """Add what the call took; its ``calls`` are 0, since it was counted when it began."""
        ...

    def fall_back(self, task: str, model: str) -> None:
        """Note that the offline model took over, because the answers could not be used."""
        ...


class NoAccount:
    """The account of what nobody asked an account for: it keeps nothing, and has no bound."""

    def __init__(self) -> None:
        """Remember no answers for longer than one look."""
        self.answers: MutableMapping[Hashable, Any] = {}

    def begin(self, task: str, model: str, *, limited: bool = True) -> bool:
        """Let the call be made."""
        del task, model, limited
        return True

    def end(self, task: str, model: str, usage: Usage) -> None:
        """Do nothing."""

    def fall_back(self, task: str, model: str) -> None:
        """Do nothing."""


_account: ContextVar[Account] = ContextVar("memci_account")


def current_account() -> Account:
    """Return whom a call is charged to."""
    return _account.get(None) or NoAccount()


@contextmanager
def charged_to(account: Account) -> Iterator[Account]:
    """Charge the calls of this block to an account."""
    token = _account.set(account)
    try:
        yield account
    finally:
        _account.reset(token)
