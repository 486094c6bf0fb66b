"""Spans that must not be cut, and the time to find them."""

from __future__ import annotations

import pytest

from memci.language.shortening.protected_spans import atoms


@pytest.mark.timeout(30)
@pytest.mark.parametrize("run", ["-", ".", "一", "五", "1.", "1:", "1,", "1-", "a.", "A-", "a_"])
def test_a_long_run_of_one_character_is_searched_quickly(run: str) -> None:
    """A search from each character to the end of the run would take minutes."""
    assert atoms(run * 60_000) is not None
    assert (6, 19) in atoms(f"Go to docs/pages.md, {run * 60_000} and write to ada@example.org.")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read docs/a-b.md now", "docs/a-b.md"),
        ("mail to first.last+x@mail.example.org now", "first.last+x@mail.example.org"),
        ("价格:5元起", "5元"),
        ("共十二个人", "十二个"),
        ("跑了1.5公里", "1.5公里"),
        ("下午三点半见", "下午三点半"),
    ],
)
def test_protected_spans_are_found_whole(text: str, found: str) -> None:
    assert any(text[start:end].startswith(found) for start, end in atoms(text))
