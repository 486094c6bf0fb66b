"""docs/attp.md says what is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from memci.commands.attp.outcome import Outcome
from memci.commands.attp.perform import succeeded
from memci.commands.attp.protocol import LONGEST_CODE, read_answer
from memci.commands.attp.sandbox import Limits
from memci.commands.attp.sandbox_functions import ALLOWED
from memci.language.detection import Language
from memci.schemas.attp import LONGEST_ANSWER, AttpChanges, guide_in
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

DOCUMENT = (Path(__file__).parents[3] / "docs/attp.md").read_text()
ASKED, ANSWERED = re.findall(r"```toml\n(.+?)```", DOCUMENT, re.DOTALL)


def test_the_call_is_one():
    call = read_answer(f"```toml\n{ASKED}```")
    assert call.target == "usr-1"
    assert 'hide_details(index="usr-1")' in call.code


def test_the_answer_is_written_so():
    told = tomllib.loads(ANSWERED)
    changes = AttpChanges(**told["changes"])
    assert succeeded("usr-1", Outcome(result=told["result"]), changes).text == ANSWERED


def test_the_guide_takes_about_so_many_tokens():
    (said,) = re.findall(r"about\s([\d,]+) tokens", DOCUMENT)
    for language in Language:
        tokens = OfflineTokenCounter().count(guide_in(language).text)
        assert abs(tokens - int(said.replace(",", ""))) <= 100, (language, tokens)


def test_limits_are_those_of_the_code():
    limits = Limits()
    for said in (
        f"| time, with all calls | {limits.seconds:g} s |",
        f"| memory | {limits.memory_bytes // 2**20} MiB |",
        f"| calls of functions | {limits.calls} |",
        f"| calls within calls | {limits.depth} deep |",
        f"| `__result__` | {limits.result:,} characters |",
        f"| arguments or answer of one call | {limits.longest:,} characters |",
        f"At most\n{LONGEST_ANSWER:,} characters, {LONGEST_CODE:,} of them code",
        f"up to {limits.printed:,} characters",
        *(f"`{name}`" for name in ALLOWED),
    ):
        assert said in DOCUMENT, said
