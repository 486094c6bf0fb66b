"""Singular and plural in the output about pages."""

from __future__ import annotations

import pytest

from memci.cli.pages.printing import print_answer, print_window
from memci.schemas.pages import CollapseAnswer, WindowAnswer
from memci.schemas.tools.table import BY_NAME


@pytest.mark.parametrize(("over", "expected"), [(1, "1 token over"), (1_200, "1,200 tokens over")])
def test_one_token_over_is_written_in_the_singular(capsys, over, expected):
    answer = CollapseAnswer(collapsed=[], tokens_before=9, tokens_after=9, over=over)
    print_answer(BY_NAME["auto_collapse"], answer)
    window = WindowAnswer(
        messages=[],
        tokens=1,
        by_segment={},
        collapsed=[],
        over=over,
        session_id=None,
        tokenizer="t",
    )
    print_window(window)
    lines = capsys.readouterr().out.splitlines()
    assert expected in lines[0]
    assert "1 token (t)" in lines
    assert expected in lines[-1]
