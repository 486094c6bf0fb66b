"""Which files `memci index` sends, and which documents it removes."""
