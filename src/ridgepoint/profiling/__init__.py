"""Measure the time, work and traffic of a program, a call or a region."""
