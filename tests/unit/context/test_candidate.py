"""Cosines of candidates in a language that the embedding model does not read."""

from __future__ import annotations

from memci.domain.search.candidate import without_unread_cosines
from tests.support.talk import message


def test_cosines_of_a_language_that_the_model_does_not_read_are_dropped() -> None:
    chinese = message(1, "明天早上八点坐渡轮去香港。", dense=0.9)
    english = message(2, "The ferry leaves at eight.", dense=0.9)
    mixed = message(3, "用 PostgreSQL 的 migration tool to move the orders table", dense=0.9)
    found = [chinese, english, mixed]
    read = without_unread_cosines(found, "all-MiniLM-L6-v2")
    assert [each.dense for each in read] == [None, 0.9, 0.9]
    assert read[1:] == [english, mixed]
    assert without_unread_cosines(found, "paraphrase-multilingual-MiniLM-L12-v2") == found
