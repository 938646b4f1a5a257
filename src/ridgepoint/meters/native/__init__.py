"""The copying engine: counts in copies of the machine code itself, at native speed."""
