"""Laws of the offline small models (M3, M12), for any text."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memci.language.detection import Language
from memci.language.sentences import cut_into_pieces, sentence_spans
from memci.message import Message, Role
from memci.smallmodel.offline.annotator import OfflineAnnotator, OfflineJudge
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.smallmodel.offline.relation_namer import OfflineRelationNamer
from memci.smallmodel.offline.segmenter import LONGEST_SEGMENT, OfflineSegmenter
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.vector_space import VectorSpace
from tests.support.examples import examples
from tests.support.models import built_in_reader

PHRASES = st.sampled_from(
    [
        *("We moved to Oslo.", "I don't like tea", "because of the rain, we", "unless Dana agrees"),
        *("Thanks!", "Never", "and they", "which was red", "well, you know,", "(see below)"),
        *("e.g.", "A.", "J. Smith", "3.5", "42", "—", "…", "\n", "\n\n", "“", "```sh"),
        *(
            "如果下雨，",
            "我们决定去厦门。",
            "不要发布",
            "，因为",
            "李明负责。",
            "“好。”",
            "《三体》",
            "的",
        ),
        *("user@x.org", "http://a.b/c?d=e", "😀", "\u200d"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(PHRASES, max_size=40).map(" ".join),
    st.lists(PHRASES, max_size=40).map("".join),
)
quickly = settings(max_examples=examples(500))


def squeezed(text):
    return "".join(text.split())


@quickly
@given(TEXTS, st.integers(0, 400))
@example("0;0.0;u", 6)
def test_compression_keeps_to_its_target_and_adds_nothing(text, target):
    shorter = OfflineCompressor().compress(text, target)
    assert len(shorter) <= min(target, len(text))
    assert bool(shorter) == bool(text.strip() and target)
    # Its characters are those of the text in order, except a capital at the start of a sentence
    # and the mark at its end. Keywords stand in the order of their value.
    rest = iter(squeezed(text).casefold())
    kept = re.sub(r"[\W_]", "", squeezed(shorter)).casefold()
    keywords = all(each in text for each in re.split(", |、", shorter))
    assert keywords or all(character in rest for character in kept)


KINDS = st.one_of(
    TEXTS,
    st.lists(
        st.sampled_from(
            [
                *("- buy 3 kg of flour", "1. Unplug it.", "2) Wait 10 minutes", "* [ ] call Dana"),
                *("def f(x):\n    return x != 3", "```py\nprint(1)\n```", "x=1;y=2", "</div>"),
                *("https://example.org/a/b?c=d&e=f#g", "mailto:a@b.co", "C:\\dir\\file.txt"),
                *(
                    "👩‍🚀🚀",
                    "🎉🎉🎉",
                    "👍🏽 ok",
                    "Привет, как дела?",
                    "مرحبا بالعالم",
                    "こんにちは。",
                ),
                *("Ünïcödé straße", "हिन्दी भाषा", "ภาษาไทยไม่มีช่องว่าง", "x" * 120, "中" * 90),
                *("Ann: I never said so.", "小雨：我没有去。", "Budget: 300", "12:30", "a: b: c"),
                *(
                    "We met on 3 May 2024.",
                    "五月三日我们在厦门见面。",
                    "He isn't allergic.",
                    "他不喜欢。",
                ),
            ]
        ),
        min_size=1,
        max_size=12,
    ).flatmap(lambda parts: st.sampled_from(["\n", " ", ""]).map(lambda gap: gap.join(parts))),
)


@settings(max_examples=examples(5_000))
@given(KINDS, st.one_of(st.integers(1, 60), st.floats(0.02, 1.0)))
def test_compression_of_any_text_fits_and_is_repeatable(text, wanted):
    target = wanted if isinstance(wanted, int) else max(1, int(wanted * len(text)))
    shorter = OfflineCompressor().compress(text, target)
    assert len(shorter) <= target
    assert bool(shorter) == bool(text.strip())
    assert shorter == OfflineCompressor().compress(text, target)


# Pairs of a denied word and a sentence that denies it; the end of the sentence may be cut.
DENIALS = st.one_of(
    st.tuples(
        st.sampled_from(
            ["She is not", "They were never", "Tom isn't", "I am no longer", "He’s not"]
        ),
        st.sampled_from(["allergic", "married", "vegetarian", "afraid"]),
        st.sampled_from([" of it.", " since May 2024, because Dana said so.", ", and they know."]),
    ).map(lambda parts: (parts[1], f"{parts[0]} {parts[1]}{parts[2]}")),
    st.tuples(
        st.sampled_from(["我", "小王", "她妹妹"]),
        st.sampled_from(["不", "从来不", "一点也不", "并不", "没有"]),
        st.sampled_from(["喜欢", "同意", "认识"]),
        st.sampled_from(["这家餐厅的红烧排骨。", "李明，因为他总是迟到。", "那个方案！"]),
    ).map(lambda parts: (parts[2], "".join(parts))),
)
DENYING = re.compile("not|never|n['’]t|no longer|不|没", re.IGNORECASE)


@settings(max_examples=examples(500))
@given(
    st.lists(PHRASES, max_size=6),
    DENIALS,
    st.lists(PHRASES, max_size=6),
    st.integers(1, 120),
)
def test_compression_never_affirms_a_denied_word(before, denial, after, target):
    denied, sentence = denial
    text = "\n".join([" ".join(before), sentence, " ".join(after)])
    shorter = OfflineCompressor().compress(text, target)
    for line in shorter.splitlines():
        if denied in line.lower():
            assert DENYING.search(line[: line.lower().index(denied)]), (text, shorter)


@quickly
@given(TEXTS, st.integers(1, 200), st.integers(1, 200))
def test_compressing_again_to_the_same_target_changes_nothing(text, target, smaller):
    once = OfflineCompressor().compress(text, target)
    assert OfflineCompressor().compress(once, target) == once
    assert len(OfflineCompressor().compress(once, smaller)) <= smaller


@quickly
@given(TEXTS)
def test_only_white_space_is_between_sentences(text):
    spans = sentence_spans(text)
    assert squeezed("".join(text[start:end] for start, end in spans)) == squeezed(text)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@quickly
@given(TEXTS, st.integers(5, 120))
def test_pieces_are_short_enough_and_hold_the_whole_text(text, longest):
    pieces = list(cut_into_pieces(text, longest))
    assert squeezed("".join(pieces)) == squeezed(text)
    assert all(0 < len(piece) <= longest for piece in pieces)


# The law does not depend on vectors, so topics are random; each topic has one vector.
TOPICS = np.eye(4, dtype=np.float32)


@quickly
@given(
    st.lists(
        st.tuples(st.one_of(TEXTS, TEXTS.map(lambda text: text * 9)), st.integers(0, 3)), max_size=8
    )
)
def test_segments_hold_every_character_once_in_order(drawn):
    texts = [text for text, _ in drawn]
    vectors = TOPICS[[topic for _, topic in drawn]]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    messages = [
        Message(seq, str(seq), Role.USER, text, now) for seq, text in enumerate(texts, start=1)
    ]
    segments = OfflineSegmenter(VectorSpace, built_in_reader()).segment(messages, vectors)
    assert squeezed("".join(segment.text for segment in segments)) == squeezed("".join(texts))
    assert all(0 < len(segment.text) <= LONGEST_SEGMENT for segment in segments)
    assert all(list(segment.seqs) == sorted(set(segment.seqs)) for segment in segments)
    for segment in segments:
        assert set(squeezed(segment.text)) <= {
            character for seq in segment.seqs for character in texts[seq - 1]
        }
    seqs = [seq for segment in segments for seq in segment.seqs]
    assert seqs == sorted(seqs)
    assert set(seqs) == {message.seq for message in messages if message.text.strip()}


@quickly
@given(TEXTS)
def test_annotations_keep_their_limits_and_are_repeatable(text):
    (annotation,) = OfflineAnnotator(built_in_reader()).annotate([text])
    assert len(annotation.phrase) <= 80
    assert "\n" not in annotation.phrase
    assert len(annotation.keywords) <= 12
    assert len(annotation.entities) <= 4
    assert all(0 < len(word) <= 64 for word in annotation.keywords + annotation.entities)
    assert bool(annotation.keywords) == bool(text.strip())
    assert [annotation] == OfflineAnnotator(built_in_reader()).annotate([text])


@quickly
@given(TEXTS)
def test_texts_are_eligible_exactly_from_a_worth_of_six(text):
    (judgement,) = OfflineJudge(built_in_reader()).judge([text])
    assert 0 <= judgement.worth <= 10
    assert judgement.eligible == (judgement.worth >= 6)
    assert [judgement] == OfflineJudge(built_in_reader()).judge([text])


@quickly
@given(TEXTS, st.text(max_size=20), st.sampled_from(Language))
def test_a_relation_is_a_short_name(text, focus, language):
    assert 1 <= len(OfflineRelationNamer().names(text, [focus], language)[0]) <= 32


@quickly
@given(TEXTS)
def test_terms_are_bounded_and_case_does_not_matter(text):
    terms = OfflineLexicon().terms(text)
    assert all(0 < len(term) <= 64 for term in terms)
    if text.isascii():
        assert terms == OfflineLexicon().terms(text.upper())


FACTS = st.lists(
    st.sampled_from(
        [
            *(
                "it leaves at 10:20 on 12 December (2026-12-12)",
                "we meet on Friday (2026-10-30) at",
            ),
            *(
                "8:15 in Haugesund",
                "with Dr. Solbakken,",
                "Emil and I decided: Naples.",
                "for 2,400 NOK",
            ),
            *(
                "the repo is at https://github.com/ada/seals",
                "mail ada@example.org;",
                "in src/main.py",
            ),
            *("from 9 to 15 November 2026", 'reads "The Left Hand of Darkness"', "the red kayak."),
            *(
                "My sister and I moved to New York City.",
                "because of the rain,",
                "I never eat almonds.",
            ),
            *(
                "11月9日–15日去厦门，",
                "下周（2026年11月9日–15日）",
                "我不吃香菜，",
                "和小李一起。",
                "票价120元，",
            ),
            *("晚上8点半看《三体》", "我们决定迁移数据库。", "80 °C", "by 6:55 pm", "\n"),
        ]
    ),
    min_size=2,
    max_size=9,
).map(" ".join)
# Each run with digits in the output must be a whole run of the input.
RUN_WITH_DIGITS = re.compile(r"[A-Za-z0-9@:/.,–年月日点半元°-]*\d[A-Za-z0-9@:/.,–年月日点半元°-]*")
ADDRESS = re.compile(r"https?[A-Za-z0-9:/.]*|[A-Za-z0-9.]*@[A-Za-z0-9.]*")


def runs(text):
    return {match[0].strip(".,:") for match in RUN_WITH_DIGITS.finditer(text)}


@settings(max_examples=examples(500))
@given(FACTS, st.integers(1, 250))
def test_numbers_times_dates_and_addresses_stay_whole(text, target):
    shorter = OfflineCompressor().compress(text, target)
    assert len(shorter) <= target
    assert bool(shorter) == bool(text.strip())
    assert runs(shorter) <= runs(text), (text, shorter)
    addresses = {each.strip(".,;。；，") for each in ADDRESS.findall(text)}
    assert {each.strip(".,;。；，") for each in ADDRESS.findall(shorter)} <= addresses or target < 4
    dated = re.sub("10:20 on 12 December|12 December|9 to 15 November 2026", "", shorter)
    assert not re.search(r"(?<![\w:–-])(?:12|9|15)(?![\w:–-])", dated), (text, shorter)


@settings(max_examples=examples(500))
@given(FACTS, st.integers(1, 250))
def test_brackets_and_quotation_marks_stay_in_pairs(text, target):
    shorter = OfflineCompressor().compress(text, target)
    for first, second in ("()", "（）", "《》"):
        assert shorter.count(first) == shorter.count(second), (text, shorter)
    assert shorter.count('"') % 2 == 0, (text, shorter)


LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+")


@settings(max_examples=examples(500))
@given(
    st.one_of(FACTS, st.lists(PHRASES, min_size=1, max_size=20).map(" ".join)), st.integers(1, 250)
)
def test_no_word_is_cut_if_a_whole_word_fits(text, target):
    shorter = OfflineCompressor().compress(text, target)
    words = {each.casefold() for each in LATIN_WORD.findall(text)}
    kept = {each.casefold() for each in LATIN_WORD.findall(shorter)}
    assert kept <= words or (target < 10 and len(shorter) == target), (text, shorter)


LINE_ENDS = st.sampled_from(
    [
        "\n",
        "\n\n",
        " \n",
        "\n ",
        "\r\n",
        "\r",
        "\t",
        "/",
        "//",
        "...\n/x",
        "?\n",
        "\x1c\n",
        "\x85",
        "\u2028",
    ]
)


@quickly
@given(
    st.sampled_from(["o200k_base", "cl100k_base", "p50k_base"]),
    st.lists(st.one_of(PHRASES, LINE_ENDS, st.text(max_size=3)), max_size=40).map("".join),
)
def test_a_text_has_the_tokens_of_its_pieces(tokenizer, text):
    counter = OfflineTokenCounter(tokenizer)
    pieces = counter.pieces(text)
    assert "".join(pieces) == text
    assert sum(map(counter.count, pieces)) == counter.count(text)
