"""Operators of PyTorch: calls as they are dispatched, times by its own profiler."""
