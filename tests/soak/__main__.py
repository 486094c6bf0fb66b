"""``python -m tests.soak``: runs memci under load while it is broken, and checks its laws."""

from __future__ import annotations

import sys

from tests.soak.run import main

sys.exit(main())
