"""Key entities of a text (M5): named things, but no speakers."""

from __future__ import annotations

import time

import pytest

from memci.language.detection import language_of
from memci.language.keywords import LONGEST_KEYWORD, MOST_KEYWORDS, keywords_of
from memci.language.names import MOST_ENTITIES, Entity, is_pronoun, is_speaker, key_entities


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


def test_without_an_entity_the_best_keyword_is_the_key_entity() -> None:
    assert key_entities([], ["it", "dinner", "music"]) == (Entity.named("dinner"),)
    assert key_entities(["她"], ["她", "晚饭"]) == (Entity.named("晚饭"),)
    assert key_entities([" "], ["they", ""]) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Grace", "Did Grace write to [EMAIL_1] of [PHONE_12]?"),
        ("陈小明", "陈小明的邮箱是[EMAIL_1]，证件是[ID_CARD_1]。"),
    ],
)
def test_placeholders_of_redacted_values_are_no_entities(name: str, text: str) -> None:
    keywords, entities = keywords_of(text, language_of(text))
    assert entities == [name]
    assert not {"email", "phone", "phone_12", "id", "card", "1"} & set(map(str.lower, keywords))
    assert key_entities(["EMAIL_1", "[ID_CARD_2]", "secret_3"], ["[PHONE_1]", "dinner"]) == (
        Entity.named("dinner"),
    )
    assert key_entities(["EMAIL_CLIENT_1", "Phone 1"], []) != ()


@pytest.mark.parametrize(
    "text",
    ["😀" * 200_000, "😀 " * 100_000, "ﷺ" * 20_000, " ".join(f"ab{n}X" for n in range(30_000))],
    ids=["one run", "many words", "a sign of 18 characters", "many names"],
)
def test_a_text_has_few_and_short_entities_however_long_it_is(text: str) -> None:
    began = time.thread_time()
    keywords, entities = keywords_of(text, language_of(text))
    assert time.thread_time() - began < 10
    assert len(entities) <= MOST_ENTITIES
    assert 1 <= len(keywords) <= MOST_KEYWORDS
    assert all(len(each) <= LONGEST_KEYWORD for each in keywords)
    assert len(key_entities(entities, keywords)) <= MOST_ENTITIES


def names(entities: list[str], keywords: list[str], speakers: tuple[str, ...] = ()) -> list[str]:
    return [each.name for each in key_entities(entities, keywords, speakers)]


def test_speakers_are_no_key_entities():
    speakers = ("Melanie Hart", "Caroline", "王小雨")
    assert names(["Caroline", "Oslo", "Mel", "小雨"], [], speakers) == ["Oslo"]
    assert names(["Melanie"], ["Caroline", "she", "pottery"], speakers) == ["pottery"]
    assert names(["Melanie"], ["Caroline"], speakers) == []


def test_without_speaker_names_all_entities_are_kept():
    assert names(["Caroline", "Oslo"], []) == ["Caroline", "Oslo"]


@pytest.mark.parametrize(
    ("word", "speaker", "same"),
    [
        ("caroline", "Caroline", True),
        ("Hart", "Melanie Hart", True),
        ("Mel", "Melanie Hart", True),
        ("Me", "Melanie", False),
        ("Melbourne", "Melanie", False),
        ("Carolines", "Caroline", False),
        ("小雨", "王小雨", True),
        ("雨", "王小雨", False),
        ("小雪", "王小雨", False),
    ],
)
def test_a_part_or_short_form_of_a_name_is_recognised(word: str, speaker: str, same: bool):
    assert is_speaker(word, [speaker]) == same
