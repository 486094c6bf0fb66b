"""Observes a network for ``memci memory watch``, and draws its frames."""

from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memci.cli.network.tree import name_of, share_of
from memci.cli.output import bar, cell, counted, printable, shortened
from memci.client import Agent
from memci.domain.memory.node import RemovalReason
from memci.errors import NotFoundError
from memci.schemas.agents import AgentAnswer, TrailEvent
from memci.schemas.network import NetworkAnswer, NetworkNode, PassAnswer

# Memories removed in the last passes are listed.
NEWS = 10
# Nodes that are read of a network: more than any terminal has lines.
_NODES = 500


@dataclass(frozen=True)
class RemovedMemory:
    """A memory that was forgotten, merged or erased lately."""

    id: int
    about: str | None
    pass_number: int | None
    reason: str
    kind: RemovalReason = RemovalReason.FORGOTTEN


@dataclass(frozen=True)
class Observation:
    """An agent's network at one moment."""

    about: AgentAnswer
    latest: PassAnswer | None
    network: NetworkAnswer
    removed: list[RemovedMemory]
    # Lengths after the pass before the latest, by node; shorter memories are fading now.
    before: dict[int, int]


@dataclass
class Watcher:
    """Observes an agent; reads its network only after a change."""

    memory: Agent
    _seen: Observation | None = None
    # Phrases of nodes, kept for those that are removed later.
    _phrases: dict[int, str] = field(default_factory=dict)

    def observe(self) -> Observation:
        """Return the current network; raises ``NotFoundError`` for an unknown agent."""
        about = self.memory.about()
        seen = self._seen
        if seen is None or _without_lease(about) != _without_lease(seen.about):
            self._seen = seen = self._observe_again(about)
        return seen

    def _observe_again(self, about: AgentAnswer) -> Observation:
        network = self.memory.network(limit=_NODES)
        self._phrases |= {node.id: node.phrase for node in network.nodes if node.phrase}
        listed = self.memory.passes(limit=1).passes
        latest = listed[0] if listed else None
        before = self._snapshot(latest.number - 1) if latest else None
        earlier = self._snapshot(latest.number - NEWS) if latest else None
        return Observation(
            about=about,
            latest=latest,
            network=network,
            removed=self._removed(network, [each for each in (before, earlier) if each]),
            before={node.id: node.length for node in before.nodes} if before else {},
        )

    def _snapshot(self, number: int) -> NetworkAnswer | None:
        """Return the network after a pass; None if there is no snapshot."""
        try:
            return self.memory.network(number=max(1, number), limit=_NODES)
        except NotFoundError:
            return None

    def _removed(self, network: NetworkAnswer, past: list[NetworkAnswer]) -> list[RemovedMemory]:
        hints = {link.target: link.hint for link in network.links if link.dangling}
        # Without nodes that were removed by a switch to another network.
        nodes = {
            node.id: node
            for each in past
            for node in each.nodes
            if node.removal_reason not in {None, RemovalReason.SWITCHED}
        }
        removed = [self._describe(node, hints.get(node.id)) for node in nodes.values()]
        return sorted(removed, key=lambda each: (each.pass_number or 0, each.id), reverse=True)

    def _describe(self, node: NetworkNode, hint: str | None) -> RemovedMemory:
        event = node.last_event
        if node.removal_reason is RemovalReason.ERASED:  # its phrase is not shown again (M25)
            self._phrases.pop(node.id, None)
        return RemovedMemory(
            id=node.id,
            about=self._phrases.get(node.id) or hint,
            pass_number=event.pass_number if event else None,
            reason=_reason(event) if event else "",
            kind=node.removal_reason or RemovalReason.FORGOTTEN,
        )


def _reason(event: TrailEvent) -> str:
    """Return why a node was forgotten, or which node replaced it."""
    for name in ("into", "as"):
        if name in event.details:
            return f"{name} #{event.details[name]}"
    return str(event.details.get("reason", ""))


def _without_lease(about: AgentAnswer) -> AgentAnswer:
    """Return the answer without the fields that do not change a frame."""
    return about.model_copy(update={"lease": None, "idle": True})


