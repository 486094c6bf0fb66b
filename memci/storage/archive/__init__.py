"""One agent as one archive: its content, how it is written and read, and its checks."""
