import os
import random
import time

import pytest

from memci.errors import ConfigurationError
from memci.smallmodel.offline.token_counter import OfflineTokenCounter


@pytest.mark.parametrize(
    ("tokenizer", "text", "tokens"),
    [
        ("o200k_base", "Hello, world!", 4),
        ("cl100k_base", "Hello, world!", 4),
        ("o200k_base", "", 0),
        ("o200k_base", "你好，世界", 3),
        ("cl100k_base", "<|endoftext|>", 7),
        ("o200k_base", "<|endoftext|>", 7),
        ("o200k_base", "\ud800", 1),
    ],
)
def test_counts_are_those_of_openai(tokenizer, text, tokens):
    counter = OfflineTokenCounter(tokenizer)
    assert counter.tokenizer == tokenizer
    assert counter.count(text) == tokens


def test_an_unknown_tokenizer_names_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"cl100k_base.*o200k_base"):
        OfflineTokenCounter("gpt-99")


def test_the_environment_is_not_changed(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    OfflineTokenCounter("cl100k_base").count("x")
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "elsewhere"


@pytest.mark.parametrize("kind", ["x", "random", " ", "中"])
def test_a_long_run_without_a_space_is_counted_quickly(kind):
    size = 900 * 1024
    letters = random.Random(1).choices("abcdefgh", k=size)
    text = "".join(letters) if kind == "random" else kind * (size // len(kind.encode()))
    counter = OfflineTokenCounter()
    before = time.process_time()
    assert counter.count(text) > 0
    assert time.process_time() - before < 10


def test_a_million_spaces_are_counted():
    """A panic of tiktoken on so many spaces cannot be caught as an exception."""
    counter = OfflineTokenCounter()
    text = f"before{' ' * 1_100_000}after"
    assert 8_000 < counter.count(text) < 20_000
    assert counter.count("after") == 1


def test_long_white_space_is_counted_exactly():
    text = f"before{' ' * 99_000}after {' ' * 20_000}"
    counter = OfflineTokenCounter()
    assert counter.count(text) == len(counter._encoding.get().encode_ordinary(text))
