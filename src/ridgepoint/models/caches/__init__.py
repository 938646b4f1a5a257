"""What caches keep: their capacity, and what programs reuse."""
