"""A maker for each table."""
