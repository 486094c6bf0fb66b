"""Which files `memci documents index` sends, and which documents it removes."""
