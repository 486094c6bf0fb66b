"""The windows of docs/reference/window.md show every state of a page."""

from __future__ import annotations

from memci.language.detection import Language
from tests.support.document_examples import window


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
