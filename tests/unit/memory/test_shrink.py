from __future__ import annotations

import pytest

from memci.domain.memory.compression_scan import (
    check_compressed,
    short_phrase,
    shrunk_keywords,
    shrunk_phrase,
)
from memci.domain.memory.node import is_generic
from memci.errors import SmallModelAnswerError
from memci.language.detection import Language


def test_a_good_answer_is_trimmed() -> None:
    assert check_compressed(" short \n", target=5, length=20) == "short"


@pytest.mark.parametrize("answer", ["", " \n", "\x00", "six ch", "as long as it was"])
def test_a_bad_answer_is_refused(answer: str) -> None:
    with pytest.raises(SmallModelAnswerError):
        check_compressed(answer, target=5, length=17)


def test_an_answer_as_long_as_the_text_is_refused() -> None:
    with pytest.raises(SmallModelAnswerError):
        check_compressed("abc", target=5, length=3)


def test_keywords_that_are_still_in_the_content_are_kept() -> None:
    assert shrunk_keywords(["Art", "party", "C++", "图书馆"], "A party at the 图书馆 in C++") == (
        "party",
        "C++",
        "图书馆",
    )


EN, ZH = Language.ENGLISH, Language.CHINESE
LONG = "luigi made dinner for all of us, and then he sang until the neighbours came"


def test_a_short_phrase_whose_words_are_in_the_content_is_kept() -> None:
    assert shrunk_phrase("Dinner, Luigi", (), LONG, EN) == "Dinner, Luigi"


def test_another_phrase_is_replaced_by_the_beginning_of_the_content() -> None:
    assert shrunk_phrase("A party at Ann's", (), LONG, EN) == "luigi made"
    assert shrunk_phrase("去吃了火锅", (), "昨天晚上去图书馆借了三本书回来看", ZH) == "昨天晚上去"


def test_a_phrase_is_at_most_half_of_the_content() -> None:
    content = "Anna opened a bakery in Bern on Monday."
    assert shrunk_phrase(content, ("bakery", "Anna", "Bern"), content, EN) == "bakery, Anna, Bern"
    assert shrunk_phrase(content, (), content, EN) == "Anna opened a"
    assert (
        short_phrase("安娜在伯尔尼开了面包店", ("面包店", "安娜"), "安娜周一在伯尔尼开了面包店", ZH)
        == "面包店、安娜"
    )
    assert short_phrase("party", (), "party", EN) == "party"


def test_relations_are_generic_after_the_loss_of_four_fifths() -> None:
    assert is_generic(19, 100)
    assert not is_generic(20, 100)
