"""The meter that tests are written with."""

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts
from ridgepoint.host.run import Run
from ridgepoint.meters.scripted import ScriptedMeter


def test_a_scripted_meter_runs_the_command_and_returns_what_it_was_given():
    """The command is launched unwrapped, once, and the counts are the very ones given."""
    counts = Counts(
        instructions=1, branches=0, loads=0, stores=0, load_bytes=0, store_bytes=0, flop=()
    )
    counted = Counted(meter="scripted", counts=counts, traffic=())
    launched = []

    def launch(command):
        launched.append(tuple(command))
        return Run(exit_status=0, wall_s=1.0, cpu_s=1.0)

    meter = ScriptedMeter(counted)
    result = meter.count(["prog", "arg"], launch=launch, caches=())
    assert result is counted
    assert launched == meter.commands == [("prog", "arg")]
    assert meter.why_unavailable() is None
