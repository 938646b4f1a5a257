"""``ridgepoint doctor --selftest``: what a user and a script see."""

import json
from dataclasses import replace

import pytest

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.doctor.selftest import programs
from ridgepoint.meters import Unavailable
from ridgepoint.meters.scripted import ScriptedMeter
from ridgepoint.suites.kernels.time_check import Explained

WRITE = replace(next(each for each in programs() if each.name == "write"), needs=())

# By hand: two passes over 2 MiB are 131072 stores of 32 byte, each with an addition, a decrement
# and a branch; 2 (2 + 2) + 1 around them and 4 of the frame. 4 MiB read and dirtied, of which the
# last level, 512 KiB, holds some at the end; the frame reads 2 lines.
COUNTED = Counted(
    meter="scripted 1.0",
    counts=Counts(
        instructions=4 * 131072 + 13,
        branches=131072 + 2,
        loads=1,
        stores=131072,
        load_bytes=32,
        store_bytes=4 << 20,
    ),
    traffic=(
        Traffic(
            level="dram",
            read_bytes=(4 << 20) + 128,
            write_bytes=3584 << 10,
            pending_write_bytes=512 << 10,
        ),
    ),
)


class Launchless(ScriptedMeter):
    """A scripted meter that leaves the program alone: it may be for another CPU."""

    def count(self, command, *, launch, caches):
        """Return what was given."""
        return self.counted


@pytest.fixture
def doctor(cli, monkeypatch):
    """Give the command with a meter that says what is given, of one program."""

    def run(counted, *arguments, unavailable=None, times=()):
        meter = Launchless(counted, unavailable=unavailable)
        monkeypatch.setattr("ridgepoint.doctor.selftest.default_meters", lambda report: (meter,))
        monkeypatch.setattr("ridgepoint.doctor.selftest.programs", lambda: (WRITE,))
        monkeypatch.setattr("ridgepoint.cli.doctor.explained_times", lambda path, shown: times)
        return cli("doctor", "--selftest", *arguments)

    return run


def test_true_counts_pass_with_status_0(doctor):
    """Counts worked out by hand; the table has them, and is no wider than 100 columns."""
    status, out, err = doctor(COUNTED)

    assert status == 0
    assert "524,301" in out
    assert "FAILED" not in out
    assert "all 1 trials passed" in out
    assert max(map(len, out.splitlines())) <= 100
    assert "looking for scripted" in err


def test_wrong_count_fails_with_status_1_and_in_words(doctor):
    """One store too many, among 131072."""
    lie = replace(COUNTED, counts=replace(COUNTED.counts, stores=131073))
    status, out, _ = doctor(lie)

    assert status == 1
    assert "FAILED: write with scripted: stores: 131,073 instead of 131,072 (no deviation" in out
    assert "1 of 1 trials FAILED" in out
    assert "1.0000076 FAILED" in out


@pytest.mark.parametrize(("share", "status"), [(1.019, 0), (1.021, 1)])
def test_traffic_may_deviate_by_two_per_cent(doctor, share, status):
    """And no more."""
    (dram,) = COUNTED.traffic
    read = replace(dram, read_bytes=round(share * dram.read_bytes))

    assert doctor(replace(COUNTED, traffic=(read,)))[0] == status


def test_unknown_is_said_and_is_no_failure(doctor):
    """Never a zero."""
    (dram,) = COUNTED.traffic
    blind = replace(COUNTED, traffic=(replace(dram, write_bytes=None),))
    status, out, _ = doctor(blind)
    (write,) = [line for line in out.splitlines() if "DRAM write" in line]

    assert status == 0
    assert write.split()[-1] == "unknown"


def test_json_is_one_object_with_every_ratio(doctor):
    """And its verdict."""
    status, out, _ = doctor(COUNTED, "--json")
    document = json.loads(out)
    (trial,) = document["trials"]
    checks = {check["quantity"]: check for check in trial["checks"]}

    assert status == 0
    assert (document["kind"], document["holds"]) == ("selftest", True)
    assert (trial["program"], trial["meter"], trial["holds"]) == ("write", "scripted", True)
    assert checks["stores"] == {
        "quantity": "stores", "expected": 131072, "measured": 131072, "tolerance": 0.0,
        "ratio": 1.0, "holds": True,
    }  # fmt: skip
    assert checks["flop"]["ratio"] is None


def test_meter_that_does_not_work_is_listed_with_what_to_do(doctor):
    """Nothing was tested: that is no success."""
    lack = Unavailable(reason="there is no valgrind", remedy="install it", cost="all")
    status, out, _ = doctor(COUNTED, unavailable=lack)

    assert status == 2
    assert "not tested: scripted: there is no valgrind; install it" in out
    assert "nothing was counted" in out


def test_times_stand_beside_what_traffic_asks_for(doctor):
    """3 ms of 4 are three quarters; with the least of the caches 3.6 ms."""
    row = Explained(
        kernel="stream.triad",
        size_bytes=24_000_000,
        runtime_s=Estimate([4e-3]),
        predicted_s=3e-3,
        low_s=3e-3,
        high_s=3.6e-3,
        limiter="dram",
    )
    status, out, _ = doctor(COUNTED, times=(row,))
    document = json.loads(doctor(COUNTED, "--json", times=(row,))[1])

    assert status == 0
    assert "stream.triad" in out
    assert "0.75" in out
    assert "3 ms to 3.6 ms" in out
    assert "explains 75% of the time" in " ".join(out.split())
    assert document["times"][0]["ratio"] == pytest.approx(0.75)
