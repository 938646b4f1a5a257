"""Native runs and doubts where regions vary more than the program, and programs run in turn."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
from figure_inputs import MACHINE, measurement

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import RegionCounts
from ridgepoint.core.errors import ProgramFailed
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import TimedRegion
from ridgepoint.host.run import Run
from ridgepoint.meters import Selection
from ridgepoint.meters.region_times import RegionTime
from ridgepoint.models.analysis import analyse
from ridgepoint.models.gains import gain
from ridgepoint.profiling import timing
from ridgepoint.profiling.timing import time_in_turn, time_program

SOLVE = Selection(kind="region", name="solve")


@pytest.fixture(autouse=True)
def quiet_host(monkeypatch):
    """Whatever else runs on this host does not disturb programs that do not run."""
    monkeypatch.setattr(timing, "System", lambda: SimpleNamespace(activity=lambda: None))
    monkeypatch.setattr(timing, "of_activity", lambda before, after: ())


def inside(seconds):
    """Return the time of a region in one run."""
    return RegionTime(
        entries=1, busy_s=seconds, wall_low_s=seconds, wall_high_s=seconds, cpu_s=seconds
    )


class Program:
    """A program whose runs take scripted times: `wall_s`, and those of its regions.

    Parameters
    ----------
    wall_s : callable
        Maps a run's number, from 0, to its runtime.
    regions : mapping of str to callable
        The same for each region.
    fails_in : int or None
        Number of the run that fails.
    """

    def __init__(self, wall_s, *, log=None, name="", repeat=None, fails_in=None, **regions):
        self.wall_s, self.regions, self.fails_in = wall_s, regions, fails_in
        self.log, self.name, self.n = [] if log is None else log, name, 0
        self.output, self.repeat = "discard", repeat

    def once(self, output="discard"):
        """Run it."""
        number, self.n = self.n, self.n + 1
        self.log.append(self.name)
        if number == self.fails_in:
            raise ProgramFailed(
                "cannot measure", reason="it failed", remedy="mend it", exit_status=1
            )
        done = Run(exit_status=0, wall_s=self.wall_s(number), cpu_s=self.wall_s(number))
        return done, {name: inside(time_s(number)) for name, time_s in self.regions.items()}

    def again(self):
        """Run it again."""
        return self.once()

    def report(self, what, output_is_shown):
        """Say nothing."""


def steady(number):
    """Return the same time in every run."""
    return 0.1


def bimodal(number):
    """Return 12 or 36 ms: quartiles as far apart as that."""
    return 0.036 if number % 2 else 0.012


def rare(number):
    """Return times that are far apart, and too short to matter."""
    return bimodal(number) / 10


@pytest.mark.parametrize(
    ("regions", "selection", "runs"),
    [
        ({}, None, 10),
        ({"solve": bimodal}, None, 30),
        ({"solve": rare}, None, 10),  # less than a tenth of the time
        ({"solve": rare}, SOLVE, 30),  # but measured alone
        ({"solve": steady, "rest": bimodal}, SOLVE, 10),  # the rest is not asked for
    ],
)
def test_runs_are_repeated_until_the_regions_that_matter_are_known(regions, selection, runs):
    """The program itself takes the same time in every run."""
    timed, _ = time_program(Program(steady, **regions), selection=selection)

    assert timed.runtime_s.n == runs


def test_a_program_that_varies_outside_its_region_is_not_repeated_for_that():
    """Only the region is measured."""
    timed, (region,) = time_program(Program(bimodal, solve=lambda n: 0.005), selection=SOLVE)

    assert timed.runtime_s.n == 10
    assert region.cautions == ()


def test_each_region_says_how_far_its_own_time_is_known():
    """The code is that of the whole program, which is steady."""
    timed, regions = time_program(Program(steady, solve=bimodal, setup=lambda n: 0.05))
    doubts = {region.name: [caution.code for caution in region.cautions] for region in regions}

    assert doubts == {"solve": ["noisy"], "setup": []}
    assert timed.cautions == ()
    (doubt,) = regions[0].cautions
    assert doubt.seen == (
        "the 95 % interval of the runtime of region 'solve' is 100% of its median (n = 30)"
    )
    assert (doubt.effect, doubt.on) == (pytest.approx(0.5), "time")


def test_few_runs_are_said_once_or_of_the_part_that_is_alone():
    """Not of every region of the whole program again."""
    program = {"repeat": 3, "solve": steady, "setup": steady}
    timed, regions = time_program(Program(steady, **program))
    _, alone = time_program(Program(steady, **program), selection=SOLVE)

    assert [caution.code for caution in timed.cautions] == ["few-samples"]
    assert [region.cautions for region in regions] == [(), ()]
    assert [[c.code for c in region.cautions] for region in alone] == [["few-samples"], []]


def test_programs_run_in_turn_and_in_either_order():
    """Every other round backwards, so that a slow drift favours none of them."""
    log = []
    programs = [Program(steady, log=log, name=name, repeat=3) for name in "abc"]
    time_in_turn(programs)

    assert "".join(log) == "abc" + "cba" + "abc" + "cba"


def test_all_programs_get_as_many_runs_as_the_one_that_varies_needs():
    """So that their runs are pairs."""
    times = time_in_turn([Program(steady), Program(bimodal)])

    assert [timed.runtime_s.n for timed, _ in times] == [30, 30]


@pytest.mark.parametrize("fails_in", [0, 4])
def test_a_program_that_fails_stops_no_other(fails_in):
    """Neither in its first run nor later; and what failed is not run again."""
    broken = Program(bimodal, fails_in=fails_in)
    good, failure = time_in_turn([Program(steady), broken])

    assert good[0].runtime_s.n == 10
    assert isinstance(failure, ProgramFailed)
    assert broken.n == fails_in + 1


def test_no_program_is_run_again_where_all_are_needed_and_one_fails():
    """The failure is raised at once."""
    log = []
    programs = [Program(steady, log=log, name="a"), Program(steady, log=log, name="b", fails_in=0)]

    with pytest.raises(ProgramFailed, match="it failed"):
        time_in_turn(programs, needs_all=True)

    assert "".join(log).count("a") == 1


def test_a_program_alone_that_fails_raises():
    """There is nothing else to measure."""
    with pytest.raises(ProgramFailed, match="it failed"):
        time_program(Program(steady, fails_in=2))


def noisy(name, effect):
    """Return the doubt about a region's time."""
    return Caution("noisy", f"the interval of {name}", "more runs", effect=effect, on="time")


