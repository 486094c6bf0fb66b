"""What a text is about (M5): things that are named, and nobody who speaks."""

from __future__ import annotations

import pytest

from memci.language.names import is_speaker, key_entities


def names(entities: list[str], keywords: list[str], speakers: tuple[str, ...] = ()) -> list[str]:
    return [each.name for each in key_entities(entities, keywords, speakers)]


def test_those_who_speak_are_no_key_entities():
    speakers = ("Melanie Hart", "Caroline", "王小雨")
    assert names(["Caroline", "Oslo", "Mel", "小雨"], [], speakers) == ["Oslo"]
    assert names(["Melanie"], ["Caroline", "she", "pottery"], speakers) == ["pottery"]
    assert names(["Melanie"], ["Caroline"], speakers) == []


def test_without_names_of_speakers_all_stay():
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
def test_a_speaker_may_be_called_by_a_part_or_for_short(word: str, speaker: str, same: bool):
    assert is_speaker(word, [speaker]) == same
