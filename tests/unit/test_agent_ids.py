"""Whoever names an agent or a collection as people are named is told what to do."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from memci import Memci
from memci.domain.agent_id import check_agent_id
from memci.errors import InvalidInputError
from memci.schemas.reads import SearchRequest

NAMES = ("张三", "josé", "Анна", "a b", "", "..", "a/b")
TOLD = r"A-Z a-z 0-9 \. _ : @ -.* for a name in another script .* such as zhang-san or user-17"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_allowed_is_told_and_what_to_do(name: str):
    with Memci() as memci:
        with pytest.raises(InvalidInputError, match=f"1 to 128 .* {TOLD}"):
            memci.agent(name)
        with pytest.raises(InvalidInputError, match=f"1 to 64 .* {TOLD}"):
            memci.collection(name)
    with pytest.raises(ValidationError, match=f"1 to 64 .* {TOLD}"):
        SearchRequest(query="x", collections=(name,))


def test_what_is_told_to_be_chosen_may_be_chosen():
    assert [check_agent_id(each) for each in ("zhang-san", "user-17")]
