"""Compile the programs whose HLO the tests read: ``python tests/data/hlo/programs.py`` (JAX 0.10).

Their texts differ between versions of XLA and between CPUs, and the tests state what these ask for.
"""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax


def multilayer(x, w1, w2):
    """Take two products of matrices with tanh between them, and a softmax."""
    with jax.named_scope("first"):
        h = jnp.tanh(x @ w1 + 1.0)
    with jax.named_scope("second"):
        return jax.nn.softmax(h @ w2)


def loop(x, w):
    """Run a loop of five steps, known when it is compiled."""
    return lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=5)


def until(x):
    """Run a loop whose end depends on data."""
    return lax.while_loop(
        lambda c: c[1] > 1e-3, lambda c: (c[0] * 1.5 + jnp.sin(c[0]), c[1] / 2), (x, x.sum())
    )


def branch(x, p):
    """Take a product or a sort, as the data say."""
    return lax.cond(p > 0, lambda x: x @ x, jnp.sort, x)


def convolution(x, w):
    """Take the gradients of a convolution with padding."""

    def loss(x, w):
        numbers = ("NHWC", "HWIO", "NHWC")
        out = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=numbers)
        return jax.nn.relu(out).sum()

    return jax.grad(loss, argnums=(0, 1))(x, w)


def algebra(a):
    """Call factorisations of LAPACK and a Fourier transform."""
    return jnp.linalg.cholesky(a @ a.T), jnp.linalg.solve(a, a[:, 0]), jnp.fft.fft(a)


def indexing(x, i):
    """Take rows, add to rows, replace a block, find the largest, and run sums."""
    placed = lax.dynamic_update_slice(x, x[:4, :4] + 1.0, (i[0], i[1]))
    return x[i], x.at[i].add(1.0), placed, lax.top_k(x[0], 4), jnp.cumsum(x, axis=0)


def small(x):
    """Run a loop so small that it is one kernel."""
    return lax.fori_loop(0, 7, lambda i, c: c * 1.5 + jnp.sin(c), x)


def spectrum(z):
    """Compute with complex numbers."""
    return z * z + 1.0, jnp.abs(z)


f32, i32 = jnp.float32, jnp.int32
PROGRAMS = {
    multilayer: [((256, 512), f32), ((512, 1024), f32), ((1024, 512), f32)],
    loop: [((64, 128), f32), ((128, 128), f32)],
    until: [((64, 64), f32)],
    branch: [((64, 64), f32), ((), f32)],
    convolution: [((2, 16, 16, 8), f32), ((3, 3, 8, 16), f32)],
    algebra: [((32, 32), f32)],
    indexing: [((64, 64), f32), ((8,), i32)],
    small: [((4,), f32)],
    spectrum: [((100,), jnp.complex64)],
}

if __name__ == "__main__":
    for program, inputs in PROGRAMS.items():
        shapes = [jax.ShapeDtypeStruct(*given) for given in inputs]
        text = jax.jit(program).lower(*shapes).compile().as_text()
        text = re.sub(r"\nFileNames\n.*?\n\n\n", "\n\n", text, flags=re.DOTALL)
        text = re.sub(r" (?:stack_frame_id|scheduling_name)=[\w\"]+", "", text)
        (Path(__file__).parent / f"{program.__name__}.txt").write_text(text)
