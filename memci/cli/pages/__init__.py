"""What ``memci pages`` does, and how it is shown."""
