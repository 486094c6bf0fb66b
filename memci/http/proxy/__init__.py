"""An OpenAI-compatible chat proxy that gives any client a memory: change its base URL, no more."""
