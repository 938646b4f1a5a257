"""Calls that are counted in this process, with a scripted kernel on files of a Sapphire Rapids."""

import errno
from dataclasses import dataclass, field, replace

import numpy as np
import perf_host
import pytest

import ridgepoint
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.perf.calibration import Known
from ridgepoint.profiling.calls import measure_all, subject
from ridgepoint.profiling.calls.hardware import choose

# type and configuration word, by hand: umask in bits 8-15, event in bits 0-7
PACKED_512_DOUBLE, INSTRUCTIONS = (4, 0x40C7), (4, 0x00C0)
READS, WRITES, PACKAGE_ENERGY = (30, 0xCF05), (30, 0xF005), (20, 2)


class Calls:
    """How often the function was called."""

    made = 0


def call(*arrays):
    """Do nothing but to be counted."""
    Calls.made += 1


@dataclass
class CallCounter(perf_host.ScriptedKernel):
    """Counts for each call what it was told."""

    before: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)

    def enable(self, fd):
        """Note where it begins."""
        super().enable(fd)
        self.before[fd] = Calls.made

    def disable(self, fd):
        """Note where it ends."""
        super().disable(fd)
        self.calls[fd] = Calls.made - self.before[fd]

    def read(self, fd):
        """Return what all calls did."""
        one = super().read(fd)
        leader = max(each for each in self.calls if each <= fd)
        return replace(one, count=one.count * self.calls[leader])


@pytest.fixture
def meter(tmp_path):
    """Return a meter for which each call does 800 flop, and moves 640 and 64 byte."""

    def made(**more):
        kernel = CallCounter(
            counts={
                PACKED_512_DOUBLE: 100,
                INSTRUCTIONS: 5000,
                READS: 5,
                (31, READS[1]): 5,
                WRITES: 1,
                PACKAGE_ENERGY: 2**32,
            },
            **more,
        )
        return PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel)

    return made


@pytest.mark.parametrize("state", ["warm", "cold"])
def test_counts_are_those_of_one_call(meter, state, monkeypatch):
    """However many were made; the traffic is read from both channels, on both sockets."""
    monkeypatch.setattr("ridgepoint.profiling.calls.loops.THRESHOLD_CYCLES", 1e6)
    made = ridgepoint.measure(
        call, np.ones(1 << 17), state=state, meter=meter(), repetitions=6, memory_bytes=1 << 30
    )
    (traffic,) = made.counted.traffic

    assert made.counted.meter.startswith("perf (Sapphire Rapids")
    assert made.counted.counts.work == {"fp64": 800}
    assert made.counted.counts.instructions == 5000
    assert (traffic.read_bytes, traffic.write_bytes) == (10 * 2 * 64, 1 * 2 * 64)
    assert made.protocol.counted_calls % made.protocol.replicas == 0
    assert made.counted.energy_j == {"pkg": pytest.approx(2 * 2**32 * 2.0**-32, rel=1e-12)}


def test_every_event_is_closed(meter):
    """Also where the function raises while it is counted."""
    meter = meter()
    seen = []

    def fails():
        seen.append(len(meter.kernel.open_now))
        if meter.kernel.open_now:
            raise ZeroDivisionError("now")

    with pytest.raises(CannotMeasure, match="it raised ZeroDivisionError when it was counted: now"):
        ridgepoint.measure(fails, meter=meter)
    assert any(seen)
    assert meter.kernel.open_now == {}


def test_one_that_cannot_be_counted_stops_no_other(meter):
    """Counters that another program uses."""
    results = measure_all([subject(call), subject(call)], meter=meter(shares={4: 0.6}))

    assert [type(each) for each in results] == [CannotMeasure] * 2
    assert "only 60.0% of the time" in str(results[0])


def test_counters_that_are_refused_are_refused_before_anything_is_timed(meter):
    """With the reason."""
    before = Calls.made
    with pytest.raises(MeterUnavailable, match="another program uses the PMU"):
        ridgepoint.measure(call, meter=meter(refusals={(4, None): errno.EBUSY}))
    assert Calls.made == before


def test_known_kernels_refuse_what_the_cpu_counts_wrongly(meter, monkeypatch):
    """Once for all calls that are measured together."""
    asked = []

    def known_work(session):
        asked.append(session)
        return [Known(kernel="fma fp64", metric="fp64", expected=1000, counted=500)]

    monkeypatch.setattr("ridgepoint.meters.perf.known_kernels.known_work", known_work)
    verifying = PerfMeter(host=meter().host, kernel=meter().kernel, verify=True)
    results = measure_all([subject(call), subject(call)], meter=verifying)

    assert len(asked) == 1
    assert "counts 0.5 times" in str(results[1])


@pytest.mark.valgrind
def test_an_engine_counts_where_there_are_no_counters(tmp_path, monkeypatch):
    """And says why."""
    bare = PerfMeter(host=perf_host.host(tmp_path, {}), kernel=perf_host.ScriptedKernel())
    monkeypatch.setattr("ridgepoint.meters.perf.PerfMeter", lambda verify: bare)
    choice = choose("auto")

    assert (choice.perf, choice.engine) == (None, None)
    (chosen,) = choice.cautions
    assert chosen.code == "meter-chosen"
    assert "no performance-monitoring unit" in chosen.seen


def test_unknown_meters_are_refused():
    """By name."""
    with pytest.raises(ValueError, match="meter must be"):
        ridgepoint.measure(call, meter="callgrind")
