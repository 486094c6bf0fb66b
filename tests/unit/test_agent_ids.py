"""A bad id of an agent or collection is refused with the allowed characters and an example."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from memci import Memci
from memci.domain.agent_id import check_agent_id
from memci.errors import InvalidInputError
from memci.schemas.reads import SearchRequest

NAMES = ("张三", "josé", "Анна", "a b", "", "..", "a/b")
ALLOWED = r"A-Z a-z 0-9 \. _ : @ -.* for a name in another script .* such as zhang-san or user-17"


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_id_is_refused_with_the_allowed_characters(name: str):
    with Memci() as memci:
        with pytest.raises(InvalidInputError, match=f"1 to 128 .* {ALLOWED}"):
            memci.agent(name)
        with pytest.raises(InvalidInputError, match=f"1 to 64 .* {ALLOWED}"):
            memci.collection(name)
    with pytest.raises(ValidationError, match=f"1 to 64 .* {ALLOWED}"):
        SearchRequest(query="x", collections=(name,))


def test_the_suggested_ids_are_valid():
    assert [check_agent_id(each) for each in ("zhang-san", "user-17")]
