"""Caches: their capacity, and the reuse of data by programs."""
