"""Which of several theories holds, told by what one core reached."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.ceilings import reached
from ridgepoint.core.identity import Identity
from ridgepoint.published.theory import load_choices, load_theory
from ridgepoint.published.theory_choice import settle, theory_choices
from ridgepoint.published.theory_file import FOLDER_VARIABLE

FMA = ("fp64", "fma 512-bit")
ADD = ("fp64", "add 512-bit")
GOOGLE = "Intel(R) Xeon(R) CPU @ 2.00GHz"
"""What Google's cloud calls Skylake servers, whatever they are sold as."""

SPR_OR_LATER = Identity(
    reported="Rocket Lake",
    title="Sapphire Rapids or later",
    names=("sapphirerapids", "emeraldrapids", "graniterapids"),
    inferred=True,
)
ZEN4_OR_LATER = Identity(
    reported="AMD EPYC-Genoa Processor",
    title="Zen 4 or later",
    names=("znver4", "znver5"),
    inferred=True,
)


@pytest.fixture(autouse=True)
def no_files_of_the_user(monkeypatch, tmp_path):
    """Keep this machine's own files out of the tests."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "empty"))


def of(name, cpu):
    """Return the choices for a CPU whose number is believed."""
    return theory_choices(Identity(reported=name, title=name, names=(name,)), cpu=cpu)


def value(settled, key=FMA):
    """Return the figure of a key; None: not known."""
    figure = settled.theory.per_cycle(*key)
    return None if figure is None else figure.value


def test_a_wider_ceiling_that_tells_nothing_does_not_hide_one_that_does():
    """No file says anything of fp16 on Skylake, though more of it is done in a cycle."""
    settled = settle(of("skylake-avx512", GOOGLE), {FMA: 15.8, ("fp16", "fma 512-bit"): 60.0})

    assert value(settled) == 16


def test_two_units_are_proved_by_reaching_more_than_one_can():
    """Skylake-SP without a model's name; 24 flop/cycle are more than one unit's 16."""
    settled = settle(of("skylake-avx512", GOOGLE), {FMA: 24.0})

    assert value(settled) == 32
    assert settled.cautions == ()


def test_one_unit_is_inferred_with_a_caution():
    """15.8 of 16, and half of 32: it may be two that were held up."""
    settled = settle(of("skylake-avx512", GOOGLE), {FMA: 15.8, ADD: 7.9})
    (caution,) = settled.cautions

    assert value(settled) == 16
    assert value(settled, ADD) == 8
    assert caution.code == "inferred-theory"
    assert "15.8" in caution.seen
    assert "16" in caution.seen
    assert "32" in caution.seen


@pytest.mark.parametrize("reached", [{}, {FMA: 11.0}, {("l1", "load"): 120.0}])
def test_what_tells_nothing_leaves_the_most_that_is_possible(reached):
    """Nothing measured, or far from both: the file's own figure stands, which is "at most"."""
    settled = settle(of("skylake-avx512", GOOGLE), reached)

    assert value(settled) == 32
    assert "at most" in settled.theory.note
    assert settled.cautions == ()


@pytest.mark.parametrize(
    ("cpu", "units"),
    [
        ("Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz", 16),
        ("Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz", 32),
        ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", 32),
    ],
)
def test_a_name_that_tells_is_believed_whatever_was_reached(cpu, units):
    """A noisy neighbour does not take a unit away."""
    assert value(settle(of("skylake-avx512", cpu), {FMA: 15.9})) == units


@pytest.mark.parametrize(("reached", "expected"), [(31.0, 32), (15.7, 16), (12.0, None)])
def test_zen_5_with_a_masked_name_is_told_by_its_width(reached, expected):
    """Servers have 512-bit pipes and start two a cycle; Strix Point takes two passes."""
    assert value(settle(of("znver5", "AMD Eng Sample"), {FMA: reached})) == expected


def test_zen_4_and_zen_5_are_told_apart_by_what_zen_4_cannot_do():
    """30 flop/cycle at 512 bit: figures of Zen 5 servers hold, L1 of 128 byte among them."""
    before = theory_choices(ZEN4_OR_LATER, cpu="AMD EPYC-Genoa Processor")
    settled = settle(before, {FMA: 30.0})

    assert before.common.per_cycle(*FMA) is None
    assert before.common.per_cycle("fp64", "fma 256-bit").value == 16
    assert value(settled) == 32
    assert value(settled, ("l1", "load")) == 128


def test_what_all_candidates_say_is_known_without_measuring():
    """Sapphire, Emerald and Granite Rapids have the same core, as far as documents go."""
    choices = theory_choices(SPR_OR_LATER, cpu="Intel(R) Xeon(R) Processor")

    assert choices.common.name == "Sapphire Rapids or later"
    assert {key: figure.value for key, figure in choices.common.figures.items()} == {
        key: figure.value for key, figure in load_theory("sapphirerapids").figures.items()
    }
    assert choices.common.per_cycle("bf16", "amx").value == 1024


def test_a_candidate_without_a_file_leaves_nothing_known(tmp_path):
    """It may be that one, of which nothing is written."""
    identity = Identity(reported=None, title="x", names=("znver4", "nosuch"), inferred=True)
    choices = theory_choices(identity, cpu="x")

    assert choices.common is None
    assert settle(choices, {FMA: 16.0}).theory is None
    assert theory_choices(Identity(reported=None, title=None), cpu="x").common is None


def test_no_choice_is_left_when_all_are_exceeded():
    """Then a file is wrong, or the clock: what all say alike is shown, and exceeded for all."""
    settled = settle(of("skylake-avx512", GOOGLE), {FMA: 64.0})

    assert value(settled) == 32


@given(st.dictionaries(st.sampled_from([FMA, ADD, ("fp32", "fma 256-bit")]), st.floats(0.01, 200)))
def test_a_figure_is_always_one_that_a_file_says(reached):
    """Of the choices, never one between them; and never below what was reached, if any holds it."""
    choices = of("skylake-avx512", GOOGLE)
    found = value(settle(choices, reached))

    assert found in {16, 32}
    assert found == 32 or reached.get(FMA, 0) <= 16 * 1.15


def trial(cpus, rate, *, frequency_hz=2e9, key=FMA):
    """Return what `reached` reads of a trial."""
    judged = SimpleNamespace(undisturbed=SimpleNamespace(median=rate), frequency_hz=frequency_hz)
    task = SimpleNamespace(place=SimpleNamespace(cpus=cpus), key=key)
    return SimpleNamespace(judged=judged, task=task)


def test_what_was_reached_is_of_one_core_and_one_cycle():
    """60 Gflop/s at 2 GHz are 30 a cycle; two cores, and an unknown clock, tell nothing."""
    trials = [
        trial((0,), 48e9),
        trial((1,), 60e9),
        trial((0, 1), 120e9),
        trial((0,), 9e9, key=ADD, frequency_hz=None),
    ]

    assert reached(trials) == {FMA: 30.0}


def test_a_variant_that_is_the_only_one_is_no_choice():
    """One name, one theory."""
    assert len(load_choices("haswell")) == 1
    assert len(load_choices("cascadelake", cpu="Intel(R) Xeon(R) Silver 4210 CPU")) == 1
    assert len(load_choices("cascadelake", cpu=GOOGLE)) == 3
    assert load_choices("nosuch") == ()
