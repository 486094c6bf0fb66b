"""What `memci recall` says when it found nothing."""

from __future__ import annotations

import pytest

from memci.cli.commands.recall import REASONS, print_recall
from memci.domain.memory.recall import Miss
from memci.shapes.read import RecallAnswer


@pytest.mark.parametrize("miss", Miss)
def test_every_miss_has_words(miss: Miss, capsys: pytest.CaptureFixture[str]):
    print_recall(RecallAnswer(memories=[], forgotten=[], miss=miss, seq=1, pending=0))
    assert REASONS[miss] in capsys.readouterr().out
