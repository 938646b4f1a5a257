"""``show`` and ``plot --miss-curve`` of a kept measurement."""

from dataclasses import replace

import pytest
from core_inputs import MACHINE, MEASUREMENT

from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.kept.archive import Archive

CURVE = MissCurve(
    line_bytes=64,
    capacities_bytes=(64, 4096, 8192),
    read_bytes=(10**9, 10**9, 10**6),
    write_bytes=(0, 0, 0),
    pending_bytes=(0, 0, 0),
)


@pytest.fixture
def kept(cli):
    """Keep a machine (1), a measurement with a miss curve (2) and one without (3)."""
    curved = replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, miss_curve=CURVE))
    with Archive(cli.archive) as archive:
        machine_id = archive.keep_machine(MACHINE)
        return [archive.keep_measurement(one, machine_id) for one in (curved, MEASUREMENT)]


def test_show_ends_with_the_miss_curve_of_a_measurement_that_has_one(cli, kept):
    """Below the roofline; without a curve there is no such plot."""
    _, with_one, _ = cli("show", kept[0])
    _, without, _ = cli("show", kept[1])

    assert "Size of the cache" in with_one
    assert "Size of the cache" not in without


def test_plot_draws_the_miss_curve_on_the_terminal(cli, kept):
    """Instead of the roofline."""
    status, out, _ = cli("plot", "--miss-curve", kept[0])

    assert status == 0
    assert "working set: 8 KiB (999 MB less memory traffic once it fits)" in out
    assert "flop/byte" not in out


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_plot_writes_the_miss_curve_to_a_file(cli, kept, ending, begins):
    """In the format of its ending, and nothing on the terminal."""
    path = cli.folder / f"curve.{ending}"
    status, out, _ = cli("plot", "--miss-curve", kept[0], "-o", path)

    assert (status, out) == (0, "")
    assert path.read_bytes().startswith(begins)


def test_a_measurement_without_a_miss_curve_is_refused_with_a_remedy(cli, kept):
    """One line that says how to get one."""
    status, _, err = cli("plot", "--miss-curve", kept[1])

    assert status == 2
    assert "measured without one" in err
    assert "ridgepoint run --miss-curve" in err
    assert err.count("\n") == 1


def test_miss_curves_of_two_measurements_are_not_drawn_together(cli, kept):
    """Nor is that of a machine."""
    for numbers in ((kept[0], kept[0]), (1,)):
        status, _, err = cli("plot", "--miss-curve", *numbers)

        assert status == 2
        assert "draws a single measurement" in err
