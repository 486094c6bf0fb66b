"""``python -m memci.cli``: the same as ``memci``."""

from memci.cli import main

main()
