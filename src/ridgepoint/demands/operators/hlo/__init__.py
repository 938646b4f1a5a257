"""What compiled programs of XLA ask for at least, instruction by instruction."""
