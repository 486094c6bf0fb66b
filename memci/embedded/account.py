"""As whom the servers run: PostgreSQL refuses to run as root.

A plain user's servers run as that user. Root's run in a user namespace, where root's files look
like nobody's, so that no owner or mode has to change. Where namespaces are forbidden, they run
as nobody, and live in a folder that nobody can reach.
"""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_NOBODY = 65534
_UNSHARE = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}")


@dataclass(frozen=True, slots=True)
class Account:
    """What it takes to run a command as the servers' account.

    ``prefix`` goes before the command. ``uid`` is the account to switch to, and the owner of
    the servers' files; None means to stay who we are. ``homes`` is the only folder in which
    that account can live; None means that any folder will do.
    """

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    homes: Path | None = None

    def own(self, path: Path) -> None:
        """Give the account a file or folder that we just made."""
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)


PLAIN = Account()
NAMESPACE = Account(prefix=_UNSHARE)
NOBODY = Account(uid=_NOBODY, homes=Path("/var/lib/memci"))


@functools.cache
def server_account() -> Account:
    """Choose the account for this process's servers."""
    if os.geteuid() != 0:
        return PLAIN
    return NAMESPACE if _namespaces_work() else NOBODY


def _namespaces_work() -> bool:
    try:
        trial = subprocess.run((*_UNSHARE, "true"), capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0
