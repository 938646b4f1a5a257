"""Traffic and roofs of the same caches: those of the machine that bounds."""

from dataclasses import replace

import pytest
from core_inputs import MACHINE, MEASUREMENT

from ridgepoint import measure, measure_program
from ridgepoint.core.machine import Cache
from ridgepoint.host import System
from ridgepoint.meters.scripted import ScriptedMeter


class Recording(ScriptedMeter):
    """Notes which caches it is asked to simulate."""

    def count(self, command, *, launch, caches):
        """Count as the scripted meter does."""
        self.caches = caches
        return super().count(command, launch=launch, caches=caches)


L1 = Cache(level=1, kind="data", size_bytes=1 << 14, line_bytes=64, ways=4)
L2 = replace(L1, level=2, kind="unified", size_bytes=1 << 17)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"machine": replace(MACHINE, caches=(L1,))}, (L1,)),
        ({"machine": replace(MACHINE, caches=(L1,)), "caches": (L2,)}, (L2,)),
        ({"machine": MACHINE}, System().caches),
        ({}, System().caches),
    ],
    ids=["machine", "caches", "machine without caches", "host"],
)
def test_caches_of_the_machine_that_bounds_are_simulated(options, expected, monkeypatch):
    """Of a program and of a call; caches that are given come first, this host's come last."""
    meter = Recording(MEASUREMENT.counted)
    measure_program(["true"], meter=meter, repeat=1, output="discard", **options)
    asked = []
    monkeypatch.setattr(
        "ridgepoint.profiling.calls.measure_all",
        lambda subjects, **given: [asked.append(given["caches"]) or MEASUREMENT],
    )
    measure(abs, 1, **options)

    assert tuple(meter.caches) == tuple(expected)
    assert asked == [None if "caches" not in options and expected != (L1,) else expected]
