"""Documents and their chunks (R9).

Every function takes an owner: an agent's id, or ``collection/NAME``. Nobody writes an owner's rows
without its lane locked, so counters and ids are right however many write.
"""
