"""No chunk is longer than the embedder reads, and no word is split."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.config.settings import Settings
from memci.extraction.blocks import Block, BlockKind
from memci.extraction.chunker import MOST_TOKENS, chunks_of, count_tokens, split_text
from memci.smallmodel.offline.e5_files import TOKENIZER, model_folder
from memci.smallmodel.offline.e5_graph import POSITIONS
from tests.support.fleet import ROOT

TEXTS = st.text(st.sampled_from([*"ab .!\n", "词", "語", "。", "é", "😀", "1", "_"]), max_size=100)


@given(TEXTS, st.integers(1, 30))
def test_only_white_space_between_pieces_is_lost(text: str, most: int):
    pieces = list(split_text(text, most))
    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", text)
    assert all(piece == piece.strip() and piece for piece in pieces)


@given(TEXTS)
def test_words_are_not_split(text: str):
    words = re.findall(r"[abé]+", text)
    pieces = list(split_text(text, 3))
    found = [each for piece in pieces for each in re.findall(r"[abé]+", piece)]
    assert found == words


def test_pieces_end_with_sentences():
    text = "今天天气很好。我们去公园散步。" * 40
    pieces = list(split_text(text, 100))
    assert all(piece.endswith("。") for piece in pieces)
    assert all(count_tokens(piece) <= 100 for piece in pieces)


def test_a_very_long_word_is_split():
    pieces = list(split_text("x" * 10_000, 200))
    assert "".join(pieces) == "x" * 10_000
    assert all(len(piece) <= 1_200 for piece in pieces)


@pytest.fixture(scope="module")
def tokenizer():
    from sentencepiece import SentencePieceProcessor

    folder = model_folder(Settings().embedder_folder)
    return SentencePieceProcessor(model_file=str(folder / TOKENIZER))


@pytest.mark.parametrize(
    "path",
    ["README.md", "CHANGELOG.md", "docs/architecture.md", "memci/storage/session.py",
     "memci/language/word_lists.py", "memci/cli/demo/chinese.jsonl", "requirements.lock"],
)  # fmt: skip
def test_chunks_of_real_texts_fit_the_embedder(tokenizer, path: str):
    text = (ROOT / path).read_text()
    block = Block(BlockKind.TEXT, text, first_line=1, last_line=text.count("\n") + 1)
    found = list(chunks_of([block]))
    assert all(count_tokens(each.text) <= MOST_TOKENS for each in found)
    longest = max(len(tokenizer.encode(each.text)) for each in found)
    assert longest <= POSITIONS
    assert found[0].first_line == 1
    assert found[-1].last_line == text.rstrip().count("\n") + 1
