"""Webhooks: what they are sent, when, and how they are managed."""
