"""Backups of the embedded PostgreSQL, by the tools of its wheel: a dump of the whole database."""

import os
import secrets
import subprocess
from pathlib import Path

from memci.embedded import server
from memci.embedded.postgres import DATABASE, Postgres
from memci.errors import ConfigurationError, ConflictError

_HAS_TABLES = "SELECT FROM pg_tables WHERE schemaname = 'public' LIMIT 1"


def dump(postgres: Postgres, file: Path) -> None:
    """Write the state of one moment into a new file of mode 0600; memci goes on meanwhile.

    Raises ``ConflictError`` if the file exists.
    """
    if file.exists():
        raise ConflictError(f"{file} is there already: choose another name")
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    part.touch(mode=0o600, exist_ok=False)
    try:
        _run(postgres, server.pg_dump(), "--format=custom", f"--file={part}", DATABASE)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(file)
    finally:
        part.unlink(missing_ok=True)


def restore(postgres: Postgres, file: Path) -> None:
    """Load a dump into an empty database, all or nothing.

    Raises ``ConflictError`` if the database has tables.
    """
    with postgres.connect_as_superuser(DATABASE) as connection:
        if connection.execute(_HAS_TABLES).fetchone() is not None:
            raise ConflictError(
                f"there is a database in {postgres.home.parent} already: set MEMCI_DATA_DIR to a "
                "new folder, and restore into that"
            )
    _run(
        postgres, server.pg_restore(), f"--dbname={DATABASE}", "--exit-on-error",
        "--single-transaction", os.fspath(file),
    )  # fmt: skip


def _run(postgres: Postgres, tool: Path, *arguments: str) -> None:
    done = subprocess.run(
        [tool, *arguments],
        env={"PATH": os.defpath, "LC_ALL": "C", **postgres.superuser_variables()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        # The first line names the cause; later ones may quote rows.
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise ConfigurationError(f"{tool.name} failed: {said}")
