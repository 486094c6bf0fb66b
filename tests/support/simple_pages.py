"""A simple model of the page tree (P1 to P5): nested lists, without code of memci."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class SimplePage:
    index: str
    folder: bool
    expanded: bool
    children: list[SimplePage] = field(default_factory=list)

    def all(self) -> list[SimplePage]:
        return [self, *(below for child in self.children for below in child.all())]


@dataclass
class SimpleTree:
    """Roots by segment, removed pages, and the newest index of each segment."""

    roots: dict[str, SimplePage] = field(default_factory=dict)
    removed: dict[str, SimplePage] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)  # segments that an agent may only read

    def plant(self, segment: str, *, frozen: bool = False) -> None:
        self.roots[segment] = SimplePage(f"{segment}-0", folder=True, expanded=True)
        self.newest[segment] = 0
        if frozen:
            self.frozen.add(segment)

    def living(self) -> dict[str, SimplePage]:
        return {page.index: page for root in self.roots.values() for page in root.all()}

    def gone(self) -> dict[str, SimplePage]:
        return {page.index: page for top in self.removed.values() for page in top.all()}

    def parent(self, index: str) -> SimplePage | None:
        every = [*self.living().values(), *self.gone().values()]
        return next((each for each in every if any(c.index == index for c in each.children)), None)

    def path(self, index: str) -> list[SimplePage]:
        """The folders above a page, from the innermost."""
        above = self.parent(index)
        return [] if above is None else [above, *self.path(above.index)]

    def add(self, parent: str, *, folder: bool) -> str:
        segment = parent.rsplit("-", 1)[0]
        self.newest[segment] += 1
        page = SimplePage(f"{segment}-{self.newest[segment]}", folder, expanded=segment == "sys")
        self.living()[parent].children.append(page)
        return page.index

    def move(self, source: str, target: str) -> None:
        living = self.living()
        above = self.parent(source)
        assert above is not None
        above.children.remove(living[source])
        living[target].children.append(living[source])

    def remove(self, index: str) -> None:
        above, page = self.parent(index), self.living()[index]
        assert above is not None
        above.children.remove(page)
        self.removed[index] = page

    def restore(self, index: str, parent: str) -> None:
        self.living()[parent].children.append(self.removed.pop(index))

    def expand(self, index: str) -> None:
        for page in [self.living()[index], *self.path(index)]:
            page.expanded = True

    def may_move(self, source: str, target: str) -> bool:
        living = self.living()
        return (
            source in living
            and target in living
            and living[target].folder
            and source not in {root.index for root in self.roots.values()}
            and source.rsplit("-", 1)[0] == target.rsplit("-", 1)[0]
            and target not in {page.index for page in living[source].all()}
            and not self.is_frozen(source)
        )

    def is_frozen(self, index: str) -> bool:
        return index.rsplit("-", 1)[0] in self.frozen

    def shape(self) -> dict[str, tuple[bool, bool, list[str]]]:
        """All pages in the tree: whether folder, whether expanded, and their children."""
        return {
            page.index: (page.folder, page.expanded, [each.index for each in page.children])
            for page in self.living().values()
        }

    def seen(self) -> list[str]:
        """The visible pages, in order (P2, P3)."""
        return [index for root in self.roots.values() if root.children for index in _seen(root)]


def _seen(page: SimplePage) -> list[str]:
    below = page.children if page.expanded else []
    return [page.index, *(index for child in below for index in _seen(child))]
