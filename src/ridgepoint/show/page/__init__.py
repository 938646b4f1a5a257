"""The page: one HTML file that shows records in every way, without a server or a network."""
