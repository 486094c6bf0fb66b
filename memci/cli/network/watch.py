"""The frames that ``memci memory watch`` draws, and when it asks again."""

from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memci.cli.network.tree import name_of
from memci.cli.output import bar, cell, counted, printable, shortened
from memci.client import Agent
from memci.errors import NotFoundError
from memci.schemas.agents import AgentAnswer, TrailEvent
from memci.schemas.network import NetworkAnswer, NetworkNode, PassAnswer, RemovalReason

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
    fate: RemovalReason = RemovalReason.FORGOTTEN


@dataclass(frozen=True)
class Observation:
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
    _seen: Observation | None = None
    # Phrases of nodes while they lived: what they were about when they are gone.
    _phrases: dict[int, str] = field(default_factory=dict)

    def observe(self) -> Observation:
        """Return what is there now; raises ``NotFoundError`` for an agent that is none yet."""
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
        before = self._back(latest.number - 1) if latest else None
        earlier = self._back(latest.number - NEWS) if latest else None
        return Observation(
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
        # Not those that are gone only with the network that they were in.
        nodes = {
            node.id: node
            for each in past
            for node in each.nodes
            if node.gone not in {None, RemovalReason.SWITCHED}
        }
        gone = [self._describe(node, hints.get(node.id)) for node in nodes.values()]
        return sorted(gone, key=lambda each: (each.pass_number or 0, each.id), reverse=True)

    def _describe(self, node: NetworkNode, hint: str | None) -> Gone:
        event = node.last_event
        if node.gone is RemovalReason.ERASED:  # what was seen of it before is not shown again (M25)
            self._phrases.pop(node.id, None)
        return Gone(
            id=node.id,
            about=self._phrases.get(node.id) or hint,
            pass_number=event.pass_number if event else None,
            reason=_reason(event) if event else "",
            fate=node.gone or RemovalReason.FORGOTTEN,
        )


def _reason(event: TrailEvent) -> str:
    """Return why a node was forgotten, or which one stands for it."""
    for name in ("into", "as"):
        if name in event.details:
            return f"{name} #{event.details[name]}"
    return str(event.details.get("reason", ""))


def _without_lease(about: AgentAnswer) -> AgentAnswer:
    """Return what can change a frame: a renewed lease does not."""
    return about.model_copy(update={"lease": None, "idle": True})


_IMPORTANCE_CELLS = 8
_LENGTH_CELLS = 12
_WORDS = 100
_MOST_GONE = 6
# Head, names of columns, a line between, "and so many more".
_LINES_AROUND = 8
_FEWEST = 3


def frame(seen: Observation, *, height: int | None, trouble: str | None = None) -> RenderableType:
    """Return the frame, no more than ``height`` lines of it; None: as long as it is."""
    gone = seen.gone[:_MOST_GONE]
    memories = sorted(
        (node for node in seen.network.nodes if node.kind == "memory"),
        key=lambda node: (_share(node), node.importance, node.id),
    )
    room = None if height is None else max(_FEWEST, height - _LINES_AROUND - len(gone))
    shown = memories[:room]
    parts: list[RenderableType] = [*_head(seen, trouble), Text(), _table(seen, shown)]
    if len(memories) > len(shown):
        more = len(memories) - len(shown)
        parts.append(_aside(f"… and {more} more, that have faded less"))
    if gone:
        parts += [Text(), *(_gone_line(each) for each in gone)]
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
        told = f"pass {progress.number}: {progress.scanned} scanned, {progress.left} left"
    elif latest is None:
        told = "no pass yet"
    else:
        told = (
            f"pass {latest.number} {latest.state.replace('_', ' ')}: {latest.scanned} scanned, "
            f"{latest.compressed} shortened, {latest.forgotten} forgotten, "
            f"{counted(latest.broken, 'link')} broken"
        )
    return f"{told} · {'paused' if seen.about.paused else 'idle' if seen.about.idle else 'busy'}"


def _table(seen: Observation, memories: list[NetworkNode]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    table.add_column("memory", justify="right", no_wrap=True)
    # A full bar is the most important one that is shown; below 1 content fades, so no less than 1.
    most = max((node.importance for node in memories), default=1.0)
    full = max(1.0, most)
    table.add_column(f"importance of {full:.2f}", no_wrap=True)
    table.add_column("length", no_wrap=True)
    table.add_column("", no_wrap=True)
    # Only the words give way when the terminal is narrow.
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
                (bar(_share(node), _LENGTH_CELLS), "cyan"),
                f" {_share(node):4.0%} of {node.original_length}",
            ),
            Text("↓" if fades else "", style="bold yellow"),
            Text(name_of(node)),
        )
    return table


def _gone_line(gone: Gone) -> Text:
    when = f"in pass {gone.pass_number}" if gone.pass_number else "lately"
    why = f" ({printable(gone.reason)})" if gone.reason else ""
    about = printable(shortened(gone.about or "", _WORDS))
    return _line(
        Text.assemble(
            (f"[{gone.fate}] #{gone.id} {when}{why}", "yellow"), (f": {about}" if about else "", "")
        )
    )


def _share(node: NetworkNode) -> float:
    return node.length / max(1, node.original_length)


def _aside(text: str) -> Text:
    return _line(Text(text, style="dim"))


def _line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
