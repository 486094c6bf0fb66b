"""An OpenAI-compatible chat proxy with memory; clients only change their base URL."""
