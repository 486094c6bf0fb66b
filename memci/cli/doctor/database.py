"""Is there a database, may we work in it, and is it of this release."""

from __future__ import annotations

from collections.abc import Iterator

from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.errors import ConfigurationError, DatabaseUnavailableError
from memci.storage.diagnosis import DatabaseState, database_state

_OLDEST = 160000  # GRANT … WITH SET, pgvector's halfvec
_UPGRADE = "run `memci db upgrade`"


def check_database(url: str) -> Iterator[Finding]:
    """Look at the database; what is found first explains what comes after."""
    try:
        state = database_state(url)
    except DatabaseUnavailableError as error:
        yield wrong(
            "database",
            str(error),
            "is it running, and do address, user and password in MEMCI_DATABASE_URL fit?",
        )
        return
    except ConfigurationError as error:
        yield wrong("database", str(error), "write MEMCI_DATABASE_URL as postgresql://…")
        return
    yield _version(state)
    yield _roles(state)
    yield _vector(state)
    yield _schema(state)


def _version(state: DatabaseState) -> Finding:
    major = state.version // 10000
    if state.version < _OLDEST:
        return wrong("database", f"PostgreSQL {major} is too old", "move to PostgreSQL 16 or later")
    if state.superuser:
        return note(
            "database",
            f"PostgreSQL {major}; the login is a superuser",
            "a login of its own, granted memci_owner, memci_app and memci_upkeep, is enough",
        )
    return ok("database", f"PostgreSQL {major} answers")


def _roles(state: DatabaseState) -> Finding:
    if state.missing_roles:
        return wrong("roles", f"missing: {', '.join(state.missing_roles)}", _UPGRADE)
    if state.forbidden_roles:
        names = ", ".join(state.forbidden_roles)
        advice = f"let an administrator run: GRANT {names} TO <login>"
        return wrong("roles", f"the login may not take on {names}", advice)
    return ok("roles", "all three are there, and the login may take them on")


def _vector(state: DatabaseState) -> Finding:
    if state.vector is None:
        advice = "let an administrator run, in this database: CREATE EXTENSION vector"
        return wrong("pgvector", "the extension vector is missing", advice)
    return ok("pgvector", f"version {state.vector}")


def _schema(state: DatabaseState) -> Finding:
    current, needed = state.revisions.current, state.revisions.needed
    if current == needed:
        return ok("migrations", f"the schema is at {current}, as this release needs it")
    at = current or "nothing yet"
    return wrong("migrations", f"the schema is at {at}, this release needs {needed}", _UPGRADE)
