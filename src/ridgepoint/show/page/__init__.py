"""The page: one HTML file that shows records in every way, without a server or a network."""

HTML_ENDINGS = (".html", ".htm")
PAGE_ENDINGS = (*HTML_ENDINGS, ".json")
"""Of files that a page is written to; to ``.json`` its document alone."""
