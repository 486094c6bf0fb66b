"""Expressions of time in texts, and the days that they mean (R4, R10)."""
