from __future__ import annotations

import pytest

from memci.language.names import Entity, is_pronoun, key_entities


@pytest.mark.parametrize("word", ["it", "They", "我", "他们", "这个", "ｉｔ"])
def test_pronouns_name_nothing(word: str) -> None:
    assert is_pronoun(word)


@pytest.mark.parametrize("word", ["Grace", "item", "小明", "这家餐厅"])
def test_names_are_no_pronouns(word: str) -> None:
    assert not is_pronoun(word)


def test_spellings_of_one_name_are_one_entity() -> None:
    assert Entity.named("Grace  Hopper") == Entity.named("grace hopper")
    assert Entity.named(" Grace\nHopper ").name == "Grace Hopper"
    assert Entity.named("ＡＢＣ") == Entity.named("abc")
    assert Entity.named("Grace") != Entity.named("Luigi")


def test_key_entities_are_taken_first() -> None:
    assert key_entities(["Grace", "it", "GRACE", "Oslo"], ["dinner"]) == (
        Entity.named("Grace"),
        Entity.named("Oslo"),
    )


def test_without_key_entity_the_best_keyword_that_is_no_pronoun_is_one() -> None:
    assert key_entities([], ["it", "dinner", "music"]) == (Entity.named("dinner"),)
    assert key_entities(["她"], ["她", "晚饭"]) == (Entity.named("晚饭"),)
    assert key_entities([" "], ["they", ""]) == ()
