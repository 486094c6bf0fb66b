"""The text of a recall, and the reason if it found nothing."""

from __future__ import annotations

import pytest

from memci.domain.memory.recall import (
    Miss,
    forgotten_entry,
    memory_entry,
    mentions,
    miss_entry,
    why_nothing,
)
from memci.language.detection import Language


def test_entries_have_the_language_of_their_text():
    assert memory_entry("We fly.", Language.ENGLISH) == "[memory] We fly."
    assert memory_entry("我们去。", Language.CHINESE) == "[记忆] 我们去。"
    assert forgotten_entry("about", "hotel") == "[forgotten] about: hotel"
    assert forgotten_entry("关于", "旅馆") == "[遗忘] 关于：旅馆"
    assert forgotten_entry("关于", "") == "[遗忘] 关于："


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("miss", list(Miss))
def test_every_miss_has_a_text_in_every_language(miss: Miss, language: Language):
    assert miss_entry(miss, language).startswith("[")


@pytest.mark.parametrize(
    ("pending", "out_of_reach", "forgotten", "why"),
    [
        (True, True, True, Miss.PENDING),
        (False, True, True, Miss.OUT_OF_REACH),
        (False, False, True, Miss.FORGOTTEN),
        (False, False, False, Miss.NEVER_KNOWN),
    ],
)
def test_the_most_helpful_reason_is_given(
    pending: bool, out_of_reach: bool, forgotten: bool, why: Miss
):
    assert why_nothing(pending=pending, out_of_reach=out_of_reach, forgotten=forgotten) is why


def test_a_keyword_is_mentioned_if_all_its_terms_are():
    assert mentions({"new", "york", "in"}, [["new", "york"]])
    assert not mentions({"new", "shoes"}, [["new", "york"]])
    assert mentions({"new", "shoes"}, [["new", "york"], ["shoes"]])
    assert not mentions({"new"}, [[], []])
