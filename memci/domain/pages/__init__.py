"""The page tree: the content of an agent's context window (page-tree.md)."""
