"""One agent as one archive: what is in it, how it is read, and what is believed of it."""
