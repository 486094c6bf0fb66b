"""Reading a file in a process of its own, which may take no more than its limits and ends with it.

A parser that crashes, hangs or takes all memory costs one document, and never the worker.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memci.domain.documents import Chunk, ChunkKind
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits

_MODULE = "memci.extraction"
_ROOT = str(Path(__file__).parents[2])
# No settings, no keys: the process knows nothing but the file.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")


def extract(name: str, body: bytes, limits: ExtractionLimits) -> list[Chunk]:
    """Return the chunks of a file.

    Raises ``UnreadableDocumentError``, which says what is wrong with it and what to do.
    """
    asked = json.dumps({"name": name, "limits": asdict(limits)})
    try:
        done = subprocess.run(
            [sys.executable, "-m", _MODULE, asked],
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            timeout=2 * limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_costly(limits) from None
    if done.returncode != 0:
        raise _too_costly(limits)
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        raise UnreadableDocumentError(answer["error"])
    return [_chunk(each) for each in answer["chunks"]]


def _environment() -> dict[str, str]:
    own = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**own, "PYTHONPATH": _ROOT, "PYTHONUTF8": "1"}


def _too_costly(limits: ExtractionLimits) -> UnreadableDocumentError:
    return UnreadableDocumentError(
        f"reading this file took more than {limits.seconds} s or {limits.memory_bytes} bytes of"
        " memory: split it"
    )


def _chunk(each: dict[str, Any]) -> Chunk:
    path = tuple(map(_storable, each["path"]))
    symbol = each["symbol"] and _storable(each["symbol"])
    text, kind = _storable(each["text"]), ChunkKind(each["kind"])
    language = _storable(each["language"])[:_LONGEST_LANGUAGE]
    cleaned = {"text": text, "path": path, "symbol": symbol, "kind": kind, "language": language}
    return Chunk(**{**each, **cleaned})


# A file names its language itself.
_LONGEST_LANGUAGE = 40


def _storable(text: str) -> str:
    """Leave out the one character that no database holds."""
    return text.replace("\x00", "")
