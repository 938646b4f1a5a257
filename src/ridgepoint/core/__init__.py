"""Values and the equation that they share: demand over capacity. Pure; everything may import it."""
