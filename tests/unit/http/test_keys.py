from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.api_keys import KeyRing, Scope, authorize, is_for, is_within, new_key
from memci.config.groups import ApiKey
from memci.errors import ForbiddenError, UnauthorizedError

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def authenticate(keys: list[ApiKey], header: str | None) -> ApiKey:
    return KeyRing(keys, demanded=True).authenticate(header, NOW)


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


def test_a_key_ends_at_its_time() -> None:
    key, entry = new_key("a")
    for seconds, accepted in ((1, True), (0, False), (-1, False)):
        ends = entry.model_copy(update={"expires_at": NOW + timedelta(seconds=seconds)})
        if accepted:
            assert authenticate([ends], f"Bearer {key}") == ends
        else:
            with pytest.raises(UnauthorizedError):
                authenticate([ends], f"Bearer {key}")


PATTERN = st.text("ab*?", min_size=1, max_size=4)
PATTERNS = st.lists(PATTERN | PATTERN.map("collection/{}".format), min_size=1, max_size=3)


@given(PATTERNS.map(",".join), PATTERNS.map(",".join), st.text("ab", min_size=1, max_size=5))
def test_patterns_within_others_are_for_no_further_agent(mine: str, other: str, name: str) -> None:
    assert is_within(mine, "*")
    assert is_within(mine, mine)
    for owner in (name, f"collection/{name}"):
        assert not (is_within(mine, other) and is_for(mine, owner)) or is_for(other, owner)


@pytest.mark.parametrize(
    ("mine", "other", "within"),
    [
        ("team-1", "team-*", True),
        ("team-a*", "team-*,x", True),
        ("team-*", "team-a*", False),
        ("team-*", "team-?", False),
        ("team-?", "team-*", True),
        ("*", "team-*", False),
        ("collection/x", "c*", False),
    ],
)
def test_a_narrower_pattern_is_within_a_wider_one(mine: str, other: str, within: bool) -> None:
    assert is_within(mine, other) == within


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
