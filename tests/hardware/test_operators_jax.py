"""Profiles of jitted functions of JAX, which is optional."""

import numpy as np
import pytest

import ridgepoint
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.operators import operators

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

pytestmark = pytest.mark.slow

N, WIDTH, STEPS = 64, 128, 5


def work(profile) -> float:
    """Return the flop of all operators in fp32."""
    assert all(one.asked.work is not None for one in profile.operators)
    return sum(one.calls * one.asked.work.get("fp32", 0.0) for one in profile.operators)


def inputs():
    """Return data and weights."""
    random = np.random.default_rng(3)
    return tuple(random.random(shape, dtype=np.float32) for shape in ((N, WIDTH), (WIDTH, WIDTH)))


def step(x, w):
    """Multiply and squash."""
    with jax.named_scope("layer"):
        return jnp.tanh(x @ w)


def test_a_loop_is_timed_kernel_by_kernel():
    """Every kernel has a time in each run, and their sum is below that of the run."""

    @jax.jit
    def loop(x, w):
        return jax.lax.scan(lambda c, _: (step(c, w), None), x, None, length=STEPS)[0]

    profile = operators(loop, *inputs(), repetitions=3)

    products = [one for one in profile.operators if one.asked.kind == "matrix product"]
    assert [one.calls for one in products] == [STEPS]
    assert products[0].module == "layer"
    assert products[0].asked.work == {"fp32": 2 * N * WIDTH * WIDTH}
    assert all(one.time_s is not None and one.time_s.n == 3 for one in profile.operators)
    assert profile.library == f"JAX {jax.__version__}"
    assert profile.timed.runtime_s.n == 3


def test_a_loop_that_ends_as_the_data_say_is_counted_as_it_ran():
    """From 1 down to 2^-5 by halves takes five rounds, and six tests."""

    @jax.jit
    def until(x):
        return jax.lax.while_loop(
            lambda c: c[1] > 2.0**-5, lambda c: (jnp.sin(c[0]) + 1, c[1] / 2), (x, x[0, 0])
        )

    profile = operators(until, np.ones((300, 300), np.float32), repetitions=3)

    sines = [one for one in profile.operators if one.asked.functions]
    assert [one.calls for one in sines] == [5]
    assert sines[0].asked.functions == 300 * 300
    assert any("data" in caution.seen for caution in profile.cautions)


def test_only_the_branch_that_ran_is_an_operator():
    """The product runs, and the sort does not."""

    @jax.jit
    def branch(x, p):
        return jax.lax.cond(p > 0, lambda x: x @ x, jnp.sort, x)

    profile = operators(branch, inputs()[1], np.float32(1), repetitions=3)

    kinds = {one.asked.kind for one in profile.operators}
    assert "matrix product" in kinds
    assert "sort" not in kinds


def test_gradients_have_a_backward_phase():
    """Two products more, for the gradients by both factors."""
    profile = operators(jax.jit(step), *inputs(), backward="sum", repetitions=3)

    products = [one for one in profile.operators if one.asked.kind == "matrix product"]
    assert sorted(one.phase for one in products) == ["backward", "backward", "forward"]
    assert sum(one.asked.work["fp32"] for one in products) == 3 * 2 * N * WIDTH * WIDTH


def test_vmap_and_double_precision():
    """A batch of products in fp64."""
    x, w = (one.astype(np.float64) for one in inputs())
    with jax.enable_x64(True):
        batched = jax.jit(jax.vmap(lambda a: jnp.matmul(a, w)))
        profile = operators(batched, np.stack([x, x, x]), repetitions=3)

    total = sum(one.calls * one.asked.work.get("fp64", 0) for one in profile.operators)
    assert total == pytest.approx(3 * 2 * N * WIDTH * WIDTH)


def test_donated_inputs_are_copied_before_each_run():
    """The caller's array still has its data afterwards."""
    x = jnp.asarray(inputs()[0])
    double = jax.jit(lambda x: x * 2 + 1, donate_argnums=0)

    profile = operators(double, x, repetitions=3)

    assert not x.is_deleted()
    assert work(profile) == 2 * N * WIDTH


def test_static_arguments_compiled_programs_and_one_device_maps():
    """Whatever JAX compiles before it runs."""
    x, w = inputs()
    scaled = jax.jit(lambda x, n: x * n, static_argnums=1, donate_argnums=0)
    compiled = jax.jit(lambda x, w: x @ w).lower(x, w).compile()
    mapped = jax.pmap(lambda x: jax.lax.psum(x + 1, "i"), axis_name="i")

    assert work(operators(scaled, jnp.asarray(x), 3, repetitions=2)) == N * WIDTH
    assert work(operators(compiled, x, w, repetitions=2)) == 2 * N * WIDTH * WIDTH
    assert work(operators(mapped, x[None], repetitions=2)) == N * WIDTH


def test_what_xla_says_stands_beside():
    """XLA's own analysis of a product: the same flop."""
    profile = operators(jax.jit(lambda x, w: x @ w), *inputs(), repetitions=3)

    assert profile.library_says["flop"] == work(profile) == 2 * N * WIDTH * WIDTH


@pytest.mark.parametrize(
    ("function", "options", "why"),
    [
        (lambda x, w: x @ w, {}, "not jitted"),
        ("step", {"optimizer": "adam"}, "optimizer"),
        ("bad", {}, "TypeError"),
    ],
)
def test_what_cannot_be_profiled_says_why(function, options, why):
    """One clear reason."""
    jitted = {"step": jax.jit(step), "bad": jax.jit(lambda x, w: x @ w.T[:3])}
    given = jitted.get(function, function) if isinstance(function, str) else function

    with pytest.raises(CannotMeasure, match=why):
        operators(given, *(jnp.asarray(one) for one in inputs()), **options)


def test_summary_and_picture_can_be_had():
    """As of any measurement."""
    profile = ridgepoint.operators(jax.jit(step), *inputs(), repetitions=3)

    assert "fusion (dot 1)" in profile.summary()
