"""memci: the memory and the context window of LLM agents, as a service."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memci.client import AsyncMemci, Memci
    from memci.schemas.tools.table import tools

__version__ = "0.1.0"
__all__ = ["AsyncMemci", "Memci", "__version__", "tools"]


def __getattr__(name: str) -> object:
    """Import the client when it is first asked for: workers never need it."""
    if name in {"AsyncMemci", "Memci"}:
        from memci import client  # noqa: PLC0415 - that is the point

        return getattr(client, name)
    if name == "tools":
        from memci.schemas.tools import table  # noqa: PLC0415 - as above

        return table.tools
    raise AttributeError(f"module 'memci' has no attribute {name!r}")
