"""The JSON shapes of the surface: what HTTP, Celery messages, client and CLI send and answer."""
