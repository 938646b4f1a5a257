"""Counts of parts, continued, are those of the whole, where the whole can be counted."""

import shutil
from dataclasses import replace

import pytest

from ridgepoint.suites.datacenter import WORKLOADS, generate, measuring
from ridgepoint.suites.datacenter.large import continued_operations, grown_to, parts

pytestmark = pytest.mark.skipif(shutil.which("clang") is None, reason="there is no clang")


@pytest.mark.parametrize(
    ("name", "size", "units", "tolerance"),
    [
        ("grep", 4_000_000, (200_000, 400_000), 0.001),
        # New words become rarer, and the map of words deeper.
        ("wordcount", 16_000_000, (2_000_000, 4_000_000), 0.02),
        # Ten runs, which are merged in the end.
        ("sort", 500_000, (50_000, 100_000), 0.02),
    ],
)
def test_counts_of_parts_are_continued_to_the_whole(
    tmp_path, monkeypatch, name, size, units, tolerance
):
    """From source, in BOPs of the measured part."""
    if WORKLOADS[name].block is not None:
        monkeypatch.setitem(WORKLOADS, name, replace(WORKLOADS[name], block=50_000))
    data = generate(WORKLOADS[name].data, tmp_path / "data", size=size)
    case = next(case for case in measuring.cases([name], data=data) if case.step == "ILP")
    blocks = () if WORKLOADS[name].block is None else ("--block", "50000")
    chosen = parts(case, tmp_path, units)
    with measuring.counting_program(case) as counting:
        first, second = (
            measuring.operations_of(part.case, counting, part.options) for part in chosen
        )
        whole = measuring.operations_of(case, counting, blocks)
    found = continued_operations(first, second, grown_to(case, chosen))

    assert found.total == pytest.approx(whole.total, rel=tolerance)
    assert found.compare == pytest.approx(whole.compare, rel=tolerance)
