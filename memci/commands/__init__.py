"""Commands on an agent's lane, one group a file: a short transaction, no lease, no model."""
