"""The page of ``sys`` that explains ATTP to an agent, while that is on (P15).

Its text is derived, as interactions are: nothing of it is stored but its place, so that it always
tells of the tools that there are.
"""

from __future__ import annotations

from dataclasses import replace

from memci.domain.pages.operations import take_out
from memci.domain.pages.page import Page, PageKind
from memci.domain.pages.permission import is_guide
from memci.domain.pages.tree import SYSTEM, Tree


def keep_guide(tree: Tree, *, on: bool, name: str, description: str) -> None:
    """Have the guide in the tree, expanded, while it is on, and out of it else."""
    root = tree.segments[SYSTEM].root
    known = next((page for page in tree.children(root) if is_guide(page)), None)
    if known is None:
        if on:
            _make(tree, root, name, description)
    elif not on:
        take_out(tree, known)
    else:
        tree.put(replace(known, name=name, description=description, expanded=True))


def _make(tree: Tree, root: str, name: str, description: str) -> None:
    tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=SYSTEM,
            parent=root,
            place=0,
            name=name,
            description=description,
            expanded=True,
            managed=True,
            named=True,
        )
    )
