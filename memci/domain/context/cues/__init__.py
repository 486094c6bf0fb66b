"""Turns of phrase by which sentences are told apart, language by language (R7, R12)."""
