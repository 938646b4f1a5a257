"""How sure a diagnosis is: ranges by hand, on the machine of round numbers of `test_causes`."""

from dataclasses import replace

import pytest
from core_inputs import ceiling, machine_of
from test_advice import counts, flop, moved, program
from test_causes import MACHINE, asking

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.models.analysis import analyse
from ridgepoint.models.diagnosis import Diagnosis
from ridgepoint.models.machine_diagnosis import diagnose_machine


def diagnosed(measured, machine=MACHINE):
    """Return the diagnosis of a measurement."""
    return Diagnosis(analysis=analyse(measured, machine))


def lasting(measured, low, median, high):
    """Return it with a runtime of this interval."""
    runtime = Estimate([median], interval=(low, high))
    return replace(measured, timed=Timed(runtime_s=runtime, cpu_s=Estimate([median])))


def rated(resource, low, median, high):
    """Return the machine with a bandwidth of this interval."""
    others = [one for one in MACHINE.ceilings if one.resource != resource]
    rate = Estimate([median], interval=(low, high))
    return replace(
        MACHINE, ceilings=(*others, replace(ceiling(resource, median, name="load"), rate=rate))
    )


def test_the_efficiency_lies_between_the_ends_of_runtime_and_ceiling():
    """900 MB at 9 to 12 GB/s take 75 to 100 ms, of 125 to 200 ms."""
    measured = lasting(asking("dram"), 0.125, 0.15, 0.2)
    found = diagnosed(measured, rated("dram", 9e9, 10e9, 12e9))

    assert found.efficiency == pytest.approx((0.075 / 0.2, 0.1 / 0.125))
    # 1 Mflop of work.
    assert found.attainable_per_s == pytest.approx((1e6 / 0.1, 1e6 / 0.075))


def test_the_gain_lies_between_the_same_ends():
    """Without DRAM, compute needs 20 ms: 1 Gflop of multiply-adds at 50 Gflop/s; T is 80 to 100."""
    done = counts(flop(1_000_000_000, width=256, operation="fma"), instructions=130_000_000)
    measured = lasting(program(done, moved(dram=(700_000_000, 0))), 0.08, 0.09, 0.1)
    (step,) = [one for one in diagnosed(measured).steps if one.advice.code == "fewer-bytes"]

    assert step.advice.gain == pytest.approx(0.09 / 0.02)
    assert step.gain == pytest.approx((0.08 / 0.02, 0.1 / 0.02))


def test_a_verdict_is_stable_if_every_end_has_the_same_limit():
    """Half of the time is needed for a roof to explain it: 40 of 60 to 70 ms, or to 100."""
    steady = lasting(asking("dram", 0.4), 0.06, 0.065, 0.07)
    shaky = lasting(asking("dram", 0.4), 0.06, 0.065, 0.1)

    assert diagnosed(steady).is_stable
    assert diagnosed(shaky).other_limits == ("",)
    assert not diagnosed(shaky).is_stable


def test_another_ceiling_may_limit_at_the_end_of_the_ranges():
    """85 ms at DRAM, 80 at L3 or, at its lower end, 100."""
    both = moved(dram=(850_000_000, 0), l3=(4_000_000_000, 0))
    measured = program(counts(flop(1_000_000)), both)
    found = diagnosed(measured, rated("l3", 40e9, 50e9, 60e9))

    assert found.other_limits == ("l3",)


def test_one_command_asks_for_all_that_is_unknown():
    """Options of causes and of cautions, each once, beside those of the run."""
    slow = asking("dram", 0.4)
    few = Caution("few-samples", "the runtime was measured 1 time(s)", "ask for more")
    found = diagnosed(replace(slow, cautions=(few,))).checks
    (again,) = [check for check in found if check.command.startswith("ridgepoint run")]

    assert again.command == "ridgepoint run --functions --miss-curve --repeat 15 -- /bin/p 1"
    assert set(again.settles) == {"reuse", "start", "few-samples"}


def test_without_a_machine_there_is_no_verdict():
    """And nothing is computed from nothing."""
    found = diagnosed(asking("dram"), None)

    assert found.is_stable is found.efficiency is found.attainable_per_s is None
    assert found.steps == found.ceilings == found.by("ruled out") == ()


def against(rate, theoretical, interval=None):
    """Return how a ceiling compares with theory."""
    one = replace(
        ceiling("fp64", rate), rate=Estimate([rate], interval=interval), theoretical=theoretical
    )
    (judged,) = diagnose_machine(machine_of(one)).ceilings
    return judged.against, judged.share


def test_a_ceiling_is_compared_with_theory_by_its_interval():
    """Nine tenths are as in theory; an interval that reaches these is, too."""
    assert against(95.0, 100.0) == ("as in theory", 0.95)
    assert against(80.0, 100.0) == ("below theory", 0.8)
    assert against(80.0, 100.0, (70.0, 91.0)) == ("as in theory", 0.8)
    assert against(110.0, 100.0) == ("above theory", 1.1)
    assert against(80.0, None) == ("no theory", None)


def test_balances_and_growth_are_ratios_of_rates():
    """Four cores do 400 Gflop/s and move 20 GB/s; one 100 and 10."""
    found = diagnose_machine(MACHINE)
    balances = {one.level: one.intensity for one in found.balances}
    growths = {one.resource: one.factor for one in found.growths}

    assert balances["dram"] == pytest.approx(400e9 / 20e9)
    assert growths == pytest.approx({"fp64": 4.0, "dram": 2.0})


def test_ceilings_are_the_rates_that_roofs_are_made_of():
    """A store of 10 GB/s reads each line first: 20 GB/s move, so 900 MB need 45 ms."""
    others = [one for one in MACHINE.ceilings if one.resource != "dram"]
    store = replace(ceiling("dram", 10e9, name="store"), read_share=1.0, write_share=1.0)
    found = diagnosed(asking("dram"), replace(MACHINE, ceilings=(*others, store)))

    rates = {one.resource: one.rate.median for one in found.ceilings if one.name == "store"}
    assert rates["dram"] == 20e9
    assert rates["dram_read"] == 10e9
    assert float(found.analysis.placement.bound.times_s["dram"]) == pytest.approx(0.9e9 / 10e9)
