"""Private files and folders, sockets and free ports; the account that servers run as.

A plain user's servers run as that user. Root's run in a user namespace, where root's files look
like nobody's, so that no owner or mode has to change. Where namespaces are forbidden, they run
as nobody, with their files in a folder that nobody can access.
"""

import functools
import os
import random
import secrets
import shutil
import socket
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_NOBODY = 65534
_UNSHARE = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}")


@dataclass(frozen=True, slots=True)
class Account:
    """The account that runs the servers, and how a command is run as it."""

    prefix: tuple[str, ...] = ()  # goes before the command
    uid: int | None = None  # of the owner of files, to switch to; None: no change
    homes: Path | None = None  # the only folder that the account can use; None: any folder

    def own(self, path: Path) -> None:
        """Make the account the owner of a file or folder that we just created."""
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


# sun_path holds 108 bytes with its end mark; PostgreSQL adds "/.s.PGSQL.<port>", at most 16.
_LONGEST_SOCKET_FOLDER = 107 - 16

# Below the ports that Linux hands to outgoing connections: while a server is down, a client
# that keeps trying such a port can end up connected to itself, and keep the port.
_PORTS = range(20_000, 32_000)

_LOG_LIMIT_BYTES = 10 * 1024 * 1024


def private_folder(path: Path, account: Account) -> Path:
    """Make a folder of mode 0700 unless it exists; what exists keeps its mode."""
    if not path.is_dir():
        path.mkdir(mode=0o700)
        account.own(path)
    return path


def write_private(path: Path, content: str, account: Account) -> None:
    """Write a file of mode 0600 in one step: readers see the old content or the new one."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600, exist_ok=False)
    with fresh.open("w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    account.own(fresh)
    fresh.replace(path)


def new_password() -> str:
    """Return 192 random bits, in characters that never need quoting."""
    return secrets.token_urlsafe(24)


def make_socket_folder(home: Path, account: Account) -> Path:
    """Return the folder for the sockets of the server in ``home``, created if necessary.

    It is ``home/run``; where that path is too long for a socket, ``home/run`` is a link to a
    private folder in the system's temporary folder.
    """
    existing = socket_folder(home, account)
    if existing:
        return existing
    link = home / "run"
    link.unlink(missing_ok=True)  # the folder that it links to is gone, or not ours
    if len(os.fsencode(link)) <= _LONGEST_SOCKET_FOLDER:
        return private_folder(link, account)
    folder = Path(tempfile.mkdtemp(prefix="memci-"))
    account.own(folder)
    link.symlink_to(folder)
    return folder


def socket_folder(home: Path, account: Account) -> Path | None:
    """Return the folder for sockets if it exists and only its owner can access it."""
    link = home / "run"
    try:
        folder = link.readlink() if link.is_symlink() else link
        state = folder.lstat()
    except OSError:
        return None
    owner = os.geteuid() if account.uid is None else account.uid
    private = stat.S_ISDIR(state.st_mode) and stat.S_IMODE(state.st_mode) == stat.S_IRWXU
    return folder if private and state.st_uid == owner else None


def remove_socket_folder(home: Path) -> None:
    """Remove the folder for sockets, wherever it is."""
    link = home / "run"
    if link.is_symlink():
        shutil.rmtree(link.readlink(), ignore_errors=True)
        link.unlink()


def port_is_free(port: int) -> bool:
    """Return True if a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return an unused port of 127.0.0.1."""
    candidates = random.sample(_PORTS, k=len(_PORTS))
    return next(port for port in candidates if port_is_free(port))


def open_log(path: Path, account: Account) -> int:
    """Open a log for appending and return its descriptor; a large one is renamed before."""
    if path.exists() and path.stat().st_size > _LOG_LIMIT_BYTES:
        path.replace(path.with_suffix(".old.log"))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    account.own(path)
    return descriptor


def read_from(path: Path, start: int) -> str:
    """Return the text of a log from this byte on."""
    if not path.exists():
        return ""
    with path.open("rb") as log:
        log.seek(start)
        return log.read().decode("utf-8", errors="replace")
