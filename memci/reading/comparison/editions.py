"""``memci.read.compare``: a rebuilt network beside the current one (M24)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memci.domain.memory.edition import ComparedNetwork, ComparedNode, Comparison, compare
from memci.errors import NotFoundError
from memci.queue.job_requests import edition_answer
from memci.reading.deferred_writes import ReadActivity, Use
from memci.reading.reader import ReadingDefaults, ReadingModels
from memci.reading.recall import Recall
from memci.schemas.editions import (
    ChangedMemory,
    ComparisonAnswer,
    ComparisonRequest,
    EditionAnswer,
    NetworkNumbers,
    ProbeComparison,
    ShownMemory,
)
from memci.schemas.reads import RecallAnswer, RecallRequest
from memci.storage.agents import snapshot_of
from memci.storage.network.editions import open_edition
from memci.storage.reading.network_history import beginnings, compared_network, count_links
from memci.storage.reading.nodes import list_focus
from memci.storage.session import Connection, Database, looking_beside

_BEGINNING = 200


class Compare:
    """Compares; it changes nothing, and is no reading that keeps an agent's passes going."""

    def __init__(
        self, database: Database, models: ReadingModels, defaults: ReadingDefaults
    ) -> None:
        """Load nothing before the first comparison."""
        unnoted = _Unnoted(database)
        self._database = database
        self._current = Recall(database, models, defaults, unnoted)
        self._rebuilt = Recall(database.beside(), models, defaults, unnoted)

    def run(self, agent_id: str, request: ComparisonRequest) -> ComparisonAnswer:
        """Compare the networks; ``NotFoundError`` when there is no rebuilt one."""
        with snapshot_of(self._database, agent_id) as connection:
            if open_edition(connection, agent_id) is None:
                raise NotFoundError("there is no rebuilt network: begin a rebuild first")
            edition = edition_answer(connection, agent_id)
            current = _Side.of(connection, agent_id)
            with looking_beside(connection):
                rebuilt = _Side.of(connection, agent_id)
            found = compare(current.network, rebuilt.network)
            shown = _Shown(found, request.limit)
            current.read(connection, agent_id, shown.current)
            with looking_beside(connection):
                rebuilt.read(connection, agent_id, shown.rebuilt)
        probes = [self._probe(agent_id, keywords) for keywords in request.probes]
        return _answer(edition, current, rebuilt, found, shown, probes)

    def _probe(self, agent_id: str, keywords: tuple[str, ...]) -> ProbeComparison:
        request = RecallRequest(keywords=list(keywords), format="structured")
        current, rebuilt = (
            [memory.content for memory in answer.memories]
            for answer in (each.run(agent_id, request) for each in (self._current, self._rebuilt))
            if isinstance(answer, RecallAnswer)
        )
        return ProbeComparison(
            keywords=list(keywords),
            both=sum(text in rebuilt for text in current),
            only_current=_others(current, rebuilt),
            only_rebuilt=_others(rebuilt, current),
        )


class _Unnoted(ReadActivity):
    """Notes nothing: a comparison is no use of a memory."""

    def note(
        self, agent_id: str, *, dropping: Collection[int] = (), use: Use | None = None
    ) -> None:
        del agent_id, dropping, use


@dataclass
class _Side:
    """One of the networks, and the texts of what is shown of it."""

    network: ComparedNetwork
    numbers: NetworkNumbers
    texts: dict[int, str]

    @classmethod
    def of(cls, connection: Connection, agent_id: str) -> _Side:
        network = compared_network(connection, agent_id)
        links = count_links(connection, agent_id)
        memories = [node for node in network.nodes if node.entity_key is None]
        numbers = NetworkNumbers(
            memories=len(memories),
            entities=len(network.nodes) - len(memories),
            links=links,
            dangling=links - len(network.strengths),
            characters=sum(node.length for node in memories),
            original_characters=sum(node.original_length for node in memories),
            importance=sum(node.importance for node in memories),
            focus=[row["name"] for row in list_focus(connection, agent_id)],
        )
        return cls(network, numbers, {})

    def read(self, connection: Connection, agent_id: str, nodes: list[ComparedNode]) -> None:
        ids = [node.id for node in nodes]
        self.texts = beginnings(connection, agent_id, ids, most=_BEGINNING)

    def show(self, node: ComparedNode) -> ShownMemory:
        return ShownMemory(
            node_id=node.id,
            message_seqs=list(node.seqs),
            length=node.length,
            original_length=node.original_length,
            importance=node.importance,
            text=self.texts[node.id],
        )


class _Shown:
    """The memories that the answer shows of each network."""

    def __init__(self, found: Comparison, limit: int) -> None:
        self.changed = found.changed[:limit]
        self.only_current = found.only_current[:limit]
        self.only_rebuilt = found.only_rebuilt[:limit]
        self.current = [*(pair.current for pair in self.changed), *self.only_current]
        self.rebuilt = [*(pair.rebuilt for pair in self.changed), *self.only_rebuilt]


def _answer(
    edition: EditionAnswer,
    current: _Side,
    rebuilt: _Side,
    found: Comparison,
    shown: _Shown,
    probes: list[ProbeComparison],
) -> ComparisonAnswer:
    changed = [
        ChangedMemory(current=current.show(pair.current), rebuilt=rebuilt.show(pair.rebuilt))
        for pair in shown.changed
    ]
    return ComparisonAnswer(
        edition=edition,
        current=current.numbers,
        rebuilt=rebuilt.numbers,
        same_memories=len(found.pairs),
        same_texts=len(found.pairs) - len(found.changed),
        only_current=len(found.only_current),
        only_rebuilt=len(found.only_rebuilt),
        same_links=found.same_links,
        links_only_current=found.links_only_current,
        links_only_rebuilt=found.links_only_rebuilt,
        largest_strength_difference=found.largest_strength_difference,
        largest_importance_difference=found.largest_importance_difference,
        changed=changed,
        shown_only_current=[current.show(node) for node in shown.only_current],
        shown_only_rebuilt=[rebuilt.show(node) for node in shown.only_rebuilt],
        probes=probes,
    )


def _others(texts: list[str], than: list[str]) -> list[str]:
    return [text[:_BEGINNING] for text in texts if text not in than]
