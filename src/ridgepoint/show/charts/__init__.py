"""A maker for each picture."""
