"""Erasing for good (M25): what is condemned, how each table gives it up, what refuses it later."""
