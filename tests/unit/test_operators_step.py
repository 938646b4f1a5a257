"""Recorded programs as steps of distributed training, against steps of known formulas."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept_records import document
from placed_operators import UNKNOWN, asked, operator, profile_of

from ridgepoint.demands.operators.division import Division
from ridgepoint.demands.operators.step import model_step
from ridgepoint.demands.training import ALL_REDUCES, TrainingStep
from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.training import TransformerStep
from ridgepoint.models.derived import with_network
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.sweep import sweep
from ridgepoint.models.ridgeline.trajectories import training_trajectories
from ridgepoint.published.machines import load


def product(rows, inner, columns, **more):
    """Return a matrix product in fp32 that reads both factors and writes the result."""
    return operator(
        asked(
            2.0 * rows * inner * columns,
            read=4.0 * (rows * inner + inner * columns),
            write=4.0 * rows * columns,
            kind="matrix product",
        ),
        name="aten.mm",
        **more,
    )


def perceptron(layers, batch):
    """Return a recorded training step of a perceptron: three products for each layer."""
    operators, weights = [], 0
    for at, (a, b) in enumerate(itertools.pairwise(layers)):
        operators += [
            product(batch, a, b, module=f"{at}"),
            product(batch, b, a, module=f"{at}", phase="backward"),
            product(a, batch, b, module=f"{at}", phase="backward"),
        ]
        weights += a * b
    return profile_of(*operators, gradient_bytes=4.0 * weights)


@pytest.mark.parametrize("algorithm", ALL_REDUCES)
@pytest.mark.parametrize("strong", [False, True])
def test_a_recorded_perceptron_is_the_perceptron_of_the_formulas(algorithm, strong):
    """Recorded with two batches, it has the demand of any batch on any number of nodes."""
    layers = (64, 128, 32)
    recorded = model_step({size: perceptron(layers, size) for size in (2, 16)}, algorithm=algorithm)
    formula = TrainingStep(layers=layers, convention="three-gemms", algorithm=algorithm)
    over = {"batch": np.array([[1], [16], [1000]]), "nodes": np.array([1, 2, 7]), "strong": strong}

    found, expected = (step.demand(**over).amounts for step in (recorded, formula))
    for name in ("fp32", "dram", "network"):
        np.testing.assert_allclose(*(np.broadcast_to(x[name], (3, 3)) for x in (found, expected)))
    assert (recorded.precision, recorded.algorithm) == ("fp32", algorithm)


def test_ridgeline_and_sweep_take_a_recorded_step():
    """They find the same limits and the same fastest designs as of the formulas' step."""
    layers = (4096, 4096)
    recorded = model_step({size: perceptron(layers, size) for size in (32, 512)})
    formula = TrainingStep(layers=layers, convention="three-gemms")
    node = load("cascade-lake")
    ridgeline = Ridgeline(machines=(node,), work="fp32")

    placed = [
        training_trajectories(ridgeline, step, batch=(32, 256, 512), nodes=(4,))[0].placed
        for step in (recorded, formula)
    ]
    assert list(placed[0].limiter) == list(placed[1].limiter)
    machines = [node, with_network(node, 50e9)]
    fronts = [
        sweep(machines, [step], nodes=[1, 2, 4], batch=[256, 4096], strong=True)
        for step in (recorded, formula)
    ]
    np.testing.assert_allclose(*(front.step_s for front in fronts))


def test_one_recorded_batch_is_known_and_no_other():
    """Nothing says how its bytes grow: the weights do not."""
    step = model_step(perceptron((8, 4), 16), batch=16)

    assert step.demand(batch=16, nodes=1).amounts["fp32"] == 6 * 8 * 4 * 16
    with pytest.raises(ValueError, match="recorded with 16 samples alone"):
        step.demand(batch=[16, 32], nodes=1)


def test_amounts_on_no_straight_line_are_refused():
    """As those of a program whose work grows with the square of its batch."""
    squares = {size: profile_of(operator(asked(1000.0 * size**2))) for size in (1, 2, 3)}
    swapped = {2: perceptron((8, 4), 16), 16: perceptron((8, 4), 2)}

    with pytest.raises(ValueError, match="not grow in a straight line"):
        model_step(squares, gradient_bytes=0)
    with pytest.raises(ValueError, match="against the batch"):
        model_step(swapped)


