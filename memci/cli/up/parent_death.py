"""Runs a command that ends when the process that started it ends.

``python -m memci.cli.up.parent_death PARENT_PID COMMAND…``. It imports nothing of memci, and leaves
the command line as it was given.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_GONE = 143


def end_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when the thread that started it ends.

    SIGKILL loses nothing, since leases run out, and leaves no process behind.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        sys.exit(_GONE)


def main() -> None:
    """Ask the kernel, then turn into the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    end_with_parent(parent)
    os.execvp(command[0], command)  # noqa: S606 - a command of the table of parts


if __name__ == "__main__":
    main()
