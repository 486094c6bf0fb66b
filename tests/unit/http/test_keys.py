from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.api_keys import Scope, authenticate, authorize, new_key
from memci.errors import ForbiddenError, UnauthorizedError


def test_a_new_key_is_recognised_by_its_hash() -> None:
    key, entry = new_key("ci", agents="team-*", scope="write")
    assert key.startswith("memci_")
    assert len(key) == len("memci_") + 43
    assert key not in entry.model_dump_json()
    assert authenticate([new_key("other")[1], entry], f"Bearer {key}") == entry
    assert authenticate([entry], f"bearer  {key}") == entry


def test_no_two_keys_are_the_same() -> None:
    assert new_key("a")[0] != new_key("a")[0]


@given(header=st.none() | st.text())
def test_other_authorization_headers_are_refused(header: str | None) -> None:
    with pytest.raises(UnauthorizedError):
        authenticate([new_key("a")[1]], header)


def test_a_key_needs_the_bearer_scheme() -> None:
    key, entry = new_key("a")
    for header in (key, f"Basic {key}", f"Bearer {key}x", f"Bearer {key[:-1]}"):
        with pytest.raises(UnauthorizedError):
            authenticate([entry], header)


def test_without_keys_every_request_is_allowed() -> None:
    assert authenticate([], None) is None
    authorize(None, Scope.ADMIN, "any")


@pytest.mark.parametrize(
    ("pattern", "agent", "allowed"),
    [
        ("*", "any", True),
        ("team-*", "team-1", True),
        ("team-*", "Team-1", False),
        ("team-?", "team-12", False),
        ("alice", "alice", True),
        ("alice", "alice2", False),
    ],
)
def test_agent_patterns_are_file_name_patterns(pattern: str, agent: str, allowed: bool) -> None:
    _, entry = new_key("a", agents=pattern)
    if allowed:
        authorize(entry, Scope.READ, agent)
    else:
        with pytest.raises(ForbiddenError):
            authorize(entry, Scope.READ, agent)


def test_the_refusal_of_a_key_names_the_needed_scope() -> None:
    _, entry = new_key("reader")
    with pytest.raises(ForbiddenError, match=r"scope admin; the key 'reader' has read"):
        authorize(entry, Scope.ADMIN, None)
