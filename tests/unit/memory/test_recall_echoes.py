"""M26: which messages are echoes of a recall."""

from __future__ import annotations

import pytest

from memci.domain.memory.message_filter import grams, is_echo

GIVEN = "Anna moves to Lisbon in May, and looks for a flat near the river with two rooms."
GIVEN_CHINESE = "王小明五月搬到里斯本，想在河边找一套两居室的公寓。"


def echo(said: str, *receipts: list[str]) -> bool:
    return is_echo(grams(said), [[frozenset(grams(text)) for text in texts] for texts in receipts])


def test_grams_are_five_words_or_characters():
    assert grams("One two, three four!") == []
    assert grams("One two, three four FIVE.") == [("one", "two", "three", "four", "five")]
    assert len(grams("王小明五月搬到里斯本")) == 10 - 4
    assert grams("在Oslo有ＡＢＣ吗") == [("在", "oslo", "有", "abc", "吗")]
    assert grams("カタカナと漢字") != []


@pytest.mark.parametrize("given", [GIVEN, GIVEN_CHINESE])
def test_a_repetition_with_other_case_and_punctuation_is_an_echo(given):
    assert echo(given, [given])
    assert echo(given.upper().replace(",", ";").replace("，", "、"), ["something else", given])
    assert echo(given[: given.index("for") if "for" in given else 12], [given])


@pytest.mark.parametrize("given", [GIVEN, GIVEN_CHINESE])
def test_a_quotation_with_enough_own_words_is_no_echo(given):
    own = "You said this, and I have thought about it for a while: 我想了想，觉得应该先看看学校。"
    assert not echo(own + given, [given])
    assert not echo(own, [given])


def test_a_text_from_one_receipt_is_an_echo_and_from_two_is_none():
    other = "Her brother stays in Porto with both of the dogs until the end of June."
    joined = f"{GIVEN} {other}"
    # Four 5-grams cross the boundary of the two texts.
    assert 1 - 4 / len(grams(joined)) < 0.9
    assert not echo(joined, [GIVEN, other])
    long_one, long_other = GIVEN + " " + GIVEN.upper(), other + " and the cat " + other
    assert not echo(f"{long_one} {long_other}", [long_one], [long_other])
    assert echo(f"{long_one} {long_other}", [long_one, long_other])


def test_an_echo_needs_nine_tenths_of_the_grams():
    words = [f"w{n}" for n in range(104)]  # 100 5-grams
    text = " ".join(words)
    for changed, expected in [((0,), True), ((50, 60), True), ((0, 50, 60), False)]:
        changed_text = " ".join("other" if n in changed else word for n, word in enumerate(words))
        share = sum(g in set(grams(text)) for g in grams(changed_text)) / 100
        assert (share >= 0.9) == expected, (changed, share)
        assert echo(changed_text, [text]) == expected


def test_a_very_short_text_is_no_echo():
    assert not echo("Yes, of course!", ["Yes, of course!"])
    assert not echo("", [""])
    assert not echo(GIVEN)
