"""Periodic duties, one file each; beat_schedule.py says when. Each may run any number of times."""
