"""The environment of the parts: addresses and secrets go there, never on a command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from memci.cli.up.addresses import Addresses


def part_environment(
    *, database_url: str, broker_url: str, flower_password: str, addresses: Addresses
) -> Mapping[str, str]:
    """Return the environment of every part: ours, and what we know better."""
    here = str(Path(sys.executable).parent)
    return {
        **os.environ,
        # `python` and `celery` are those that run us.
        "PATH": os.pathsep.join([here, os.environ.get("PATH", os.defpath)]),
        "PYTHONUNBUFFERED": "1",
        "MEMCI_DATABASE_URL": database_url,
        "MEMCI_BROKER_URL": broker_url,
        "MEMCI_FLOWER_PASSWORD": flower_password,
        "MEMCI_PORT": str(addresses.port),
        "MEMCI_FLOWER_PORT": str(addresses.flower_port),
    }
