"""Figure values, and what draws them."""
