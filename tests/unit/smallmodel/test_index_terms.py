import time

import pytest


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The runners were running", ["runner", "run"]),
        ("Don't panic, it's Anna's", ["don", "panic", "anna"]),
        ("1,000.50 euros and 3.14", ["1000.50", "euro", "3.14"]),
        ("我喜欢绘画 AI", ["我喜", "喜欢", "欢绘", "绘画", "ai"]),
        ("茶", ["茶"]),
        ("Straße ÉCOLE", ["straße", "école"]),
        ("ＡＰＩ", ["api"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Москва зимой", ["москва", "зимой"]),
        ("max_retries=15", ["max", "retri", "15"]),
        ("Who are you?", ["who", "are", "you"]),
        ("😀 … !", []),
    ],
)
def test_terms_of_texts(lexicon, text, terms):
    assert lexicon.terms(text) == terms


def test_a_question_and_its_answer_share_terms(lexicon):
    question = set(lexicon.terms("When did Caroline's adoption interviews pass?"))
    assert question <= {*lexicon.terms("Caroline passed her adoption interview"), "when"}
    assert {"樱花"} <= set(lexicon.terms("看到了樱花")) & set(lexicon.terms("樱花在哪里"))


def test_no_term_is_longer_than_64_characters(lexicon):
    assert lexicon.terms("x" * 1_000_000) == ["x" * 64]
    assert max(map(len, lexicon.terms("1,1" * 1000 + " " + "a\u0301" * 99))) == 64


def test_a_huge_message_is_indexed_quickly(lexicon):
    before = time.process_time()
    lexicon.terms("中文" * 200_000)
    lexicon.terms("hello world " * 80_000)
    assert time.process_time() - before < 5
