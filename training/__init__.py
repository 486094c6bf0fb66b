"""Trains the ranking model of memci: not part of the package."""