@given(
    fixed=st.floats(0, 1e12),
    growth=st.floats(0, 1e9),
    sizes=st.lists(st.integers(1, 512), min_size=2, max_size=4, unique=True),
    batch=st.integers(1, 4096),
)
def test_any_straight_line_is_found_again(fixed, growth, sizes, batch):
    """From any two batches or more."""
    step = model_step(
        {n: profile_of(operator(asked(1 + growth * n, read=fixed))) for n in sizes},
        gradient_bytes=0,
    )

    amounts = step.demand(batch=batch, nodes=3).amounts
    assert amounts["fp32"] == pytest.approx(1 + growth * batch, rel=1e-6, abs=1e-3)
    assert amounts["dram"] == pytest.approx(fixed, rel=1e-6, abs=1e-3)
    assert amounts["network"] == 0


def test_what_is_left_out_is_named():
    """Unknown operators by their share of the time; integer work beside that in flop."""
    profile = profile_of(
        operator(asked({"fp32": 5.0, "int64": 7.0}), time_s=3.0), operator(UNKNOWN, time_s=1.0)
    )
    step = model_step(profile, batch=1, gradient_bytes=0)

    assert step.left_out == {"unknown": 0.25, "int64": 1.0}
    assert step.resources == ("dram", "network", "fp32")
    with pytest.raises(ValueError, match="no work of net is left without fp32"):
        step.without("fp32")


def test_fused_it_reads_what_was_there_before_once():
    """And nothing else; unknown stays unknown."""
    operators = operator(asked(5.0, read=100.0, write=50.0))

    fused = model_step(
        profile_of(operators, outer_bytes=30.0), batch=1, gradient_bytes=0, memory="outer"
    )
    assert fused.demand(batch=1).amounts["dram"] == 30.0
    with pytest.raises(ValueError, match="are not known: use memory='operators'"):
        model_step(profile_of(operators), batch=1, gradient_bytes=0, memory="outer")


def test_divided_blocks_add_up_their_outputs_in_both_passes():
    """Four devices: a quarter of the blocks, all of the rest, and two all-reduces of 400 byte."""
    block = product(10, 4, 10, module="block.down")
    profile = profile_of(
        block,
        operator(asked(8.0), module="norm"),
        product(10, 10, 4, module="block.down", phase="backward"),
        gradient_bytes=160.0,
    )
    object.__setattr__(block.call.outputs[0], "nbytes", 400)
    division = Division(devices=4, modules=("block*",), summed=("block.down",))

    step = model_step(profile, batch=10, division=division)
    amounts = step.demand(batch=10, nodes=2).amounts
    assert amounts["fp32"] == 8 + 2 * 800 / 4
    assert step.gradient_bytes == 40
    assert amounts["network"] == 2 * 400 * 2 * 3 / 4 + 40
    with pytest.raises(ValueError, match=r"no operator of net is in a module 'blocks\*'"):
        model_step(profile, batch=10, division=Division(devices=2, modules=("blocks*",)))


@pytest.mark.parametrize("batch", [1, 8, 100, 10_000_000])
def test_a_recorded_transformer_agrees_with_one_by_its_dimensions(batch):
    """PyTorch's operators, and the formulas of a transformer, which leave out norms and the like.

    Gradients agree to the byte. Work and bytes that were recorded are more, by as much as that.
    """
    recorded = model_step({size: document(f"step-{size}") for size in (2, 8)})
    model = Transformer(
        layers=2, width=256, heads=4, feed_forward=1024, vocabulary=1000, positions=64,
        gated=False, biases="all",
    )  # fmt: skip
    formula = TransformerStep(model=model, sequence=64, precision="fp32", activations="operators")

    found, expected = (step.demand(batch=batch, nodes=4) for step in (recorded, formula))
    assert recorded.gradient_bytes == formula.gradient_bytes
    assert found.amounts["network"] == expected.amounts["network"]
    assert 1 <= found.amounts["fp32"] / expected.amounts["fp32"] < 1.01
    assert 1 <= found.amount("dram") / expected.amount("dram") < 1.03


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": None}, "batch must say"),
        ({"batch": 0}, "batch must be a whole number > 0, got 0"),
        ({"batch": 1, "gradient_bytes": None}, "give gradient_bytes"),
        ({"batch": 1, "gradient_bytes": float("nan")}, "must be finite"),
        ({"batch": 1, "memory": "l2"}, "memory must be one of operators, outer"),
        ({"batch": 1, "algorithm": "star"}, "algorithm must be one of"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    """Each in one sentence."""
    with pytest.raises(ValueError, match=message):
        model_step(profile_of(operator(asked(1.0))), **{"gradient_bytes": 0.0} | arguments)
