"""The page tree: what stands in an agent's context window (page-tree.md).

What agents and developers do with pages (P4) is in ``making``, ``moving`` and ``opening``: each
operation checks first, then changes, or raises. It changes the tree alone, without looking at
messages, and returns the page that it was about.
"""
