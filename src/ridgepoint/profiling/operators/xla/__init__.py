"""Operators of jitted functions of JAX: the kernels that XLA compiled."""
