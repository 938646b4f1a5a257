"""Calls of array libraries as values, for tests of what they ask for."""

import math
import re

from ridgepoint.core.operators import Call, Tensor


def tensor(*shape: int, dtype: str = "fp32", key: int = 0, start: int = 0) -> Tensor:
    """Return an array without gaps."""
    bits = 8 if dtype == "bool" else int(re.findall(r"\d+", dtype)[0])
    strides = tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))
    return Tensor(
        shape=shape,
        dtype=dtype,
        nbytes=math.prod(shape) * bits // 8,
        key=key,
        strides=strides,
        start=start,
    )


def call(name: str, *arguments: object, out: object = (), overload: str = "", **options) -> Call:
    """Return a call with one result or several."""
    outputs = out if isinstance(out, tuple) else (out,)
    return Call(name=name, arguments=arguments, options=options, outputs=outputs, overload=overload)
