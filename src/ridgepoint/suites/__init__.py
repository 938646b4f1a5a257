"""Reference programs of known work, in four suites."""
