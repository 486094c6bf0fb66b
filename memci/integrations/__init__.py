"""memci for agent frameworks; each needs an extra of its name."""
