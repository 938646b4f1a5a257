"""Operators of functions of arrays: of NumPy, and of libraries that follow the array API."""
