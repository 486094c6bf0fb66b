"""Files of conversations: lists of JSON messages, JSON lines, and plain chat text."""
