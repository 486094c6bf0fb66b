"""Read a file in a process of its own, with limits of time and memory.

A parser that crashes, hangs or takes all memory fails one document, and never the worker.
"""

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
from memci.language.redaction import Redacted

_ROOT = str(Path(__file__).parents[2])
# A longer name of a language in a file is cut.
_LONGEST_LANGUAGE = 40
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")


def extract(
    name: str, body: bytes, limits: ExtractionLimits, redact: frozenset[Redacted] = frozenset()
) -> list[Chunk]:
    """Return the chunks of a file; ``redact``: the kinds of values that placeholders replace.

    Raises ``UnreadableDocumentError`` with the problem and a remedy.
    """
    request = json.dumps({"name": name, "limits": asdict(limits), "redact": sorted(redact)})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "memci.extraction", request],
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
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


def environment() -> dict[str, str]:
    """Return the environment of the process, without settings and keys."""
    own = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**own, "PYTHONPATH": _ROOT, "PYTHONUTF8": "1"}


def _too_costly(limits: ExtractionLimits) -> UnreadableDocumentError:
    return UnreadableDocumentError(
        f"reading this file took more than {limits.seconds} s or {limits.memory_bytes} bytes of"
        " memory, or broke its reader: split it"
    )


def _chunk(fields: dict[str, Any]) -> Chunk:
    """Return a chunk without U+0000, which no database stores."""
    cleaned: dict[str, Any] = {
        name: each.replace("\x00", "") if isinstance(each, str) else each
        for name, each in fields.items()
    }
    cleaned["kind"] = ChunkKind(cleaned["kind"])
    cleaned["path"] = tuple(each.replace("\x00", "") for each in cleaned["path"])
    cleaned["language"] = cleaned["language"][:_LONGEST_LANGUAGE]
    return Chunk(**cleaned)
