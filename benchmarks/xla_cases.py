"""Programs of JAX whose work XLA's own analysis states, ours states, and the engines count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

N = 256


@dataclass(frozen=True)
class Case:
    """A program and the shapes of its inputs.

    Parameters
    ----------
    function : callable
    inputs : tuple of tuple
        Shape and type of each.
    why : str
        Why XLA says otherwise, where it does.
    """

    function: Callable[..., object]
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    why: str = ""

    def arrays(self) -> tuple[Any, ...]:
        """Return random inputs; whole numbers are below 64, and so are never zero sized."""
        random = np.random.default_rng(7)
        return tuple(
            random.integers(0, 64, shape).astype(dtype)
            if np.dtype(dtype).kind in "iu"
            else random.random(shape).astype(dtype)
            for shape, dtype in self.inputs
        )


class Jitted:
    """Runs a case, jitted, to its end; another process finds it by name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._function: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Jitted, (self.name,)

    def __call__(self, *inputs: object) -> None:
        """Run it once."""
        if self._function is None:
            self._function = jax.jit(CASES[self.name].function)
        jax.block_until_ready(self._function(*inputs))


def _attention(q: Any, k: Any, v: Any) -> Any:
    mask = jnp.tril(jnp.ones((N, N), bool))
    scores = jnp.where(mask, q @ k.swapaxes(-1, -2) / 8.0, -jnp.inf)
    return jax.nn.softmax(scores) @ v


def _convolution(x: Any, w: Any, stride: int = 1) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=numbers)


def _gradients(x: Any, w: Any) -> Any:
    return jax.grad(lambda x, w: _convolution(x, w, 2).sum(), argnums=(0, 1))(x, w)


def _layer_norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def _until(x: Any) -> Any:
    return lax.while_loop(
        lambda c: c[1] > 1e-3, lambda c: (c[0] * 0.5 + c[0].mean(), c[1] / 2), (x, 1 + 0 * x[0, 0])
    )


def _average(x: Any) -> Any:
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")


def _largest(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


_MATRIX = ((N, N), "f4")
_MATRICES = (_MATRIX, _MATRIX)
_IMAGES = ((2, 32, 32, 16), "f4")
_INTEGERS = "arithmetic on whole numbers and comparisons count as flop"

CASES = {
    "product of matrices": Case(jnp.matmul, _MATRICES),
    "product in bf16": Case(
        lambda a, b: jnp.matmul(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16)), _MATRICES,
        "conversions count as flop",
    ),
    "batch of products": Case(jnp.matmul, (((8, 64, 64), "f4"),) * 2),
    "convolution": Case(_convolution, (_IMAGES, ((3, 3, 16, 32), "f4"))),
    "gradients of a convolution": Case(_gradients, (_IMAGES, ((3, 3, 16, 32), "f4"))),
    "softmax": Case(jax.nn.softmax, (_MATRIX,), "maxima count as flop, twice"),
    "layer norm": Case(_layer_norm, (_MATRIX,)),
    "gelu": Case(
        lambda x: jax.nn.gelu(x, approximate=False), (_MATRIX,),
        "comparisons and choices count as flop",
    ),
    "causal attention": Case(
        _attention, (((4, N, 64), "f4"),) * 3, "choosing by a mask counts as flop"
    ),
    "maximum": Case(jnp.maximum, _MATRICES, "a comparison counts as flop"),
    "additions of whole numbers": Case(
        jnp.add, (((N, N), "i4"),) * 2, "they count as flop"
    ),
    "sum of all": Case(jnp.sum, (_MATRIX,)),
    "running sums": Case(lambda x: jnp.cumsum(x, axis=1), (_MATRIX,), "padding counts as flop"),
    "average of 3 x 3": Case(_average, (_IMAGES,), "padding counts as flop"),
    "maximum of 2 x 2": Case(_largest, (_IMAGES,), "comparisons count as flop"),
    "rows taken": Case(lambda x, i: x[i], (_MATRIX, ((512,), "i4")), _INTEGERS),
    "rows added to": Case(lambda x, i: x.at[i].add(1.5), (_MATRIX, ((512,), "i4")), _INTEGERS),
    "sort": Case(lambda x: jnp.sort(x, axis=1), (_MATRIX,), "n log2 n comparisons count as flop"),
    "largest eight": Case(lambda x: lax.top_k(x, 8), (_MATRIX,), "it does not know the call"),
    "random normal": Case(
        lambda i: jax.random.normal(jax.random.key(i[0]), (N, N)), (((1,), "i4"),), _INTEGERS
    ),
    "loop of 20 steps": Case(
        lambda x, w: lax.scan(lambda c, _: (jnp.tanh(c @ w), None), x, None, length=20)[0],
        _MATRICES, "the body of a loop counts once",
    ),
    "loop of 20 steps, small": Case(
        lambda x: lax.fori_loop(0, 20, lambda i, c: c * 0.5 + 1.5, x), (((8,), "f4"),),
        "the body of a loop counts once",
    ),
    "loop until it converges": Case(_until, (_MATRIX,), "the body of a loop counts once"),
    "Fourier transform": Case(
        jnp.fft.fft, (((N, N), "c8"),), "8 n log2 n, more than twice what is executed"
    ),
    "Cholesky": Case(
        lambda a: jnp.linalg.cholesky(a @ a.T + 9 * jnp.eye(N)), (_MATRIX,),
        "calls of LAPACK count as nothing",
    ),
    "solution of equations": Case(
        lambda a, b: jnp.linalg.solve(a + 9 * jnp.eye(N), b), _MATRICES,
        "calls of LAPACK count as nothing",
    ),
    "eigenvalues": Case(
        lambda a: jnp.linalg.eigvalsh(a + a.T), (_MATRIX,), "calls of LAPACK count as nothing"
    ),
    "complex products": Case(
        jnp.multiply, (((N, N), "c8"),) * 2, "a complex product counts as one flop"
    ),
}  # fmt: skip
"""By the names that the table has."""
