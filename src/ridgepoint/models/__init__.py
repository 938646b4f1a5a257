"""Pure functions of values: one equation, and each published model as a view of it."""
