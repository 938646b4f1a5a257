"""Operators counted by the engines, against numbers known by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.core.operators import Asked, Call, Operator
from ridgepoint.models.operators.agreement import agreement_of
from ridgepoint.profiling.operators import operators
from ridgepoint.profiling.operators.checking import check
from ridgepoint.profiling.operators.replaying import Replay

CACHES = (
    Cache(level=1, kind="data", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=1, kind="instruction", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=2, kind="unified", size_bytes=2 << 20, line_bytes=64, ways=16),
)
N = 1 << 17


def called(name: str, overload: str = "", number: int = 0) -> Operator:
    """Return an operator that was called, without a rule."""
    return Operator(
        call=Call(name=name, overload=overload, arguments=(number,)),
        module="",
        phase="forward",
        asked=Asked(kind="elementwise", work=None, read_bytes=None, write_bytes=None),
        calls=1,
        time_s=None,
    )


def given(*arguments: Any, **options: Any) -> Any:
    """Return what makes these arguments."""

    def make() -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        return arguments, options

    return make


def test_a_replay_calls_the_function_of_its_name() -> None:
    """By a path within NumPy, with options."""
    array = np.arange(6.0).reshape(2, 3)

    assert Replay("numpy.add.reduce")((array,), {"axis": 1}).tolist() == [3.0, 12.0]  # type: ignore[attr-defined]


def test_a_replay_of_an_unknown_operator_says_so() -> None:
    """An operator that a user registered is not there in another process."""
    with pytest.raises(CannotMeasure, match="no operator of this name"):
        Replay("numpy.no_such_function")((), {})


def test_what_cannot_be_called_again_says_why() -> None:
    """Without arguments, and with arguments that fail, nothing is counted and a reason is given."""

    def fails() -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        raise ValueError("quantised")

    first, second = check([called("aten.a"), called("aten.b")], [None, fails], caches=CACHES)

    assert first.unchecked == "it cannot be called again with the arguments that it had"
    assert second.unchecked == "its arguments cannot be made again (quantised)"
    assert not first.checked
    assert not second.checked


@pytest.mark.slow
def test_numpy_calls_are_counted_as_known_by_hand() -> None:
    """A sum of two arrays: an addition, 16 B read and 8 B allocated and written per element."""
    x = np.random.default_rng(1).random((2, N))
    (found,) = check([called("numpy.add")], [given(x[0].copy(), x[1].copy())], caches=CACHES)
    warm, cold = found.checked

    assert warm.work == cold.work == {"fp64": N}
    assert cold.read_bytes == pytest.approx(24 * N, rel=0.05)
    assert cold.write_bytes == pytest.approx(8 * N, rel=0.05)


@pytest.mark.slow
def test_a_call_that_raises_does_not_stop_the_others() -> None:
    """The reason stays with the operator."""
    x = np.random.default_rng(1).random((64, 64))
    failed, found = check(
        [called("numpy.matmul", number=1), called("numpy.matmul", number=2)],
        [given(x, x[:5]), given(x, x)],
        caches=CACHES,
    )

    assert "ValueError" in failed.unchecked
    assert not failed.checked
    assert found.checked[0].work["fp64"] == pytest.approx(2 * 64**3, rel=0.01)


@pytest.mark.slow
def test_products_of_pytorch_are_counted_exactly() -> None:
    """2 m n k flop in fp32, whatever the strides, and equal calls once.

    On AMD's processors MKL multiplies each result by a scale besides, which is 1.
    """
    torch = pytest.importorskip("torch")
    a, b = torch.rand(64, 96), torch.rand(128, 96)
    first, second = check(
        [called("aten.mm", "default"), called("aten.mm", "default")],
        [given(a, b.T), None],
        caches=CACHES,
    )

    results, product = 64 * 128, 2 * 64 * 96 * 128
    assert first.checked[0].work["fp32"] in {product, product + results}
    assert second.checked == first.checked


@pytest.mark.slow
def test_functions_of_numpy_are_checked_call_by_call() -> None:
    """By ufuncs, reductions and products, as their rules state; arrays with gaps are refused."""
    rng = np.random.default_rng(2)

    def program(x: Any, y: Any) -> Any:
        return (x @ y + x).sum() + (x[:, ::2] * 2.0).max()

    profile = operators(program, rng.random((96, 96)), rng.random((96, 96)), check=True)
    found = {one.name: one for one in profile.operators}

    assert found["numpy.matmul"].checked[0].work["fp64"] == pytest.approx(2 * 96**3, rel=0.02)
    assert found["numpy.add"].checked[0].work == {"fp64": 96 * 96}
    assert "array with gaps" in found["numpy.multiply"].unchecked
    assert "operators-uncounted" in {caution.code for caution in profile.cautions}


@pytest.mark.slow
def test_rules_of_numpy_are_what_it_executes() -> None:
    """Half of a product with its own transpose, bins of values, lines between points.

    BLAS computes all of the blocks on the diagonal of such a product: 7 % more, of 96 rows.
    """
    rng = np.random.default_rng(3)
    x, z = rng.random((400, 96)), rng.random(1 << 16)
    points, places = np.linspace(0.2, 0.8, 50), rng.integers(0, 40, 1 << 16)

    def program(x: Any, z: Any, points: Any, places: Any) -> None:
        x.T @ x
        np.inner(x, x)
        np.cov(x, rowvar=False)
        np.corrcoef(x, rowvar=False)
        np.interp(z, points, points)
        np.interp(points, z[np.argsort(z)], z)
        np.histogram(z, 32)
        np.histogram(z, 32, range=(0.2, 0.4))
        np.histogram(z, points)
        np.bincount(places, weights=z)
        np.bincount(places)

    profile = operators(program, x, z, points, places, check=True, repetitions=2)
    found = [
        (one.name, one.checked[0].work.get("fp64", 0), one.asked.work.get("fp64", 0.0))
        for one in profile.operators
        if one.checked and one.asked.kind not in ("copy", "gather", "sort")
    ]

    assert len(found) == 11
    for name, counted, stated in found:
        assert counted == pytest.approx(stated, rel=0.08, abs=100), name


def test_methods_of_arrays_can_be_called_again() -> None:
    """NumPy's functions first, then methods, then what brackets call."""
    array = np.arange(6.0).reshape(2, 3)

    assert Replay("numpy.getitem")((array, 1), {}).tolist() == [3.0, 4.0, 5.0]  # type: ignore[attr-defined]
    assert Replay("numpy.astype")((array, "float32"), {}).dtype == np.float32  # type: ignore[attr-defined]


@pytest.mark.slow
def test_operators_of_a_model_are_checked() -> None:
    """Products as stated; PyTorch adds by FMA, which is twice the stated work, and a caution."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(96, 128)

    def program(x: Any) -> Any:
        return model(x) + x[:, :1]

    profile = operators(program, torch.rand(64, 96), check=True, repetitions=2)
    found = {one.name: agreement_of(one) for one in profile.operators if one.checked}

    assert found["aten.addmm"] is not None
    assert found["aten.addmm"].work == "agrees"
    assert found["aten.add"] is not None
    assert found["aten.add"].work_ratio == 2.0
    assert "aten.add (2 times as much)" in next(
        caution.seen for caution in profile.cautions if caution.code == "operators-do-more"
    )
