"""What all meters that simulate caches share: which they simulate, and what to doubt in them."""
