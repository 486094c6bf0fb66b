"""The page tree: what stands in an agent's context window (page-tree.md)."""
