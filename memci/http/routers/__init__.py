"""Endpoints, by subject."""
