"""Where the texts of notes are kept: one port, four stores (P14)."""
