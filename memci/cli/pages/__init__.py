"""What ``memci pages`` does: operations on pages, and how they are shown."""
