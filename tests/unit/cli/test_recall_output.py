"""The output of `memci recall`, above all when it found nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.cli.commands.recall import (
    cut_away,
    next_steps,
    out_of_reach,
    print_recall,
)
from memci.domain.memory.recall import Miss, miss_entry
from memci.language.detection import Language
from memci.schemas.reads import ForgottenMemory, RecallAnswer, RecalledMemory


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("miss", Miss)
def test_every_miss_has_a_reason(
    miss: Miss, language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = RecallAnswer(memories=[], forgotten=[], miss=miss, seq=1, pending=0)
    print_recall(empty, language=language)
    assert miss_entry(miss, language) in capsys.readouterr().out


def test_the_reason_for_unknown_keywords_does_not_speak_of_reach() -> None:
    assert "reach" not in miss_entry(Miss.NEVER_KNOWN, Language.ENGLISH)


@pytest.mark.parametrize(
    ("hint", "label"), [("to Lisbon", "[forgotten] about: "), ("去里斯本", "[遗忘] about：")]
)
def test_a_forgotten_memory_is_printed_with_its_time(
    hint: str, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = datetime(2026, 5, 1, 9, tzinfo=UTC)
    node = ForgottenMemory(node_id=7, relation="about", hint=hint, restorable=True, forgotten_at=at)
    print_recall(RecallAnswer(memories=[], forgotten=[node], miss=None, seq=1, pending=0))
    assert capsys.readouterr().out == f"{label}{hint}\n    forgotten 2026-05-01 09:00:00Z\n"


def test_results_are_separated_by_empty_lines(capsys: pytest.CaptureFixture[str]) -> None:
    memory = RecalledMemory(
        node_id=1, content="one", phrase="one", type="episodic", layer=1, strength=1, match=1,
        importance=1, message_ids=[], said_at=None,
    )  # fmt: skip
    node = ForgottenMemory(node_id=2, relation="about", hint="Lisbon", restorable=True)
    found = RecallAnswer(memories=[memory] * 2, forgotten=[node], miss=None, seq=1, pending=0)
    print_recall(found)
    printed = "one\n    layer 1 · importance 1.00\n"
    assert capsys.readouterr().out == f"{printed}\n{printed}\n[forgotten] about: Lisbon\n"


def test_next_steps_name_the_options_that_reach_farther() -> None:
    steps = next_steps("ann", 2, ["sea", "lion"], [], 4)
    assert steps == (
        "try --depth 4, or `memci memory focus NAME --agent ann`, which sets the focus near it,"
        ' or `memci search "sea lion" --agent ann`, which searches all sources'
    )
    assert "--depth 10," in next_steps("ann", 9, ["sea"], [], 10)
    assert "--depth" not in next_steps("ann", 10, ["sea"], [], 12)
    assert next_steps("ann", 2, ["sea"], ["is"], 4).startswith(
        "try without --relation, or --depth 4"
    )


def test_a_given_reason_replaces_the_general_one(capsys: pytest.CaptureFixture[str]):
    empty = RecallAnswer(memories=[], forgotten=[], miss=None, seq=1, pending=0)
    node = ForgottenMemory(node_id=7, relation="moves", hint="to Lisbon", restorable=False)
    print_recall(empty, cut_away(empty.model_copy(update={"forgotten": [node]}), 5))
    assert capsys.readouterr().out == "1 found, none fits into 5 tokens (--budget)\n"


def test_the_out_of_reach_reason_names_the_depth_and_the_relation_filter():
    assert out_of_reach(3, [], Language.CHINESE).endswith("：比 --depth 3 更远")
    assert "名为 属于 的关联" in out_of_reach(2, ["属于"], Language.CHINESE)
    assert out_of_reach(3, []).endswith(": farther than --depth 3")
    assert out_of_reach(2, ["nonsuch"]).endswith(
        ": no links named nonsuch (--relation) lead to it within depth 2"
    )
