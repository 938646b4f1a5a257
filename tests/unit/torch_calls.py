"""Calls of PyTorch's operators as values, for tests that make them themselves."""

from ridgepoint.core.operators import Call
from ridgepoint.profiling.operators.pytorch.arrays import Arrays, call_of


def call_made(function, arguments, options, returned) -> Call:
    """Return a call that was made of an operator, such as `torch.ops.aten.mm.default`."""
    arrays = Arrays()
    given = arrays.given(function, arguments, options)
    return call_of(given, arrays.returned(returned))
