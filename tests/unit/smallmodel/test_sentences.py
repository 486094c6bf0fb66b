import pytest

from memci.language.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We left.", ["It rained.", "We left."]),
        ("Dr. Smith paid 3.5 dollars. Fine.", ["Dr. Smith paid 3.5 dollars.", "Fine."]),
        ("See memci.toml, e.g. line 4. Then stop.", ["See memci.toml, e.g. line 4.", "Then stop."]),
        ("I live in the U.S. It is big.", ["I live in the U.S.", "It is big."]),
        ("Come at 5 p.m. tomorrow.", ["Come at 5 p.m. tomorrow."]),
        ("I said no. He left.", ["I said no.", "He left."]),
        ("Well... maybe. Or not?!", ["Well... maybe.", "Or not?!"]),
        ('He said "Stop!" Then he ran.', ['He said "Stop!"', "Then he ran."]),
        ("1. Unplug it\n2. Wait", ["1. Unplug it", "2. Wait"]),
        ("我叫张三。你呢？很好！", ["我叫张三。", "你呢？", "很好！"]),
        ("他说：“好的。”然后走了……真的。", ["他说：“好的。”", "然后走了……", "真的。"]),
        ("价格是3.5元，买了！", ["价格是3.5元，买了！"]),
        ("好啊!我们走", ["好啊!", "我们走"]),
    ],
)
def test_sentences_end_at_the_right_places(text, expected):
    assert sentences(text) == expected


def test_a_sentence_may_continue_on_the_next_line():
    text = (
        "The old cluster could not be patched any more, so we moved it\nto Frankfurt. It works.\n"
    )
    assert len(sentences(text)) == 2


def test_a_block_of_code_is_one_sentence():
    text = "Run this:\n```sh\nmake. all\n\nmake test\n```\nDone."
    assert sentences(text) == ["Run this:", "```sh\nmake. all\n\nmake test\n```", "Done."]


def test_a_sentence_without_an_end_is_cut_between_words_and_characters():
    words, faces = "words without an end " * 200, "👩\u200d🚀" * 1_000
    assert all(each.startswith(("words", "without", "an", "end")) for each in sentences(words))
    assert all(500 < len(each) <= 1_000 for each in sentences(words)[:-1])
    assert "".join(sentences(faces)) == faces
    assert all(each.endswith("🚀") for each in sentences(faces))
    assert all(len(each) <= 1_000 for each in sentences("长" * 5_000))
