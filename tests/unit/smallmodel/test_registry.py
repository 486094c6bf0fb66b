import importlib.metadata
import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from memci.config.settings import Settings
from memci.errors import ConfigurationError
from memci.smallmodel import registry
from memci.smallmodel.offline.compressor import OfflineCompressor


class ShoutingCompressor:
    """An adapter as a third party would install it."""

    def __init__(self, task, model, settings):
        self.arguments = (task, model, settings.tokenizer)

    def compress(self, text, target):
        return text[:target].upper()


@pytest.fixture
def _third_party(monkeypatch):
    entry = EntryPoint("acme", f"{__name__}:ShoutingCompressor", registry.GROUP)
    installed = importlib.metadata.entry_points

    def entry_points(**chosen):
        return [entry] if chosen == {"group": registry.GROUP} else installed(**chosen)

    monkeypatch.setattr(registry, "entry_points", entry_points)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[ShoutingCompressor.__module__])


def test_offline_is_the_default():
    models = registry.build_small_models(Settings())
    assert isinstance(models.compressor, OfflineCompressor)
    assert models.embedder.dimension == 384
    assert models.tokens.tokenizer == "o200k_base"


@pytest.mark.usefixtures("_third_party")
def test_a_third_party_adapter_is_chosen_by_family_and_model():
    models = registry.build_small_models(Settings(models={"compressor": "acme:loud-1"}))
    assert models.compressor.arguments == ("compressor", "loud-1", "o200k_base")
    assert models.compressor.compress("abc", 2) == "AB"


@pytest.mark.usefixtures("_third_party")
@pytest.mark.parametrize("name", ["acme", "acme:", "nobody:x", "", "Offline"])
def test_an_unknown_adapter_names_the_known_ones(name):
    with pytest.raises(
        ConfigurationError,
        match=r"MEMCI_MODELS__ANNOTATOR__MODEL.*offline, acme:<model>, llm:<model>",
    ):
        registry.build_small_models(Settings(models={"annotator": name}))


@pytest.mark.parametrize("models", [{}, {"embedder": "sentence-transformers:some-model"}])
def test_building_small_models_imports_no_heavy_library(models: dict[str, str]):
    code = (
        "import sys; from memci.config.settings import Settings;"
        "from memci.jobs.consolidate import Consolidation;"
        "from memci.smallmodel.registry import build_small_models;"
        f"built = build_small_models(Settings(models={models}));"
        "Consolidation(None, None, built.embedder);"
        "heavy = {'torch', 'sentence_transformers', 'jieba', 'litellm', 'tiktoken'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "module", ["workers.lanes", "memci.http.app", "memci.cli.app", "beat_schedule"]
)
def test_without_a_language_model_no_process_imports_litellm(module):
    """With one, litellm is imported at the first call; API, beat and upkeep make none."""
    code = (
        f"import sys, {module}; from memci.config.settings import Settings;"
        "from memci.smallmodel.registry import build_small_models;"
        "build_small_models(Settings()).compressor.compress('We met. ' * 20, 30);"
        "two = {'compressor': 'llm:openai/x', 'embedder': 'llm:openai/y'};"
        "build_small_models(Settings(models=two));"
        "print('litellm' in sys.modules)"
    )
    addresses = {"MEMCI_DATABASE_URL": "postgresql://no/x", "MEMCI_BROKER_URL": "redis://no"}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, **addresses},
    )  # fmt: skip
    assert found.stdout.strip() == "False"


@pytest.mark.long
def test_a_worker_with_a_language_model_loads_it_before_its_first_job():
    code = (
        "import sys; from memci.config.settings import Settings;"
        "from memci.smallmodel.registry import build_small_models;"
        "embedder = {'model': 'llm:openai/y', 'dimension': 8};"
        "two = {'compressor': 'llm:openai/x', 'embedder': embedder};"
        "made = build_small_models(Settings(models=two));"
        "made.load(); print('litellm' in sys.modules, 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "True False"


@pytest.mark.long
def test_nothing_is_printed_fetched_or_left_in_a_shared_folder(tmp_path):
    """A process that may not open a socket uses every model; jieba and tiktoken leave no cache."""
    code = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a model opened a socket")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from datetime import UTC, datetime
from memci.config.settings import Settings
from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.registry import build_small_models
models = build_small_models(Settings())
text = "我们决定把订单服务迁到自建机房，由李明负责。"
messages = [Message(n, str(n), Role.USER, text, datetime.now(UTC)) for n in (1, 2)]
models.segmenter.segment(messages, models.embedder.embed([text, text]))
models.annotator.annotate([text, "We decided to move to Oslo."])
models.compressor.compress(text, 10)
models.relation_namer.names(text, ["李明"], Language.CHINESE)
models.judge.judge([text])
models.summarizer.summarize(messages, "", 40)
models.lexicon.terms(text)
models.tokens.count(text)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(filter(None, sys.path)), "HOME": "/"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not [each for each in tmp_path.rglob("*") if "jieba" in each.name or "gym" in each.name]
