"""Laws of echoes (M26), for any texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.message_filter import ECHO_SHARE, grams, is_echo
from tests.support.examples import examples

WORDS = st.lists(
    st.sampled_from(["ferry", "at", "eight", "Oslo", "不", "知", "道", "你", "好"]), max_size=40
)


def texts_of(words: list[list[str]]) -> list[frozenset]:
    return [frozenset(grams(" ".join(each))) for each in words]


@settings(max_examples=examples(500))
@given(WORDS, st.lists(WORDS, max_size=4))
def test_the_share_of_known_grams_decides_and_more_texts_hide_no_echo(words, receipt):
    found, texts = grams(" ".join(words)), texts_of(receipt)
    known = {gram for text in texts for gram in text}
    share = sum(gram in known for gram in found) / len(found) if found else 0
    assert is_echo(found, [texts]) == (share >= ECHO_SHARE)
    if is_echo(found, [texts]):
        assert is_echo(found, [[], [*texts, frozenset()]])


@settings(max_examples=examples(500))
@given(WORDS, st.integers(0, 40), st.integers(0, 40))
def test_every_part_of_a_given_text_is_an_echo_if_it_is_long_enough(words, start, length):
    part = words[start : start + length]
    assert is_echo(grams(" ".join(part)), [texts_of([words])]) == (len(part) >= 5)


@settings(max_examples=examples(500))
@given(WORDS)
def test_blanks_and_punctuation_do_not_count(words):
    assert grams(" ".join(words)) == grams(" ,\n ".join(words).upper() + "!")
