"""Queries of reads; ``memci.domain`` decides what to do with the results."""
