from dataclasses import replace

import pytest
from figure_inputs import MACHINE
from rich.console import Console

from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.models.caches.capacity import caches_here
from ridgepoint.models.caches.capacity_fit import expected_latency
from ridgepoint.show.charts.latency import latency_chart
from ridgepoint.show.draw_mpl import save
from ridgepoint.show.tables import machine_table
from ridgepoint.show.tables.latency_table import latency_table

KIB, MIB = 1 << 10, 1 << 20
SIZES = tuple(int(24 * KIB * 2 ** (step / 2)) for step in range(30))
STATED = (
    Cache(level=1, kind="data", size_bytes=48 * KIB, line_bytes=64, ways=12),
    Cache(level=2, kind="unified", size_bytes=2 * MIB, line_bytes=64, ways=16),
    Cache(level=3, kind="unified", size_bytes=480 * MIB, line_bytes=64, ways=15, cores=2),
)


def capacity(level, size_bytes, *, threads=1, sharers=1, latency_s=1e-9):
    """Return a capacity that is known to a fifth."""
    return Capacity(
        level=level,
        threads=threads,
        size_bytes=size_bytes,
        low_bytes=round(0.8 * size_bytes),
        high_bytes=round(1.2 * size_bytes),
        sharers=sharers,
        latency_s=latency_s,
    )


def measured():
    """Return a machine that is shown 480 MiB of L3 and gets 10."""
    times = expected_latency(
        SIZES,
        capacities_bytes=[48 * KIB, 2 * MIB, 10 * MIB],
        latencies_s=[1.5e-9, 5e-9, 4e-8, 1e-7],
    )
    curve = LatencyCurve(
        threads=1,
        sizes_bytes=SIZES,
        rounds_s=tuple(tuple(float(t) * f for t in times) for f in (0.9, 1.0, 1.3)),
        huge_share=0.5,
    )
    capacities = (
        capacity(1, 48 * KIB, latency_s=1.5e-9),
        capacity(2, 2 * MIB, latency_s=5e-9),
        capacity(3, 10 * MIB, latency_s=4e-8),
    )
    caches, cautions = caches_here(STATED, capacities)
    return replace(
        MACHINE,
        caches=caches,
        stated_caches=STATED,
        capacities=capacities,
        latency_curves=(curve,),
        cautions=cautions,
    )


def text(renderable):
    """Return what a terminal of 110 columns shows."""
    console = Console(width=110, highlight=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


def test_machine_s_table_has_what_is_said_and_what_was_measured():
    """Side by side; and the caution has both numbers."""
    said = " ".join(text(machine_table.machine(measured())).split())

    assert "L3 10 MiB 480 MiB 10 MiB 40 ns" in said
    assert "(8 MiB to 12 MiB)" in said
    assert "the system says 480 MiB of L3; a program here gets 10 MiB" in said


def test_figure_has_the_curve_its_band_and_the_levels():
    """The stated size is marked where it differs; the dashed line is the model."""
    chart = latency_chart(measured())
    line, fit = (next(at for at in chart.lines if at.kind == kind) for kind in ("points", "fit"))
    at = dict(fit.places)
    size = min(at, key=lambda each: abs(each - 20 * MIB))

    assert line.low[0] == pytest.approx(0.9 * line.places[0][1])
    assert line.high[-1] == pytest.approx(1.3 * line.places[-1][1])
    levels = {level.name: level.places[0][0] for level in chart.lines if level.kind == "size"}
    assert levels == pytest.approx(
        {
            "L1 48 KiB": 48 * KIB,
            "L2 2 MiB": 2 * MIB,
            "L3 10 MiB": 10 * MIB,
            "L3 as the system reports it, 480 MiB": 480 * MIB,
        },
        rel=1e-3,
    )
    assert [area.corners[0][0] for area in chart.areas] == [
        round(0.8 * size_bytes) for size_bytes in (48 * KIB, 2 * MIB, 10 * MIB)
    ]
    # By hand: of 20 MiB, 48 KiB at 1.5 ns, to 2 MiB 5, to 10 MiB 40, and 10 MiB at 100.
    assert at[size] == pytest.approx(66.5e-9, rel=0.02)
    assert "50% of the memory lay on huge pages." in chart.notes


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_figure_is_written(tmp_path, ending):
    """The same bytes each time."""
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        save(latency_chart(measured()), path)

    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_terminal_has_a_row_for_each_size():
    """And the caches that count."""
    said = text(latency_table(measured()))

    assert said.count(" ns") >= len(SIZES)
    assert "Caches that count: L1 48 KiB, L2 2 MiB, L3 10 MiB." in said


def test_machine_without_a_curve_is_refused_with_what_to_do():
    """As published ones, and those kept by earlier versions, are."""
    with pytest.raises(RidgepointError, match="ridgepoint machine"):
        latency_chart(MACHINE)
    with pytest.raises(RidgepointError, match="ridgepoint machine"):
        latency_table(MACHINE)


def test_capacities_and_curves_are_kept():
    """A document has them, and one without them is read as before."""
    machine = measured()
    without = replace(machine, stated_caches=None, capacities=(), latency_curves=())
    document = encode(without)
    for name in (b'"stated_caches":null,', b'"capacities":[],'):
        document = document.replace(name, b"")

    assert decode(encode(machine), Machine, origin="it") == machine
    assert decode(document, Machine, origin="it") == without
