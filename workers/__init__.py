"""Celery workers of memci: ``celery -A workers worker -Q memci.lane`` and the like (Procfile)."""

from workers.app import app

__all__ = ["app"]
