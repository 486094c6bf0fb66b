"""Settings for commands: names that are none are told on stderr, beside what the command says."""

from __future__ import annotations

import sys
from typing import Any

from memci.cli.output import printable
from memci.config import Settings, load_settings
from memci.misspelt import misspelt_settings


def read_settings(**values: Any) -> Settings:
    """Read the settings, or raise ``ConfigurationError``; warn of misspelt ones."""
    settings = load_settings(**values)
    for each in misspelt_settings():
        sys.stderr.write(printable(f"memci: warning: {each}") + "\n")
    return settings
