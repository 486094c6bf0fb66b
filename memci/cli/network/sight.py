"""What `memci watch` looks at, and when it looks again."""

from __future__ import annotations

from dataclasses import dataclass, field

from memci.client import Agent
from memci.errors import NotFoundError
from memci.shapes.agent import AgentAnswer, TrailEvent
from memci.shapes.network import Fate, NetworkAnswer, NetworkNode, PassAnswer

# How many passes ago something may have gone and still be news.
NEWS = 10
# Nodes of a network that are looked at: more than any terminal has lines.
_NODES = 500


@dataclass(frozen=True)
class Gone:
    """A memory that was forgotten, merged or erased lately, and what is still known of it."""

    id: int
    about: str | None
    pass_number: int | None
    reason: str
    fate: Fate = Fate.FORGOTTEN


@dataclass(frozen=True)
class Sight:
    """An agent's network at one moment."""

    about: AgentAnswer
    latest: PassAnswer | None
    network: NetworkAnswer
    gone: list[Gone]
    # Lengths after the pass before the latest; what has become shorter since is fading now.
    before: dict[int, int]


@dataclass
class Watcher:
    """Looks at an agent again and again, and asks for no more than has changed."""

    memory: Agent
    _sight: Sight | None = None
    # Phrases of nodes while they lived: what they were about when they are gone.
    _phrases: dict[int, str] = field(default_factory=dict)

    def look(self) -> Sight:
        """Return what is there now; raises ``NotFoundError`` for an agent that is none yet."""
        about = self.memory.about()
        seen = self._sight
        if seen is None or _news(about) != _news(seen.about):
            self._sight = seen = self._look_closely(about)
        return seen

    def _look_closely(self, about: AgentAnswer) -> Sight:
        network = self.memory.network(limit=_NODES)
        self._phrases |= {node.id: node.phrase for node in network.nodes if node.phrase}
        listed = self.memory.passes(limit=1).passes
        latest = listed[0] if listed else None
        before = self._back(latest.number - 1) if latest else None
        earlier = self._back(latest.number - NEWS) if latest else None
        return Sight(
            about=about,
            latest=latest,
            network=network,
            gone=self._gone(network, [each for each in (before, earlier) if each]),
            before={node.id: node.length for node in before.nodes} if before else {},
        )

    def _back(self, number: int) -> NetworkAnswer | None:
        """Return the network as a pass left it; None when no snapshot reaches back so far."""
        try:
            return self.memory.network(number=max(1, number), limit=_NODES)
        except NotFoundError:
            return None

    def _gone(self, network: NetworkAnswer, past: list[NetworkAnswer]) -> list[Gone]:
        hints = {link.target: link.hint for link in network.links if link.dangling}
        nodes = {node.id: node for each in past for node in each.nodes if _is_news(node)}
        gone = [self._tell(node, hints.get(node.id)) for node in nodes.values()]
        return sorted(gone, key=lambda each: (each.pass_number or 0, each.id), reverse=True)

    def _tell(self, node: NetworkNode, hint: str | None) -> Gone:
        event = node.last_event
        if node.gone is Fate.ERASED:  # what was seen of it before is not shown again (M25)
            self._phrases.pop(node.id, None)
        return Gone(
            id=node.id,
            about=self._phrases.get(node.id) or hint,
            pass_number=event.pass_number if event else None,
            reason=_why(event) if event else "",
            fate=node.gone or Fate.FORGOTTEN,
        )


def _is_news(node: NetworkNode) -> bool:
    """Tell whether a node is gone, and not only with the network that it was in."""
    return node.gone is not None and node.gone is not Fate.SWITCHED


def _why(event: TrailEvent) -> str:
    """Return why a node was forgotten, or which one stands for it."""
    for name in ("into", "as"):
        if name in event.details:
            return f"{name} #{event.details[name]}"
    return str(event.details.get("reason", ""))


def _news(about: AgentAnswer) -> AgentAnswer:
    """Return what matters: a lease that is renewed is no news."""
    return about.model_copy(update={"lease": None, "idle": True})
