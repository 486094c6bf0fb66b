"""M26: what counts as an echo."""

from __future__ import annotations

import pytest

from memci.domain.memory.message_filter import grams, is_echo

GIVEN = "Anna moves to Lisbon in May, and looks for a flat near the river with two rooms."
GEGEBEN = "王小明五月搬到里斯本，想在河边找一套两居室的公寓。"


def echo(said: str, *receipts: list[str]) -> bool:
    return is_echo(grams(said), [[frozenset(grams(text)) for text in texts] for texts in receipts])


def test_words_and_characters_are_counted_in_fives():
    assert grams("One two, three four!") == []
    assert grams("One two, three four FIVE.") == [("one", "two", "three", "four", "five")]
    assert len(grams("王小明五月搬到里斯本")) == 10 - 4
    assert grams("在Oslo有ＡＢＣ吗") == [("在", "oslo", "有", "abc", "吗")]
    assert grams("カタカナと漢字") != []


@pytest.mark.parametrize("given", [GIVEN, GEGEBEN])
def test_a_repetition_is_an_echo_whatever_its_case_and_punctuation(given):
    assert echo(given, [given])
    assert echo(given.upper().replace(",", ";").replace("，", "、"), ["something else", given])
    assert echo(given[: given.index("for") if "for" in given else 12], [given])


@pytest.mark.parametrize("given", [GIVEN, GEGEBEN])
def test_a_quotation_in_words_of_ones_own_is_none(given):
    own = "You said this, and I have thought about it for a while: 我想了想，觉得应该先看看学校。"
    assert not echo(own + given, [given])
    assert not echo(own, [given])


def test_a_text_put_together_from_one_receipt_is_an_echo_and_from_two_is_none():
    other = "Her brother stays in Porto with both of the dogs until the end of June."
    said = f"{GIVEN} {other}"
    # Four 5-grams lie across the seam.
    assert 1 - 4 / len(grams(said)) < 0.9
    assert not echo(said, [GIVEN, other])
    long_one, long_other = GIVEN + " " + GIVEN.upper(), other + " and the cat " + other
    assert not echo(f"{long_one} {long_other}", [long_one], [long_other])
    assert echo(f"{long_one} {long_other}", [long_one, long_other])


def test_nine_tenths_are_enough_and_less_is_not():
    words = [f"w{n}" for n in range(104)]  # 100 5-grams
    text = " ".join(words)
    for changed, expected in [((0,), True), ((50, 60), True), ((0, 50, 60), False)]:
        said = " ".join("other" if n in changed else word for n, word in enumerate(words))
        share = sum(g in set(grams(text)) for g in grams(said)) / 100
        assert (share >= 0.9) == expected, (changed, share)
        assert echo(said, [text]) == expected


def test_a_text_too_short_to_tell_is_none():
    assert not echo("Yes, of course!", ["Yes, of course!"])
    assert not echo("", [""])
    assert not echo(GIVEN)
