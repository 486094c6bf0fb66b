"""The shipped words of Chinese are those of jieba's dictionary, and are cut as jieba cuts them."""

import jieba
from hypothesis import given
from hypothesis import strategies as st

from memci.language import chinese_words

with jieba.Tokenizer().get_dict_file() as _file:
    _ROWS = [line.split(" ") for line in _file.read().decode().splitlines()]
_KNOWN = {word: (int(frequency), tag) for word, frequency, tag in _ROWS}
_CUTTER = jieba.Tokenizer()
# It would cache them in the shared temporary folder.
with _CUTTER.get_dict_file() as _file:
    _CUTTER.FREQ, _CUTTER.total = _CUTTER.gen_pfdict(_file)
_CUTTER.initialized = True
_RARE = next(word for word, (frequency, _) in _KNOWN.items() if frequency == 3)


def test_all_words_have_their_frequency_and_tag() -> None:
    shipped = chinese_words._dictionary.get()
    assert len(shipped.trie) == len(_KNOWN)
    assert all((shipped.get(word), shipped.tag(word)) == known for word, known in _KNOWN.items())


@given(st.lists(st.sampled_from([*list(_KNOWN)[::97], "了", "我", "的", "龘", "A1", "-"])))
def test_a_run_is_cut_as_by_jieba(parts: list[str]) -> None:
    run = "".join(parts)[:200]
    assert list(chinese_words._cutter.get().cut(run)) == list(_CUTTER.cut(run))


def test_words_outside_the_dictionary_are_rarest() -> None:
    usual, rare, unknown = map(chinese_words.rarity, ("的", _RARE, "龘龘"))
    assert usual < rare < unknown
    assert (shipped := chinese_words._dictionary.get()).get("龘龘") == 0
    assert shipped.tag("龘龘") is None
