"""Counts of texts are remembered, the texts are not."""

from __future__ import annotations

import sys

from memci.reading import reader
from memci.reading.reader import Tokenizers
from memci.smallmodel.offline.token_counter import OfflineTokenCounter


class Counting:
    """Counts characters, and how often it did."""

    tokenizer = "characters"

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text)

    def pieces(self, text: str) -> list[str]:
        return text.split("|")


def test_a_text_that_was_counted_is_not_kept():
    text = "".join(["Ada moved to Oslo", " 在奥斯陆"])
    known = sys.getrefcount(text)
    count = Tokenizers(OfflineTokenCounter).count("o200k_base")
    assert count(text) == OfflineTokenCounter("o200k_base").count(text)
    assert sys.getrefcount(text) == known


def test_a_text_is_counted_once_while_it_is_among_the_last(monkeypatch):
    monkeypatch.setattr(reader, "_REMEMBERED", 2)
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    assert [count(each) for each in ("a", "bb", "a", "bb")] == [1, 2, 1, 2]
    assert counter.asked == 2
    assert [count(each) for each in ("ccc", "bb", "a")] == [3, 2, 1]
    assert counter.asked == 4, "the one that was not asked for the longest went"


def test_a_text_of_very_many_pieces_is_counted_as_a_whole():
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    text = "|".join(map(str, range(501)))
    assert count(text) == len(text)
    assert counter.asked == 1


def test_a_long_text_is_counted_anew():
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    assert [count("x" * 2_001), count("x" * 2_001)] == [2_001, 2_001]
    assert counter.asked == 2


def test_half_a_surrogate_pair_is_counted():
    assert Tokenizers(lambda _: Counting()).count("characters")("\ud800") == 1


def test_pieces_are_counted_once_whatever_they_are_pieces_of():
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    assert [count(each) for each in ("a|bb", "bb|a|bb", "a")] == [3, 5, 1]
    assert counter.asked == 2