_IMPORTANCE_CELLS = 8
_LENGTH_CELLS = 12
_WORDS = 100
_MOST_REMOVED = 6
# Head, column names, separator, "and … more".
_LINES_AROUND = 8
_FEWEST = 3


def frame(seen: Observation, *, height: int | None, trouble: str | None = None) -> RenderableType:
    """Return a frame of at most ``height`` lines (None: no limit)."""
    removed = seen.removed[:_MOST_REMOVED]
    memories = sorted(
        (node for node in seen.network.nodes if node.kind == "memory"),
        key=lambda node: (share_of(node), node.importance, node.id),
    )
    room = None if height is None else max(_FEWEST, height - _LINES_AROUND - len(removed))
    shown = memories[:room]
    parts: list[RenderableType] = [*_head(seen, trouble), Text(), _table(seen, shown)]
    if more := len(memories) - len(shown):
        parts.append(_aside(f"… and {more} more, that have faded less"))
    if removed:
        parts += [Text(), *map(_removed_line, removed)]
    return Group(*parts)


def _head(seen: Observation, trouble: str | None) -> list[Text]:
    about = seen.about
    entities = sum(node.kind == "entity" for node in seen.network.nodes)
    counts = [
        counted(about.nodes - entities, "memory", "memories"),
        counted(entities, "entity", "entities"),
        counted(about.links, "link"),
        f"{about.dangling} dangling",
    ]
    head = [
        Text.assemble((about.agent_id, "bold"), f"  {' · '.join(counts)}"),
        _aside(_pass_line(seen)),
    ]
    if about.focus:
        names = printable(shortened(cell(about.focus), _WORDS))
        head.append(_line(Text.assemble(("in focus: ", "dim"), (names, "cyan"))))
    if trouble:
        head.append(_line(Text(printable(trouble), style="yellow")))
    return head


def _pass_line(seen: Observation) -> str:
    latest, progress = seen.latest, seen.about.pass_progress
    if progress is not None:
        text = f"pass {progress.number}: {progress.scanned} scanned, {progress.left} left"
    elif latest is None:
        text = "no pass yet"
    else:
        text = (
            f"pass {latest.number} {latest.state.replace('_', ' ')}: {latest.scanned} scanned, "
            f"{latest.compressed} shortened, {latest.forgotten} forgotten, "
            f"{counted(latest.broken, 'link')} broken"
        )
    return f"{text} · {'paused' if seen.about.paused else 'idle' if seen.about.idle else 'busy'}"


def _table(seen: Observation, memories: list[NetworkNode]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    widest = max([0, *(len(f"#{node.id}") for node in memories)])
    table.add_column("memory", justify="right", no_wrap=True, min_width=widest)
    # A full bar is the largest importance in the table, at least 1: below 1 content fades.
    full = max([1.0, *(node.importance for node in memories)])
    table.add_column(f"importance of {full:.2f}", no_wrap=True)
    table.add_column("length", no_wrap=True)
    table.add_column("", no_wrap=True)
    # Only this column shrinks on a narrow terminal.
    table.add_column("about", no_wrap=True, overflow="ellipsis", ratio=1)
    for node in memories:
        fades = node.length < seen.before.get(node.id, node.length)
        table.add_row(
            Text(f"#{node.id}", style="dim"),
            Text.assemble(
                (
                    bar(node.importance / full, _IMPORTANCE_CELLS),
                    "green" if node.importance >= 1 else "yellow",
                ),
                f" {node.importance:.2f}",
            ),
            Text.assemble(
                (bar(share_of(node), _LENGTH_CELLS), "cyan"),
                f" {share_of(node):4.0%} of {node.original_length}",
            ),
            Text("↓" if fades else "", style="bold yellow"),
            Text(name_of(node)),
        )
    return table


def _removed_line(memory: RemovedMemory) -> Text:
    when = f"in pass {memory.pass_number}" if memory.pass_number else "lately"
    why = f" ({printable(memory.reason)})" if memory.reason else ""
    about = f": {printable(shortened(memory.about, _WORDS))}" if memory.about else ""
    head = f"[{memory.kind}] #{memory.id} {when}{why}"
    return _line(Text.assemble((head, "yellow"), (about, "")))


def _aside(text: str) -> Text:
    return _line(Text(text, style="dim"))


def _line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