@pytest.mark.parametrize(
    ("region_s", "effect", "does_matter"),
    [
        (0.006, 0.3, True),
        (0.006, 0.01, False),  # its place hardly changes
        (0.0005, 0.3, False),  # a twentieth of the time
    ],
)
def test_a_doubt_about_a_region_matters_where_the_region_does(region_s, effect, does_matter):
    """It is judged by what bounds the region, and counts where that takes a part of the time."""
    whole = measurement(dram=(40_000_000, 20_000_000, 0), runtime_s=0.010)
    doubt = noisy("solve", effect)
    region = TimedRegion(
        name="solve",
        entries=1,
        runtime_s=Estimate([region_s]),
        busy_s=Estimate([region_s]),
        cautions=(doubt,),
    )
    counts = RegionCounts(name="solve", counts=whole.counted.counts, traffic=whole.counted.traffic)
    marked = replace(
        whole,
        timed_regions=(region,),
        counted=replace(whole.counted, regions=(counts,)),
    )

    assert analyse(marked, MACHINE).doubts[doubt] is does_matter


# Whether a gain is seen, through the rule that decides on the number of runs: it looks at the
# samples, and so might favour some.


def sleeping(random, base_s, noise):
    """Return a program that sleeps, with noise, in its region."""

    def time_s(number):
        return base_s * noise(random)

    return Program(lambda number: 10 * base_s, solve=time_s)


def two_modes(random):
    """Return a factor: three of ten runs take half as long again."""
    return (1.5 if random.random() < 0.3 else 1.0) * random.gauss(1, 0.01)


def heavy_tail(random):
    """Return a factor whose mean is infinite."""
    return 1 + 0.05 * (1 / (1 - random.random()) - 1)


def narrow(random):
    """Return a factor that is tight after few runs, or more: where runs end depends on it."""
    return random.gauss(1, 0.012)


@pytest.mark.parametrize(
    ("noise", "least_seen"), [(two_modes, 0.85), (heavy_tail, 0.9), (narrow, 1.0)]
)
def test_a_true_gain_is_seen_and_none_where_there_is_none(noise, least_seen):
    """Programs that sleep with known noise, run in turn until their regions are known."""
    random, cases = Random(1), 600
    verdicts = {1.0: [], 1.2: []}
    for factor, found in verdicts.items():
        for _ in range(cases):
            programs = [sleeping(random, factor * 0.02, noise), sleeping(random, 0.02, noise)]
            before, after = (
                regions[0].runtime_s for _, regions in time_in_turn(programs, selection=SOLVE)
            )
            found.append(gain(before, after, paired=True).verdict)

    assert verdicts[1.0].count("no difference seen") >= 0.95 * cases
    assert verdicts[1.2].count("gain") >= least_seen * cases
