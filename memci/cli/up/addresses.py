"""Ports and addresses of the parts that ``memci up`` starts, and their command lines."""

import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from memci.cli.up.fork_server import Command
from memci.config.settings import EVERYWHERE, LOOPBACK, Settings, local_url
from memci.embedded.files import free_port
from memci.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Addresses:
    """Host and ports of the API and Flower."""

    host: str
    port: int
    flower_port: int

    @property
    def api_url(self) -> str:
        """Base URL of the API, for this machine."""
        return local_url(self.host, self.port)

    @property
    def flower_url(self) -> str:
        """URL of Flower, for this machine."""
        return local_url(self.host, self.flower_port)

    @property
    def exposure_warning(self) -> str | None:
        """A warning if other machines can reach them, else None."""
        if self.host in LOOPBACK:
            return None
        everywhere = self.host in EVERYWHERE
        where = f"every address of this machine ({self.host})" if everywhere else self.host
        return (
            f"API and Flower listen on {where}, for others too, without encryption: "
            "only trusted networks, or a proxy with TLS, should reach them"
        )


def choose_addresses(settings: Settings) -> Addresses:
    """Return the addresses to listen on; port 0 becomes a free port.

    Raises ``ConfigurationError`` for a port that is taken.
    """
    port = settings.port or free_port()
    flower_port = settings.flower_port or free_port()
    check_free(settings.host, port, "MEMCI_PORT", "the API")
    check_free(settings.host, flower_port, "MEMCI_FLOWER_PORT", "Flower")
    if port == flower_port:
        raise ConfigurationError(
            f"the API and Flower cannot both have port {port}: set MEMCI_FLOWER_PORT to another"
        )
    return Addresses(settings.host, port, flower_port)


def check_free(host: str, port: int, setting: str, server: str) -> None:
    """Raise ``ConfigurationError`` unless a server can listen on this port now."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigurationError(
                f"port {port} of {host} is in use, and {server} needs it: stop its program, "
                f"or set {setting} to another port (0: any free one)"
            ) from None
        raise ConfigurationError(
            f"{server} cannot listen on {host}, port {port}: {error.strerror}; "
            f"set MEMCI_HOST or {setting}"
        ) from None


def _worker(name: str, queue: str, *pool: str) -> Command:
    quiet = ("--without-gossip", "--without-mingle", "-E")
    return ("celery", "-A", "workers", "worker", "-n", f"{name}@%h", "-Q", queue, *pool, *quiet)


def _context(name: str) -> Command:
    return _worker(name, "memci.read", "-P", "threads", "-c", "8")


PARTS: Mapping[str, Command] = {
    "api": ("python", "-m", "memci.http"),
    "lane": _worker("lane", "memci.lane", "-P", "threads", "-c", "8"),
    "compress": _worker("compress", "memci.compress", "-P", "threads", "-c", "4"),
    "context": _context("context"),
    "upkeep": _worker("upkeep", "memci.upkeep", "-P", "threads", "-c", "16"),
    "beat": ("celery", "-A", "workers", "beat"),
    "flower": ("python", "-m", "workers.flower"),
}

_SECOND = "context-2"


def local_parts(processors: int) -> dict[str, Command]:
    """Return the parts of one machine.

    If it has several processors, two parts answer reads: the Python code of one process computes in
    one thread at a time.
    """
    return {**PARTS, _SECOND: _context(_SECOND)} if processors > 1 else dict(PARTS)


# Sources of work stop first; upkeep, with its wakeups, stops after the workers.
STOP_ORDER: tuple[tuple[str, ...], ...] = (
    ("beat", "api", "flower"),
    ("context", _SECOND, "lane", "compress"),
    ("upkeep",),
)
