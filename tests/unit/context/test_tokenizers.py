"""The counts of texts are cached, but not the texts."""

from __future__ import annotations

import sys

from memci.language import loading
from memci.reading.reader import Tokenizers
from memci.smallmodel.offline.token_counter import OfflineTokenCounter


class Counting:
    """Counts characters, and its own calls."""

    tokenizer = "characters"

    def __init__(self) -> None:
        self.calls = 0

    def count(self, text: str) -> int:
        self.calls += 1
        return len(text)

    def pieces(self, text: str) -> list[str]:
        return text.split("|")


def test_a_text_that_was_counted_is_not_kept():
    text = "".join(["Ada moved to Oslo", " 在奥斯陆"])
    known = sys.getrefcount(text)
    count = Tokenizers(OfflineTokenCounter).count("o200k_base")
    assert count(text) == OfflineTokenCounter("o200k_base").count(text)
    assert sys.getrefcount(text) == known


def test_a_text_is_counted_once_while_it_is_in_the_cache(monkeypatch):
    monkeypatch.setattr(loading, "_REMEMBERED", 2)
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    assert [count(each) for each in ("a", "bb", "a", "bb")] == [1, 2, 1, 2]
    assert counter.calls == 2
    assert [count(each) for each in ("ccc", "bb", "bb")] == [3, 2, 2]
    assert counter.calls == 4, "a full cache begins anew"


def test_a_text_of_very_many_pieces_is_counted_as_a_whole():
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    text = "|".join(map(str, range(501)))
    assert count(text) == len(text)
    assert counter.calls == 1


def test_a_long_text_is_not_cached():
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    assert [count("x" * 2_001), count("x" * 2_001)] == [2_001, 2_001]
    assert counter.calls == 2


def test_a_lone_surrogate_is_counted():
    assert Tokenizers(lambda _: Counting()).count("characters")("\ud800") == 1


def test_pieces_that_texts_share_are_counted_once():
    counter = Counting()
    count = Tokenizers(lambda _: counter).count("characters")
    assert [count(each) for each in ("a|bb", "bb|a|bb", "a")] == [3, 5, 1]
    assert counter.calls == 2
