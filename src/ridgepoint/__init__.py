"""Measure what a machine can give and what a program asks of it; bound one by the other."""

__version__ = "0.1.0"
