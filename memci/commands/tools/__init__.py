"""Tools of agents and developers: what they ask is checked and done in one place (P15, R20)."""
