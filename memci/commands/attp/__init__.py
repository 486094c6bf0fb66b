"""ATTP: a model answers in TOML, and its Python runs in a sandbox (P15)."""
