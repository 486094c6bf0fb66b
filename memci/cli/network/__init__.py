"""Networks on paper: as trees, as DOT, live, and as plots."""
