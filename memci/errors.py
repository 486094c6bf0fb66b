"""Every error that memci raises on purpose.

::

    MemciError
    ├── ConfigurationError        settings are wrong; raised at start
    ├── InvalidInputError         the caller sent something that cannot be accepted
    │   ├── TooLargeError         … because it is over a limit
    │   └── UnreadableDocumentError   … because no reader makes anything of a file
    ├── NotFoundError             the thing named does not exist for this agent
    ├── ConflictError             the request contradicts what is stored
    │   └── ErasedError           … because a message in it was erased for good
    ├── UnauthorizedError         no key, or a key that we do not know
    ├── ForbiddenError            the key may not do this
    ├── RefusedError              a page may not be changed in this way; nothing was
    ├── RateLimitedError          the key has used up its rate
    ├── UnavailableError          a part that we need does not answer; try again
    │   ├── DatabaseUnavailableError
    │   ├── DatabaseBusyError
    │   ├── BrokerUnavailableError
    │   ├── PageStoreError        the store of pages' texts failed
    │   ├── ReadTimeoutError      no context worker answered in time
    │   └── ReadsBusyError        too many reads wait already
    ├── BudgetTooSmallError       what must stay in a context does not fit its token budget
    ├── FencedOffError            the lease on a lane was lost; nothing was written
    └── SmallModelError           a small model did not give a usable answer
        ├── SmallModelUnavailableError   it did not answer at all: worth another try
        │   └── WrongEmbedderError       the database's vectors are another model's
        └── SmallModelAnswerError        it gave an unusable answer

The first line of each docstring is the default message. Messages say what to do next.
"""

from collections.abc import Sequence


class MemciError(Exception):
    """Something went wrong in memci."""

    def __init__(self, message: str | None = None) -> None:
        """Take the message, or the first line of the class's docstring."""
        super().__init__(message or (type(self).__doc__ or "").splitlines()[0])


class ConfigurationError(MemciError):
    """A setting is missing or wrong."""


class InvalidInputError(MemciError):
    """The input cannot be accepted.

    ``field`` is a path such as ``messages[3].role``; the message says what was expected.
    """

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        """Take the wrong field, if there is one."""
        super().__init__(message)
        self.field = field


class TooLargeError(InvalidInputError):
    """The input is over a limit."""


class UnreadableDocumentError(InvalidInputError):
    """This file cannot be read; save it in another format, or leave it out."""


class NotFoundError(MemciError):
    """There is no such thing."""


class ConflictError(MemciError):
    """The request contradicts what is stored."""


class ErasedError(ConflictError):
    """A message was erased for good, and is not accepted again; leave it out.

    ``places`` are those of the erased messages in the request; ``field`` is the first one's path.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        places: Sequence[int] = (),
    ) -> None:
        """Take the places of the messages."""
        super().__init__(message)
        self.field = field
        self.places = tuple(places)


class UnauthorizedError(MemciError):
    """A valid API key is needed: send it as 'Authorization: Bearer <key>'."""


class ForbiddenError(MemciError):
    """This API key may not do that."""


class RefusedError(MemciError):
    """The page may not be changed in this way."""


class RateLimitedError(MemciError):
    """Too many requests with this API key."""

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after_s: float = 1.0,
        limit: int | None = None,
        remaining: int = 0,
    ) -> None:
        """Take the seconds until a retry may succeed, the limit, and what is left of it."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.limit = limit
        self.remaining = remaining


class QuotaError(RateLimitedError):
    """This API key has used up a quota."""


class UnavailableError(MemciError):
    """A part that is needed does not answer; try again in a moment."""

    def __init__(self, message: str | None = None, *, retry_after_s: float = 1.0) -> None:
        """Take the seconds until a retry may succeed."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DatabaseUnavailableError(UnavailableError):
    """The database does not answer; try again in a moment."""


class DatabaseBusyError(UnavailableError):
    """A lock was not free in time; nothing was written; try again in a moment."""


class PageStoreError(UnavailableError):
    """The store of pages' texts does not answer; nothing was changed, try again in a moment."""


class BrokerUnavailableError(UnavailableError):
    """The broker does not answer; try again in a moment."""


class ReadTimeoutError(UnavailableError):
    """No context worker answered in time; start one that consumes memci.read, or try again."""


class ReadsBusyError(UnavailableError):
    """More reads wait for context workers than is allowed; add workers, or try again."""


class BudgetTooSmallError(MemciError):
    """What must stay in the context does not fit into its token budget.

    ``needs`` maps each mandatory part to its tokens.
    """

    def __init__(self, message: str | None = None, *, needs: dict[str, int] | None = None) -> None:
        """Take the tokens that each part needs."""
        super().__init__(message)
        self.needs = needs or {}


class FencedOffError(MemciError):
    """The lease on this lane was lost; nothing was written."""


class SmallModelError(MemciError):
    """A small model did not give a usable answer."""


class SmallModelUnavailableError(SmallModelError):
    """A small model did not answer."""

    def __init__(self, message: str | None = None, *, retry_after_s: float | None = None) -> None:
        """Take the provider's waiting time, if there is one."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class WrongEmbedderError(SmallModelUnavailableError):
    """The vectors in this database were made by another embedder."""


class SmallModelAnswerError(SmallModelError):
    """A small model gave an unusable answer."""


_MOST = 64


def shown_name(name: str) -> str:
    """Return the name, shortened and without characters that act on a terminal."""
    shown = "".join(each if each.isprintable() else "?" for each in name[:_MOST])
    return shown + ("…" if len(name) > _MOST else "")
