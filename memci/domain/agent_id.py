"""Agent ids."""

import re

from memci.errors import InvalidInputError, NotFoundError

# Advice for names in other scripts.
ANOTHER_SCRIPT = "for a name in another script choose an id of these, such as zhang-san or user-17"
_LONGEST = 128
AGENT_ID_PATTERN = rf"(?!\.+$)[A-Za-z0-9._:@-]{{1,{_LONGEST}}}"
# Patterns of agent ids and of collection/NAME, with commas between: * and ? as in file names.
AGENT_PATTERNS = r"^[A-Za-z0-9._:@*?/-]{1,128}(,[A-Za-z0-9._:@*?/-]{1,128})*$"
# The places that list agents; each interface names its own.
LISTED = "GET /v1/agents and `memci agents list` list those there are"


def check_agent_id(agent_id: object) -> str:
    """Return the id, or raise ``InvalidInputError``.

    Ids become queue names and URL paths: no slash, no blank, and not dots alone.
    """
    return checked_id(agent_id, "agent_id", AGENT_ID_PATTERN, _LONGEST)


def checked_id(value: object, field: str, pattern: str, longest: int) -> str:
    """Return a valid id of at most ``longest`` characters, or raise ``InvalidInputError``."""
    if isinstance(value, str) and re.fullmatch(pattern, value):
        return value
    raise InvalidInputError(
        f"{field}: expected 1 to {longest} of the characters A-Z a-z 0-9 . _ : @ -, not dots alone;"
        f" {ANOTHER_SCRIPT}",
        field=field,
    )


def no_agent(agent_id: str) -> NotFoundError:
    """Return the error for an unknown agent (M1)."""
    return NotFoundError(
        f"there is no agent {agent_id}: one exists from its first message on; {LISTED}"
    )
