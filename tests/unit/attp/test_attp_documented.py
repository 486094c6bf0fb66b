"""The ATTP call and reply in docs/reference/attp.md are valid."""

from __future__ import annotations

import tomllib

from memci.commands.attp.protocol import read_answer
from tests.support.document_examples import ATTP_ANSWER, attp_reply


def test_the_documented_call_is_valid():
    call = read_answer(f"```toml\n{ATTP_ANSWER}```")
    assert call.target == "usr-1"
    assert 'hide_details(index="usr-1")' in call.code


def test_the_documented_reply_is_toml():
    assert tomllib.loads(attp_reply())["result"] == {"saved": 412}
