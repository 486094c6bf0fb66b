"""The rules M5 to M18 once more, as plainly as can be and with none of memci's own code.

One node at a time, nothing fast, nothing stored: what the real network must agree with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class SimpleNode:
    text: str
    born_length: int
    session: str | None
    entity: str | None  # its name, if it is one
    scans: int = 0
    last_pass: int = 0


@dataclass
class SimpleNetwork:
    focus_limit: int = 5
    rate: float = 0.97
    initial: float = 0.5
    break_below: float = 0.01
    delete_below: int = 5
    min_shrink: float = 0.1
    base: str = "original"
    nodes: dict[int, SimpleNode] = field(default_factory=dict)
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    focus: list[int] = field(default_factory=list)  # least recently mentioned first
    last_id: int = 0
    passes: int = 0
    wished: int = 0  # wishes for a pass, and the newest one that was fulfilled
    fulfilled: int = 0
    under_way: int | None = None  # the newest wish that the pass under way fulfils

    # Remembering

    def remember(self, texts: list[str], session: str | None) -> None:
        for text in texts:
            names = re.findall(r"\[(.+?)\]", text) or self._best_keyword(text)
            if not names and not self.focus:
                names = [" ".join(text[:40].split())]
            self._mention(names)
            self._add_memory(text, session)
        self.wished += 1

    def _best_keyword(self, text: str) -> list[str]:
        return [w.lower() for w in re.findall(r"[A-Za-z0-9]+", text) if len(w) > 3][:1]

    def _mention(self, names: list[str]) -> None:
        wanted = list(dict.fromkeys(names))[: self.focus_limit]
        living = {node.entity: i for i, node in self.nodes.items() if node.entity}
        stay = [i for i in self.focus if self.nodes[i].entity not in wanted]
        after: list[int | str] = [*stay, *(living.get(n, n) for n in reversed(wanted))]
        after = after[len(after) - min(len(after), self.focus_limit) :]
        entering = [i for i in after if isinstance(i, int) and i not in self.focus]
        self.focus = [self._add_entity(i) if isinstance(i, str) else i for i in after]
        for link in self.links:
            if set(link) & set(entering):
                self.links[link] = 1.0

    def _add_entity(self, name: str) -> int:
        self.last_id += 1
        self.nodes[self.last_id] = SimpleNode(name, len(name), None, name, 0, self.passes)
        return self.last_id

    def _add_memory(self, text: str, session: str | None) -> None:
        before = [i for i, n in self.nodes.items() if not n.entity and n.session == session]
        self.last_id += 1
        new = self.last_id
        self.nodes[new] = SimpleNode(text, len(text), session, None, 0, self.passes)
        for point in self.focus:
            self.links[new, point] = self.links[point, new] = 1.0
        if before:
            self.links[new, max(before)] = self.links[max(before), new] = self.initial

    # Compression

    def begin_slice(self) -> bool:
        """Begin a time slice; True when there is a pass to work at."""
        if self.under_way is not None and self.wished <= self.under_way:
            return True
        if self.wished <= self.fulfilled:
            return False
        self.passes += 1
        self.under_way = self.wished
        return True

    def scan_next(self) -> bool:
        """Scan one node; False when the pass is over."""
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
        whole = node.born_length if self.base == "original" else len(node.text)
        target = math.floor(whole * support)
        if target < self.delete_below:
            self._forget(i)
        elif target < len(node.text) and len(node.text) - target >= self.min_shrink * len(
            node.text
        ):
            node.text = node.text[:target].strip() or node.text[:1]

    def _forget(self, i: int) -> None:
        for link in list(self._own(i)):
            del self.links[link]
        del self.nodes[i]

    def importance(self, i: int) -> float:
        return math.fsum(self.links[link] for link in self._own(i) if link[1] in self.nodes)

    def _own(self, i: int) -> Iterator[tuple[int, int]]:
        return (link for link in self.links if link[0] == i)
