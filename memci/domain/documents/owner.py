"""Whose documents they are: an agent's own, or those of a collection that several agents read."""

from __future__ import annotations

import re

from memci.domain.agent import ANOTHER_SCRIPT, check_agent_id, no_agent
from memci.errors import InvalidInputError, NotFoundError

COLLECTION_PATTERN = r"(?!\.+$)[A-Za-z0-9._:@-]{1,64}"
_COLLECTION = re.compile(COLLECTION_PATTERN)
# No agent's id has a slash, so no agent is ever taken for a collection.
COLLECTION_PREFIX = "collection/"


def collection_owner(name: object) -> str:
    """Return the owner id of a collection, or raise ``InvalidInputError`` for no name of one."""
    if isinstance(name, str) and _COLLECTION.fullmatch(name):
        return COLLECTION_PREFIX + name
    raise InvalidInputError(
        "collection: expected 1 to 64 of the characters A-Z a-z 0-9 . _ : @ -, not dots alone; "
        f"{ANOTHER_SCRIPT}",
        field="collection",
    )


def collection_of(owner: str) -> str | None:
    """Return the name of the collection that an owner is; None for an agent."""
    return owner.removeprefix(COLLECTION_PREFIX) if is_collection(owner) else None


def is_collection(owner: str) -> bool:
    """Tell whether an owner id is a collection's."""
    return owner.startswith(COLLECTION_PREFIX)


def check_owner(owner: object) -> str:
    """Return the id of whoever has a lane, an agent or a collection; raises likewise."""
    if isinstance(owner, str) and is_collection(owner):
        return collection_owner(owner.removeprefix(COLLECTION_PREFIX))
    return check_agent_id(owner)


def nobody(owner: str) -> NotFoundError:
    """Return the error of whoever asks something of an owner that is not there."""
    if not is_collection(owner):
        return no_agent(owner)
    return NotFoundError(
        f"there is no collection {owner.removeprefix(COLLECTION_PREFIX)}: one exists from its first"
        " document on; GET /v1/collections and `memci collections` list those there are"
    )
