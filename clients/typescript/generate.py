"""Writes src/api.ts, the types of the HTTP API, from its OpenAPI document: ``make clients``.

A test compares the first line of the committed file with what this module makes of the code.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

from docs.reference_pages.source import runtime
from memci.http.app import create_app

FOLDER = Path(__file__).parent
TYPES = FOLDER / "src/api.ts"
_GENERATE = (
    "npx openapi-typescript --default-non-nullable false --root-types --root-types-no-schema-prefix"
)


def document() -> str:
    """Return the OpenAPI document, without the problems that each operation may answer with."""
    described = create_app(runtime()).openapi()
    for operations in described["paths"].values():
        for operation in operations.values():
            answers = operation["responses"].items()
            operation["responses"] = {status: each for status, each in answers if status < "400"}
    return json.dumps(described)


def first_line(document: str) -> str:
    """Return the line that names the document which the types are made from."""
    return (
        f"// Made by `make clients`, from OpenAPI {hashlib.sha256(document.encode()).hexdigest()}"
    )


def main() -> None:
    """Write the file."""
    given = document()
    made = subprocess.run(
        _GENERATE.split(), cwd=FOLDER, input=given, capture_output=True, text=True, check=True
    )
    TYPES.write_text(f"{first_line(given)}\n{made.stdout}", encoding="utf-8")


if __name__ == "__main__":
    main()
