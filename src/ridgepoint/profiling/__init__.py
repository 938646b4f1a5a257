"""Measure what a program, a call or a region of one takes and does."""
