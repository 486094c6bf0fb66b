"""The network now and after earlier passes, and the decay of memories."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from memci.domain.memory.node import RemovalReason
from memci.errors import NotFoundError
from memci.reading.lists.cursors import Listing, page_of, place_after
from memci.schemas import network as schemas
from memci.schemas.agents import TrailEvent
from memci.storage.agents import snapshot_of
from memci.storage.network.node_history import last_events, removal_reason, removal_reasons
from memci.storage.network.nodes import beginnings_of, phrases_of
from memci.storage.reading import network_history
from memci.storage.session import Connection


class _State(NamedTuple):
    importance: float
    length: int
    original_length: int


class _Fading:
    """Memories over passes."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Read stored snapshots, the oldest first."""
        self.passes: list[schemas.FadingPass] = []
        self._states: list[dict[int, _State]] = []  # of memories, after each pass
        for row in rows:
            entities = set(row["entities"])
            columns = zip(row["importances"], row["lengths"], row["original_lengths"], strict=True)
            states = {
                node_id: _State(*state)
                for node_id, state in zip(row["node_ids"], columns, strict=True)
                if node_id not in entities
            }
            self._states.append(states)
            strengths = schemas.Strengths(**{**row, "quantiles": row["quantiles"] or []})
            self.passes.append(schemas.FadingPass(**row, memories=len(states), strengths=strengths))

    def made_after(self, number: int) -> list[int]:
        """Return the memories first seen after this pass, by id."""
        after = zip(self.passes, self._states, strict=True)
        return sorted({node for each, seen in after if each.number > number for node in seen})

    def memory(
        self, node_id: int, phrase: str | None, reason: RemovalReason | None
    ) -> schemas.FadingMemory:
        """Return one memory over all passes."""
        seen = [states.get(node_id) for states in self._states]
        return schemas.FadingMemory(
            id=node_id,
            phrase=phrase,
            original_length=next(each.original_length for each in reversed(seen) if each),
            forgotten=reason is RemovalReason.FORGOTTEN,
            removal_reason=reason,
            importances=[each and each.importance for each in seen],
            lengths=[each and each.length for each in seen],
        )


T = TypeVar("T")
# Of an answer, for each node of its limit.
_LINKS_EACH = 10
_ABOVE_ALL = 2**63 - 1
# Spans of passes that an error names.
_MOST_SPANS = 8


class NetworkListings(Listing):
    """Reads networks and their earlier states."""

    def network(self, agent_id: str, *, number: int | None, limit: int) -> schemas.NetworkAnswer:
        """Return the network now, or after the pass ``number``.

        If no snapshot of that pass is stored, the previous one is used. Raises ``NotFoundError`` if
        there is none, or no such pass.
        """
        with snapshot_of(self.database, agent_id) as connection:
            if number is None:
                found = network_history.network_now(connection, agent_id)
            else:
                found = _snapshot_at(connection, agent_id, number)
            return _answer(connection, agent_id, found, limit)

    def beginnings(
        self, agent_id: str, node_ids: Sequence[int], *, characters: int
    ) -> dict[int, str]:
        """Return the first characters of the texts of living nodes."""
        with snapshot_of(self.database, agent_id) as connection:
            return beginnings_of(connection, agent_id, node_ids, characters)

    def passes(self, agent_id: str, *, cursor: str | None, limit: int) -> schemas.PassList:
        """List passes, the latest first."""
        before = _ABOVE_ALL if cursor is None else place_after(cursor)[0]
        with snapshot_of(self.database, agent_id) as connection:
            rows = network_history.list_passes(connection, agent_id, before=before, limit=limit + 1)
        page, following = page_of(rows, limit, lambda row: row["number"])
        return schemas.PassList(
            passes=[schemas.PassAnswer(**row) for row in page], next_cursor=following
        )

    def fading(self, agent_id: str, *, passes: int, limit: int) -> schemas.FadingAnswer:
        """Return at most ``limit`` memories over at most ``passes`` passes, at even distances.

        They are those of one network, the latest with a pass. A rebuilt network's memories are new,
        so the former ones were not forgotten when it took over (M24).
        """
        with snapshot_of(self.database, agent_id) as connection:
            numbers = evenly(network_history.snapshot_numbers(connection, agent_id), passes)
            series = _Fading(network_history.fading_rows(connection, agent_id, numbers))
            switched_after = network_history.switches(connection, agent_id)
            begun = [each for each in switched_after if numbers and each < numbers[-1]]
            memories = series.made_after(begun[-1] if begun else 0)
            shown = evenly(memories, limit)
            phrases = phrases_of(connection, agent_id, shown)
            forgotten = [each for each in shown if each not in phrases]
            reasons = removal_reasons(connection, agent_id, forgotten)
        return schemas.FadingAnswer(
            agent_id=agent_id,
            passes=series.passes,
            switched_after=switched_after,
            memories=[series.memory(each, phrases.get(each), reasons.get(each)) for each in shown],
            left_out=len(memories) - len(shown),
        )

    def node_passes(self, agent_id: str, node_id: int) -> list[schemas.NodePass]:
        """Return one node after each pass whose snapshot is kept, the oldest first."""
        with snapshot_of(self.database, agent_id) as connection:
            rows = network_history.node_rows(connection, agent_id, node_id)
        return [schemas.NodePass(**row) for row in rows]


