"""Tools of agents and developers: one place that checks and runs every call (P15, R20)."""
