"""Checks whether parts are ready, through the interfaces that their users have."""

import socket
from collections.abc import Collection, Mapping

import httpx

from memci.broker.app import make_app
from memci.broker.health import BROKER_ERRORS
from memci.cli.up.addresses import WORKERS, Addresses

_TIMEOUT_S = 2.0
_DUTIES = "memci.upkeep."


class Readiness:
    """Checks whether parts are ready; used by one thread.

    A worker answers a ping; beat is ready when upkeep has received a duty since beat started.
    """

    def __init__(
        self, addresses: Addresses, broker_url: str, flower_login: tuple[str, str]
    ) -> None:
        """Take the addresses of the parts."""
        self._addresses = addresses
        self._celery = make_app(broker_url)
        self._http = httpx.Client(timeout=_TIMEOUT_S)
        self._flower_login = flower_login
        self._duties_before: dict[int, int] = {}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._celery.close()

    def ready(self, starting: Mapping[str, int]) -> Collection[str]:
        """Return the names of the ready parts among these names with process ids."""
        pages = {
            "api": (f"{self._addresses.api_url}/readyz", None),
            "flower": (f"{self._addresses.flower_url}/healthcheck", self._flower_login),
        }
        found = {name for name, page in pages.items() if name in starting and self._answers(*page)}
        if workers := [name for name in WORKERS if name in starting]:
            answers = self._ask("ping", [_node(name) for name in workers])
            found |= {name for name in workers if _node(name) in answers}
        if "beat" in starting and self._is_beat_ready(starting["beat"]):
            found.add("beat")
        return found

    def _answers(self, url: str, login: tuple[str, str] | None) -> bool:
        try:
            return self._http.get(url, auth=login).is_success
        except httpx.TransportError:
            return False

    def _is_beat_ready(self, pid: int) -> bool:
        node = _node("upkeep")
        totals = self._ask("stats", [node]).get(node, {}).get("total")
        if totals is None:
            return False
        duties = sum(count for task, count in totals.items() if task.startswith(_DUTIES))
        if not self._duties_before:
            self._duties_before[pid] = 0  # the first beat, started together with upkeep
        return duties > self._duties_before.setdefault(pid, duties)

    def _ask(
        self, question: str, nodes: Collection[str]
    ) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        inspect = self._celery.control.inspect(
            destination=list(nodes), timeout=_TIMEOUT_S, limit=len(nodes)
        )
        try:
            return getattr(inspect, question)() or {}
        except BROKER_ERRORS:
            return {}


def _node(name: str) -> str:
    return f"{name}@{socket.gethostname()}"
