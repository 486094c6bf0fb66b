"""A simple model of the rules M5 to M19, without code of memci.

The real network must agree with it. It works in memory, on one node at a time.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace


@dataclass
class SimpleMessage:
    text: str
    session: str | None


@dataclass
class SimpleNode:
    text: str
    born_length: int
    session: str | None
    entity: str | None  # the name of an entity, in small letters
    seqs: tuple[int, ...]  # the messages that it was made of
    parts: tuple[int, ...] = ()  # the seqs of all memories that were merged into it, in order
    scans: int = 0
    last_pass: int = 0
    short: bool = False  # a short-term memory, and whether it was compared with the others
    compared: bool = False
    promoted: bool = False


@dataclass
class SimpleNetwork:
    focus_limit: int = 5
    rate: float = 0.97
    initial: float = 0.5
    break_below: float = 0.01
    delete_below: int = 5
    min_shrink: float = 0.1
    capacity: int = 0
    messages: dict[int, SimpleMessage] = field(default_factory=dict)
    last_seq: int = 0
    nodes: dict[int, SimpleNode] = field(default_factory=dict)
    ever: dict[int, SimpleNode] = field(default_factory=dict)  # living or not
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    focus: list[int] = field(default_factory=list)  # least recently mentioned first
    last_id: int = 0
    room: float = math.inf  # nodes that may be added now
    passes: int = 0
    wished: int = 0  # requests of passes, and the newest fulfilled one
    fulfilled: int = 0
    under_way: int | None = None  # the newest request that the running pass fulfils

    # Remembering

    def remember(self, texts: Sequence[str], session: str | None) -> None:
        for text in texts:
            self.last_seq += 1
            self.messages[self.last_seq] = SimpleMessage(text, session)
        first = self.last_seq - len(texts) + 1
        self.make([(seq,) for seq in range(first, self.last_seq + 1)])

    def make(self, origins: Sequence[tuple[int, ...]], *, restored: bool = False) -> None:
        """Make a memory of each of these sets of messages, and request a pass (M16)."""
        self.wished += 1
        if self.capacity:
            unbounded = copy.deepcopy(self)
            unbounded._make(origins, restored)
            joined = {i for link in unbounded.links.keys() - self.links.keys() for i in link}
            joined.update(unbounded.focus)
            self.room = self._make_room(unbounded.last_id - self.last_id, joined)
        self._make(origins, restored)
        self.room = math.inf

    def _make(self, origins: Sequence[tuple[int, ...]], restored: bool) -> None:
        before: dict[str | None, int | None] = {}
        for parts in origins:
            session = self._session(parts)
            before.setdefault(session, self._previous(parts, restored))
            names = self._names(parts)
            mentioned = names if names or self.focus else [self._stand_in(parts)]
            (self._focus_oldest if restored else self._focus_newest)(mentioned, parts)
            joined = self._known_or_new(names, parts) if restored else []
            if self.room:
                before[session] = self._add_memory(parts, [*self.focus, *joined], before[session])

    def told(self, parts: Sequence[int]) -> str:
        """Return the texts of messages without those that repeat an earlier one."""
        texts: dict[tuple[str, ...], str] = {}
        for seq in parts:
            texts.setdefault(tuple(spoken(self.messages[seq].text)), self.messages[seq].text)
        return "\n".join(texts.values())

    def _session(self, parts: Sequence[int]) -> str | None:
        return self.messages[min(parts)].session

    def key(self, name: str) -> str:
        return name.casefold()

    def _names(self, parts: Sequence[int]) -> list[str]:
        text = self.told(parts)
        keywords = [w.lower() for w in re.findall(r"[A-Za-z0-9]+", text) if len(w) > 3]
        return re.findall(r"\[(.+?)\]", text) or keywords[:1]

    def _stand_in(self, parts: Sequence[int]) -> str:
        return " ".join(self.told(parts)[:40].split())

    def _last_of(self, session: str | None) -> int | None:
        """Return the memory with the latest message of a session."""
        of = [(n.seqs[-1], i) for i, n in self.nodes.items() if not n.entity]
        return max(((s, i) for s, i in of if self.nodes[i].session == session), default=(0, None))[
            1
        ]

    def _previous(self, parts: tuple[int, ...], restored: bool) -> int | None:
        """Return the memory before a new one; for a restored one, the memory said before it."""
        session, first = self._session(parts), min(parts)
        if not restored:
            return self._last_of(session)
        of = [(n.seqs, i) for i, n in self.nodes.items() if not n.entity and n.session == session]
        earlier = [
            (seqs[-1], seqs[0], i)
            for seqs, i in of
            if seqs[-1] < first or (seqs[-1] == first and seqs[0] < first)
        ]
        return max(earlier)[2] if earlier else None

    def mention(self, name: str) -> bool:
        """Bring an entity into the focus; return False if it cannot enter."""
        if not self.focus_limit:
            return False
        new = self.key(name) not in {node.entity for node in self.nodes.values()}
        self.room = self._make_room(int(new), ())
        entered = not new or self.room >= 1
        if entered:
            self._focus_newest([name], ())
        self.room = math.inf
        return entered

    def _focus_newest(self, names: Sequence[str], parts: tuple[int, ...]) -> None:
        """Make these entities the newest focus points."""
        wanted = list(dict.fromkeys(map(self.key, names)))[: self.focus_limit]
        stay = [i for i in self.focus if self.nodes[i].entity not in wanted]
        after = [*stay, *self._nodes_of(reversed(wanted))]
        self._focus_on(after[len(after) - min(len(after), self.focus_limit) :], names, parts)

    def _focus_oldest(self, names: Sequence[str], parts: tuple[int, ...]) -> None:
        """Add these entities to free places of the focus, as its oldest points."""
        focused = {self.nodes[i].entity for i in self.focus}
        new = [key for key in dict.fromkeys(map(self.key, names)) if key not in focused]
        behind = list(self._nodes_of(new[: self.focus_limit - len(self.focus)]))
        self._focus_on([*reversed(behind), *self.focus], names, parts)

    def _focus_on(
        self, after: Sequence[int | str], names: Sequence[str], parts: tuple[int, ...]
    ) -> None:
        entering = [i for i in after if isinstance(i, int) and i not in self.focus]
        self.focus = [
            self._add_entity(i, names, parts) if isinstance(i, str) else i
            for i in after
            if isinstance(i, int) or self._take_room()
        ]
        for link in self.links:
            if set(link) & set(entering):
                self.links[link] = 1.0

    def _known_or_new(self, names: Sequence[str], parts: tuple[int, ...]) -> list[int]:
        """Return the nodes of entities, new ones if there is more room than the last slot."""
        return [
            self._add_entity(i, names, parts) if isinstance(i, str) else i
            for i in self._nodes_of(dict.fromkeys(map(self.key, names)))
            if isinstance(i, int) or (self.room > 1 and self._take_room())
        ]

    def _nodes_of(self, keys: Iterable[str]) -> Iterator[int | str]:
        """Yield the living nodes of entities, and the key of each that has none."""
        living = {node.entity: i for i, node in self.nodes.items() if node.entity}
        return (living.get(key, key) for key in keys)

    def _add_entity(self, key: str, names: Sequence[str], parts: tuple[int, ...]) -> int:
        name = next(each for each in names if self.key(each) == key)
        return self._add(SimpleNode(name, len(name), None, key, _seqs(parts)))

    def _add_memory(self, parts: tuple[int, ...], joined: Sequence[int], before: int | None) -> int:
        text = self.told(parts)
        self._take_room()
        born = SimpleNode(text, len(text), self._session(parts), None, _seqs(parts), parts)
        new = self._add(replace(born, short=True))
        for point in joined:
            self.links[new, point] = self.links[point, new] = 1.0
        if before:
            self.links[new, before] = self.links[before, new] = self.initial
        return new

    def _add(self, node: SimpleNode) -> int:
        self.last_id += 1
        node.last_pass = self.passes
        self.nodes[self.last_id] = self.ever[self.last_id] = node
        return self.last_id

    # Room

    def _take_room(self) -> bool:
        there_is = self.room >= 1
        self.room -= there_is
        return there_is

    def _make_room(self, wanted: int, joined: Collection[int]) -> float:
        """Remove as many of the least important nodes as slots are missing; return the room.

        Focus points and entities mentioned now stay. Nodes to be linked with the new ones go last.
        """
        if not self.capacity:
            return math.inf
        free = self.capacity - len(self.nodes)
        may_go = [
            i
            for i, node in self.nodes.items()
            if i not in self.focus and not (i in joined and node.entity)
        ]
        may_go.sort(key=lambda i: (i in joined, self.importance(i), i))
        victims = may_go[: max(0, wanted - free)]
        for i in victims:
            self._forget(i)
        return free + len(victims)

    # Compression

    def begin_slice(self) -> bool:
        """Begin a time slice; return whether there is a pass to run."""
        if self.under_way is not None and self.wished <= self.under_way:
            return True
        if self.wished <= self.fulfilled:
            return False
        self.passes += 1
        self.under_way = self.wished
        return True

    def scan_next(self) -> bool:
        """Scan one node; return False when the pass is over."""
        waiting = [(n.scans, i) for i, n in self.nodes.items() if n.last_pass < self.passes]
        if waiting:
            self._scan(min(waiting)[1])
        if len(waiting) > 1:
            return True
        self.fulfilled = max(self.fulfilled, self.under_way or 0)
        self.under_way = None
        return False

    def _scan(self, i: int) -> None:
        node = self.nodes[i]
        node.scans += 1
        node.last_pass = self.passes
        if i in self.focus:
            return
        support = self.importance(i)
        for link in list(self._own(i)):
            if link[1] not in self.focus:
                self.links[link] *= self.rate
                if self.links[link] < self.break_below:
                    del self.links[link]
        if support == 0:
            self._forget(i)
        elif not node.entity and support < 1:
            self._shrink(i, support)

    def _shrink(self, i: int, support: float) -> None:
        node = self.nodes[i]
        length = len(node.text)
        target = math.floor(node.born_length * support)
        if target < self.delete_below:
            self._forget(i)
        elif target < length and length - target >= self.min_shrink * length:
            node.text = node.text[:target].strip() or node.text[:1]

    def _forget(self, i: int) -> None:
        for link in list(self._own(i)):
            del self.links[link]
        del self.nodes[i]

    def importance(self, i: int) -> float:
        return math.fsum(self.links[link] for link in self._own(i) if link[1] in self.nodes)

    def _own(self, i: int) -> Iterator[tuple[int, int]]:
        return (link for link in self.links if link[0] == i)


def spoken(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.casefold())


def _seqs(parts: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(parts)))
