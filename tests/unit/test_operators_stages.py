"""Operators as stages of a pipeline, by hand."""

import pytest
from placed_operators import MACHINE, UNKNOWN, asked, operator, profile_of

from ridgepoint.models.operators.stages import operator_stages
from ridgepoint.models.pipeline.times import stage_times

PROFILE = profile_of(
    operator(asked(400e6), module="layers.0.mlp", time_s=[1e-3, 2e-3]),
    operator(
        asked({"fp32": 200e6, "int64": 5.0}, read=10e6), module="layers.1", time_s=[4e-3, 5e-3]
    ),
    operator(asked(kind="view"), module="layers.1", time_s=[1e-4, 1e-4]),
    operator(asked(read=10e6, write=10e6, kind="copy"), module="head", time_s=[2e-3, 2e-3]),
    operator(UNKNOWN, module="head", time_s=[1e-3, 1e-3]),
    run_s=12e-3,
)


@pytest.mark.parametrize(
    ("how", "stages"),
    [
        ({}, {"layers": (600e6, 10e6, 6e-3), "head": (0, 20e6, 2e-3)}),
        (
            {"depth": 2},
            {
                "layers.0": (400e6, 0, 1.5e-3),
                "layers.1": (200e6, 10e6, 4.5e-3),
                "head": (0, 20e6, 2e-3),
            },
        ),
        ({"by": "kinds"}, {"elementwise": (600e6, 10e6, 6e-3), "copy": (0, 20e6, 2e-3)}),
        ({"by": "phases"}, {"forward": (600e6, 30e6, 8e-3)}),
    ],
)
def test_stages_have_the_sums_of_their_operators(how, stages):
    """Work in flop alone; a view and what is unknown are in no stage."""
    pipeline = operator_stages(PROFILE, **how)

    found = {s.name: (s.work, s.bytes, pytest.approx(s.time_s.median)) for s in pipeline.stages}
    assert found == stages


def test_all_other_time_is_the_hosts():
    """12 ms, of which 8 ms are in stages: the view, the unknown and what is outside."""
    assert operator_stages(PROFILE).host_time_s.median == pytest.approx(4e-3)


def test_the_models_of_pipelines_take_them():
    """1.5 ms of fp32 and 2 ms of DRAM at the roofs, in 8 ms."""
    times = stage_times(operator_stages(PROFILE), MACHINE)

    assert times.whole.time_s == pytest.approx(3.5e-3)
    assert times.time_s.sum() == pytest.approx(8e-3)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"by": "names"}, "by must be one of modules, kinds, phases"),
        ({"depth": 0}, "depth must be a whole number > 0, got 0"),
    ],
)
def test_bad_arguments_are_named(how, message):
    """With what there is to choose."""
    with pytest.raises(ValueError, match=message):
        operator_stages(PROFILE, **how)


def test_without_known_work_there_is_no_pipeline():
    """Copies have no efficiency."""
    with pytest.raises(ValueError, match="no work of net is known"):
        operator_stages(profile_of(operator(asked(read=1.0)), operator(UNKNOWN)))
