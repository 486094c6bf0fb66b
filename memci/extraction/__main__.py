"""The process that reads one file: bytes on standard input, chunks as JSON on standard output."""

import json
import logging
import os
import resource
import sys
import warnings
from dataclasses import asdict
from typing import Any, BinaryIO

from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.formats import read_document
from memci.language.redaction import Redacted, Redactor


def main() -> None:
    """Read the file; answer with chunks or with an error."""
    request = json.loads(sys.argv[1])
    limits = ExtractionLimits(**request["limits"])
    output = own_output()
    _set_limits(limits)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    redactor = Redactor(frozenset(map(Redacted, request["redact"])))
    answer = _answer(request["name"], sys.stdin.buffer.read(), limits, redactor)
    with output:
        output.write(json.dumps(answer, ensure_ascii=False).encode(errors="replace"))


def own_output() -> BinaryIO:
    """Return standard output, and redirect what libraries write to it."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


def _set_limits(limits: ExtractionLimits) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(name: str, body: bytes, limits: ExtractionLimits, redactor: Redactor) -> dict[str, Any]:
    try:
        chunks = read_document(name, body, limits, redactor.text)
        return {"chunks": [asdict(each) for each in chunks]}
    except UnreadableDocumentError as error:
        return {"error": str(error)}
    except ModuleNotFoundError as error:
        return {
            "error": f"the workers lack {error.name}, which reads this: install memci[docs] there"
        }
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        return {
            "error": f"this file is broken ({type(error).__name__}): open it in the program that"
            " made it, and save it again"
        }


if __name__ == "__main__":
    main()
