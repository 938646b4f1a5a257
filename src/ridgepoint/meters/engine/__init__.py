"""The counting engine: a Valgrind tool of our own, built at first use."""
