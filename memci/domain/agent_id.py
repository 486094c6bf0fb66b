"""Agent ids."""

import re

from memci.errors import InvalidInputError, NotFoundError

AGENT_ID_PATTERN = r"(?!\.+$)[A-Za-z0-9._:@-]{1,128}"
# The places that list agents; each interface names its own.
LISTED = "GET /v1/agents and `memci agents list` list those there are"
# Advice for names in other scripts.
ANOTHER_SCRIPT = "for a name in another script choose an id of these, such as zhang-san or user-17"
_AGENT_ID = re.compile(AGENT_ID_PATTERN)


def check_agent_id(agent_id: object) -> str:
    """Return the id, or raise ``InvalidInputError``.

    Ids become queue names and URL paths: no slash, no blank, and not dots alone.
    """
    if isinstance(agent_id, str) and _AGENT_ID.fullmatch(agent_id):
        return agent_id
    raise InvalidInputError(
        "agent_id: expected 1 to 128 of the characters A-Z a-z 0-9 . _ : @ -, not dots alone; "
        f"{ANOTHER_SCRIPT}",
        field="agent_id",
    )


def no_agent(agent_id: str) -> NotFoundError:
    """Return the error for an unknown agent (M1)."""
    return NotFoundError(
        f"there is no agent {agent_id}: one exists from its first message on; {LISTED}"
    )
