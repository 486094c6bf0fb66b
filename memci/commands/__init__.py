"""What people ask of an agent's lane, one verb a file: a short transaction, no lease, no model."""
