"""Celery workers of memci: ``celery -A workers worker -Q memci.lane`` and the like (Procfile)."""

import os

# Before numpy is loaded: its threads would compete with those of the workers, and products of small
# matrices took four times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from workers.app import app

__all__ = ["app"]
