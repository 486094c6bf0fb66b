"""The page of ATTP: an example, its limits, and what the model is told."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from docs.reference_pages.markdown import WIDTH, items, paragraph
from memci.commands.attp.protocol import LONGEST_CODE
from memci.commands.attp.sandbox import Limits
from memci.commands.attp.sandbox_functions import ALLOWED
from memci.language.detection import Language
from memci.schemas.attp import LONGEST_ANSWER, guide_in
from tests.support.document_examples import ATTP_ANSWER, attp_reply


def blocks() -> Iterator[str]:
    """Yield the blocks of attp.md."""
    limits, guide = Limits(), guide_in(Language.ENGLISH)
    yield paragraph("A model's answer, which may stand in a fence with prose around it:")
    yield f"```toml\n{ATTP_ANSWER}```"
    yield paragraph(
        "The `text` of the reply, to be handed back to the model; other fields say the same to a program:"
    )
    yield f"```toml\n{attp_reply()}```"
    yield paragraph(
        "If something went wrong, `status` is `fail` and `error` says what, where, and what to do; the HTTP status is"
        " 200 then too. The code may call all [tools](tools.md) but those that say *not in ATTP*, and import"
        f" {', '.join(f'`{name}`' for name in ALLOWED)}; there are no files, no environment and no network. It is run"
        " again if others have changed the pages that it saw."
    )
    yield "## Limits"
    yield items(
        [
            f"Answer: {LONGEST_ANSWER:,} characters, {LONGEST_CODE:,} of them code.",
            f"Time, with all calls: {limits.seconds:g} s. Memory: {limits.memory_bytes // 2**20} MiB.",
            f"Calls of functions: {limits.calls}. Calls within calls: {limits.depth} deep.",
            f"`__result__`: {limits.result:,} characters. Printed: {limits.printed:,} characters.",
            f"Arguments or answer of one call: {limits.longest:,} characters.",
        ]
    )
    yield "## What the model is told"
    yield f"With the setting `attp` a page of the system prompt says this, in the user's language:\n\n````text\n{_narrow(guide.text)}\n````"


def _narrow(text: str) -> str:
    lines = text.strip().splitlines()
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in lines)
