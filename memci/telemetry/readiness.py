"""Tells whoever started this process that it is ready, as systemd asks for it (``sd_notify``)."""

import os
import socket
from contextlib import suppress

_ADDRESS = "NOTIFY_SOCKET"


def tell_ready() -> None:
    """Send ``READY=1`` to the socket that the environment names, if it names one."""
    address = os.environ.get(_ADDRESS)
    if not address:
        return
    if address.startswith("@"):  # a name in the kernel, not in a folder
        address = "\0" + address[1:]
    # Who does not listen any more need not know.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"READY=1", address)


if __name__ == "__main__":
    tell_ready()
