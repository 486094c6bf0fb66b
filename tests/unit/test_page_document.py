"""docs/pages.md shows what memci shows, and names what it does."""

from __future__ import annotations

from memci.domain.pages.page import Lifecycle, Permission
from memci.domain.pages.tree import PageState
from memci.language.detection import Language
from tests.support.deployment import table
from tests.support.page_document import DOCUMENT, made, remade, window

WRITTEN = DOCUMENT.read_text(encoding="utf-8")


def test_windows_and_tools_are_as_the_code_makes_them():
    """``python -m tests.support.page_document`` writes them anew."""
    assert remade(WRITTEN) == WRITTEN
    assert all(part in WRITTEN for part in made().values())


def test_both_windows_show_every_state():
    english, chinese = window(Language.ENGLISH), window(Language.CHINESE)
    for state in (
        "expanded)",
        "expanded, pinned)",
        "hidden, can be expanded)",
        "1 inside",
        "never recalled",
        "Collapsed",
    ):
        assert state in english
    for state in (
        "已展开）",
        "已展开，已固定）",
        "已隐藏，可展开",
        "内有 1 页",
        "未召回",
        "已折叠",
    ):
        assert state in chinese


def test_every_permission_and_place_is_documented():
    permissions = {row["permission"].strip("`") for row in table("docs/pages.md", "permission")}
    assert permissions == set(Permission)
    rows = table("docs/pages.md", "a page is")
    assert [row["a page is"] for row in rows] == list(PageState)
    assert {row["`lifecycle`"].strip("`") for row in rows} == set(Lifecycle)