def evenly(things: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` things at even distances, including the first and the last."""
    if len(things) <= most:
        return list(things)
    if most == 1:
        return [things[-1]]
    return [things[index * (len(things) - 1) // (most - 1)] for index in range(most)]


def _snapshot_at(connection: Connection, agent_id: str, number: int) -> network_history.Snapshot:
    found = network_history.network_at(connection, agent_id, number)
    if found is not None and found.number == number:
        return found
    kept = _stored_snapshots(connection, agent_id)
    last = network_history.last_pass(connection, agent_id) or 0
    if number > last:
        which = f"the last one is {last}" if last else "there was none yet"
        raise NotFoundError(f"there is no pass {number}, {which}; {kept}")
    if found is None:
        raise NotFoundError(f"no snapshot of pass {number} or before is kept; {kept}")
    return found


def _stored_snapshots(connection: Connection, agent_id: str) -> str:
    numbers = network_history.snapshot_numbers(connection, agent_id)
    if not numbers:
        return (
            "no snapshot of this agent's network is kept: one is taken after each pass; "
            "without `pass` you get the network of now"
        )
    found = spans(numbers)
    if len(found) > _MOST_SPANS:
        found = [*found[: _MOST_SPANS - 1], "…", found[-1]]
    return f"snapshots are kept of {'pass' if len(numbers) == 1 else 'passes'} {', '.join(found)}"


def spans(numbers: Sequence[int]) -> list[str]:
    """Return ascending numbers as text; consecutive ones are one span."""
    # Numbers without a gap are equally far from their places.
    runs = groupby(enumerate(numbers), key=lambda placed: placed[1] - placed[0])
    found = [[number for _, number in run] for _, run in runs]
    return [f"{each[0]}" if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in found]


def _answer(
    connection: Connection, agent_id: str, found: network_history.Snapshot, limit: int
) -> schemas.NetworkAnswer:
    shown = _most_important(found, limit)
    ids = [found.node_ids[index] for index in shown]
    links = _strongest(found, set(ids), limit * _LINKS_EACH)
    phrases = phrases_of(connection, agent_id, ids)
    return schemas.NetworkAnswer(
        agent_id=agent_id,
        pass_number=found.number,
        taken_at=found.taken_at,
        nodes=_nodes(connection, agent_id, found, shown, phrases),
        links=_links(connection, agent_id, found, links),
        focus=found.focus,
        left_out=schemas.LeftOut(
            nodes=len(found.node_ids) - len(shown), links=len(found.sources) - len(links)
        ),
    )


def _most_important(found: network_history.Snapshot, limit: int) -> list[int]:
    focus = set(found.focus)
    return sorted(
        range(len(found.node_ids)),
        key=lambda at: (found.node_ids[at] not in focus, -found.importances[at], at),
    )[:limit]


def _strongest(found: network_history.Snapshot, shown: set[int], limit: int) -> list[int]:
    """Return the indexes of links between the shown nodes, and of their dangling links."""
    hidden = set(found.node_ids) - shown
    places = [
        at
        for at, (source, target) in enumerate(zip(found.sources, found.targets, strict=True))
        if source in shown and target not in hidden
    ]
    return sorted(places, key=lambda at: (-found.strengths[at], at))[:limit]


def _nodes(
    connection: Connection,
    agent_id: str,
    found: network_history.Snapshot,
    places: Sequence[int],
    phrases: dict[int, str],
) -> list[schemas.NetworkNode]:
    entities, focus = set(found.entities), set(found.focus)
    forgotten = [found.node_ids[at] for at in places if found.node_ids[at] not in phrases]
    events = last_events(connection, agent_id, forgotten)
    reasons = {each: removal_reason(events.get(each)) for each in forgotten}
    return [
        schemas.NetworkNode(
            id=node_id,
            kind="entity" if node_id in entities else "memory",
            phrase=phrases.get(node_id),
            importance=found.importances[at],
            length=found.lengths[at],
            original_length=found.original_lengths[at],
            focus=node_id in focus,
            forgotten=reasons.get(node_id) is RemovalReason.FORGOTTEN,
            removal_reason=reasons.get(node_id),
            last_event=TrailEvent(**events[node_id]) if node_id in events else None,
        )
        for at in places
        for node_id in (found.node_ids[at],)
    ]


def _links(
    connection: Connection, agent_id: str, found: network_history.Snapshot, places: Sequence[int]
) -> list[schemas.NetworkLink]:
    living = set(found.node_ids)
    ends = [(found.sources[at], found.targets[at]) for at in places]
    words = network_history.words_of_links(connection, agent_id, ends)
    return [
        schemas.NetworkLink(
            source=source,
            target=target,
            strength=found.strengths[at],
            dangling=target not in living,
            relation=relation,
            hint=hint,
        )
        for at, (source, target) in zip(places, ends, strict=True)
        for relation, hint in (words.get((source, target), (None, None)),)
    ]
