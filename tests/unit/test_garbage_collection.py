"""The tuned garbage collector skips loaded objects."""

from __future__ import annotations

import subprocess
import sys

_SERVES = """
import gc
from memci.runtime import tune_garbage_collection

class Ring:
    pass

often, loaded = gc.get_threshold()[0], len(gc.get_objects())
tune_garbage_collection()
ring = Ring()
ring.itself = ring
del ring
print(gc.get_threshold()[0] > often, len(gc.get_objects()) < loaded / 10, gc.collect() > 0)
"""


def test_loaded_objects_are_skipped_and_new_ones_are_collected() -> None:
    serving = [sys.executable, "-c", _SERVES]
    ran = subprocess.run(serving, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "True", "True"]
