"""What `memci recall` says when it found nothing."""

from __future__ import annotations

import pytest

from memci.cli.commands.recall import REASONS, cut_away, out_of_reach, print_recall
from memci.domain.memory.recall import Miss
from memci.shapes.read import ForgottenMemory, RecallAnswer


@pytest.mark.parametrize("miss", Miss)
def test_every_miss_has_words(miss: Miss, capsys: pytest.CaptureFixture[str]):
    print_recall(RecallAnswer(memories=[], forgotten=[], miss=miss, seq=1, pending=0))
    assert REASONS[miss] in capsys.readouterr().out


def test_the_reason_that_is_given_stands_for_the_general_one(capsys: pytest.CaptureFixture[str]):
    empty = RecallAnswer(memories=[], forgotten=[], miss=None, seq=1, pending=0)
    gone = ForgottenMemory(relation="moves", hint="to Lisbon", restorable=False)
    print_recall(empty, cut_away(empty.model_copy(update={"forgotten": [gone]}), 5))
    assert capsys.readouterr().out == "1 found, none fits into 5 tokens (--budget)\n"


def test_out_of_reach_names_the_depth_and_the_filter_that_kept_it_away():
    assert out_of_reach(3, []).endswith(": farther than --depth 3")
    assert out_of_reach(2, ["nonsuch"]).endswith(
        ": no links named nonsuch (--relation) lead to it within depth 2"
    )
