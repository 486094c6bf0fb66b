"""``memci up``: everything in one terminal, started, watched, started again, and stopped."""
