"""Queries of reads; what they find is decided about in ``memci.domain``."""
