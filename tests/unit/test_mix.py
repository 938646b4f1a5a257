"""The least time of a program's own mix, on cores whose pipes are known from documents.

All run at 1 GHz, with one core, so that rates in Gflop/s are flop per cycle.
"""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from core_inputs import ceiling, machine_of
from hypothesis import assume, given
from hypothesis import strategies as st

from ridgepoint.core.counts import Counts, FlopCount
from ridgepoint.models.mix import mix_bound, mix_of

# Instructions per cycle, scalar fp64; of multiply-adds beside additions flop, in the better of two
# ratios. Haswell: products and multiply-adds on ports 0 and 1,
# additions on port 1. Skylake: all on both. Golden Cove: additions on ports 1 and 5. Zen 4:
# products and multiply-adds on two pipes, additions on two others. Divisions every 4 to 8 cycles.
CORES = {
    "haswell": {"mul": 2, "add": 1, "fma": 2, "mul+add": 2, "fma+add": 10 / 3, "div": 1 / 8},
    "skylake": {"mul": 2, "add": 2, "fma": 2, "mul+add": 2, "fma+add": 10 / 3, "div": 1 / 4},
    "golden cove": {"mul": 2, "add": 2, "fma": 2, "mul+add": 3, "fma+add": 5, "div": 1 / 4},
    "zen 4": {"mul": 2, "add": 2, "fma": 2, "mul+add": 4, "fma+add": 6, "div": 1 / 5},
}
FLOP = {"fma": 2}


def core(name, *, without=(), precision="fp64", width="scalar", lanes=1):
    """Return a machine of one such core."""
    return machine_of(*_ceilings(CORES[name], precision, width, lanes, without))


def _ceilings(per_cycle, precision, width, lanes, without=()):
    return [
        ceiling(precision, instructions * FLOP.get(name, 1) * lanes * 1e9, name=f"{name} {width}")
        for name, instructions in per_cycle.items()
        if name not in without
    ]


def scalar(**instructions):
    """Return a mix of so many 1e9 scalar instructions of each operation."""
    return {("fp64", 0, name): n * FLOP.get(name, 1) * 1e9 for name, n in instructions.items()}


@pytest.mark.parametrize(
    ("name", "instructions", "seconds"),
    [
        # Port 1 adds, and multiplies half: three multiply-adds and an addition fill both for 2 s.
        ("haswell", {"fma": 3, "add": 1}, 2.0),
        ("haswell", {"fma": 1, "add": 1}, 1.0),
        ("haswell", {"add": 3, "mul": 1}, 3.0),
        ("skylake", {"fma": 1, "add": 1, "mul": 2}, 2.0),
        # Three ports in all, two for either.
        ("golden cove", {"fma": 1, "add": 1}, 2 / 3),
        ("golden cove", {"fma": 4, "add": 1}, 2.0),
        ("golden cove", {"fma": 1, "mul": 1, "add": 1}, 1.0),
        # Additions beside multiply-adds cost nothing.
        ("zen 4", {"fma": 1, "add": 1}, 0.5),
        ("zen 4", {"fma": 2, "add": 6}, 3.0),
        # A division of 4 cycles hides 7 multiply-adds: it starts on port 0 as they do.
        ("golden cove", {"div": 1, "fma": 7}, 4.0),
        ("golden cove", {"div": 1, "fma": 16}, 8.5),
        ("zen 4", {"div": 1, "fma": 4, "add": 12}, 6.0),
    ],
)
def test_a_mix_takes_what_its_pipes_take(name, instructions, seconds):
    """Each by hand, from which instructions which port starts."""
    bound = mix_bound(scalar(**instructions), core(name))

    assert bound.time_s == pytest.approx(seconds)
    assert bound.unknown == ()


def test_divisions_and_roots_wait_for_one_divider():
    """Four cycles of a division and six of a root are ten of both."""
    bench = core("golden cove")
    bench = replace(bench, ceilings=(*bench.ceilings, ceiling("fp64", 1e9 / 6, name="sqrt scalar")))

    bound = mix_bound(scalar(div=1, sqrt=1, fma=4), bench)

    assert bound.time_s == pytest.approx(10.0)
    assert bound.binding == "divider"
    assert bound.shares["divider"]["fp64", 0, "div"] == pytest.approx(0.4)


def test_a_mix_that_fell_short_when_it_was_measured_does_not_lower_the_bound():
    """Three ports are seen in products beside additions, though multiply-adds reached 2.7."""
    whole = core("golden cove", without=("fma+add",))
    short = replace(
        whole, ceilings=(*whole.ceilings, ceiling("fp64", 4.5e9, name="fma+add scalar"))
    )

    assert mix_bound(scalar(fma=1, add=1), short).time_s == pytest.approx(2 / 3)


def test_widths_and_precisions_share_the_pipes():
    """A second of 256-bit fp64 FMA, one of scalar fp32 FMA, and half of fp32 products: 2.5 s."""
    bench = machine_of(
        *_ceilings(CORES["golden cove"], "fp64", "256-bit", 4),
        *_ceilings(CORES["golden cove"], "fp32", "scalar", 1),
    )
    mix = {
        ("fp64", 256, "fma"): 16e9,
        ("fp32", 0, "fma"): 4e9,
        ("fp32", 0, "mul"): 1e9,
    }

    assert mix_bound(mix, bench).time_s == pytest.approx(2.5)


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize("operation", ["add", "mul", "fma", "div"])
def test_one_operation_alone_is_bound_by_its_own_ceiling(name, operation):
    """A program of multiply-adds by their peak, not by that of the best mix."""
    bound = mix_bound(scalar(**{operation: 3}), core(name))

    assert bound.time_s == pytest.approx(3 / CORES[name][operation])


def test_an_unknown_operation_counts_at_the_best_rate_of_its_width():
    """Of single operations all may start wherever there is a pipe: 6e9 on three pipes."""
    single = {("fp64", 0, "single"): 6e9}
    bound = mix_bound(single, core("golden cove"))

    assert bound.time_s == pytest.approx(2.0)
    (unknown,) = bound.unknown
    assert "fp64 scalar" in unknown
    assert "100 % of the flop" in unknown


def test_a_ceiling_that_was_not_measured_is_said_and_not_guessed():
    """Without one for divisions no more is known than that they start as products do."""
    bound = mix_bound(scalar(div=5), core("golden cove", without=("div",)))

    assert bound.time_s == pytest.approx(2.5)
    assert "divider" not in bound.constraints_s
    assert "the machine has no fp64 scalar div ceiling" in bound.unknown[0]


def test_a_machine_without_ceilings_by_operation_gives_its_roof():
    """As published machines are: 10 Gflop/s of whatever it may be."""
    bound = mix_bound(scalar(add=10), machine_of(ceiling("fp64", 10e9, name="peak")))

    assert bound.time_s == 1.0
    assert "no fp64 scalar ceilings by operation" in bound.unknown[0]
    assert mix_bound(scalar(add=10), machine_of(ceiling("fp32", 10e9, name="peak"))) is None


def test_products_of_tiles_are_bound_by_the_matrix_unit_and_dot_products_by_theirs():
    """Tiles are wider than any vector: 8 Tflop of each at 2 and at 0.4 Tflop/s."""
    bench = machine_of(
        ceiling("bf16", 2e12, name="amx"), ceiling("bf16", 0.4e12, name="dot 512-bit")
    )
    tiles, vectors = ("bf16", 8192, "dot"), ("bf16", 512, "dot")

    assert mix_bound({tiles: 8e12}, bench).time_s == pytest.approx(4.0)
    assert mix_bound({vectors: 8e12}, bench).time_s == pytest.approx(20.0)
    assert mix_bound({tiles: 8e12, vectors: 8e12}, bench).unknown == ()


def test_what_is_hardly_done_is_not_worth_a_word():
    """Less than one flop in a hundred of an unknown kind changes no time."""
    mix = {**scalar(fma=1), ("fp64", 0, "other"): 1e6}

    assert mix_bound(mix, core("zen 4")).unknown == ()


def test_kinds_of_counts_are_told_by_operation_or_else_by_fusion():
    """What was counted before operations were told apart says fused or single, or nothing."""

    def kind(operation, fma, flop):
        return FlopCount(
            precision="fp64",
            width_bits=256,
            fma=fma,
            flop=flop,
            instructions=1,
            operation=operation,
        )

    counted = Counts(
        instructions=9,
        branches=0,
        loads=0,
        stores=0,
        load_bytes=0,
        store_bytes=0,
        flop=(
            kind("div", False, 1),
            kind(None, True, 2),
            kind(None, False, 4),
            kind(None, None, 8),
            kind("fma", True, 16),
        ),
    )

    assert mix_of(counted) == {
        ("fp64", 256, "div"): 1.0,
        ("fp64", 256, "fma"): 18.0,
        ("fp64", 256, "single"): 4.0,
        ("fp64", 256, None): 8.0,
    }


def cycles(multiplies, additions, *, pipes):
    """Return how many cycles instructions take on pipes (multiply alone, add alone, both)."""
    taken = 0
    while multiplies > 0 or additions > 0:
        only_multiply, only_add, both = pipes
        multiplies, additions = multiplies - only_multiply, additions - only_add
        for _ in range(both):
            if multiplies >= additions:
                multiplies -= 1
            else:
                additions -= 1
        taken += 1
    return taken


PIPES = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).filter(
    lambda p: p[0] + p[2] > 0 and p[1] + p[2] > 0
)


@given(PIPES, st.integers(0, 60), st.integers(0, 60), st.sampled_from(["mul", "fma"]))
def test_no_schedule_of_any_core_is_faster_than_the_bound(pipes, multiplies, additions, kind):
    """Cores with any pipes, simulated cycle by cycle, and measured so."""
    long = 720

    def rate(m, a):
        return Fraction(m + a, cycles(m, a, pipes=pipes))

    mixed = [rate(long * 2, long) * Fraction(5, 3), rate(long, long) * Fraction(3, 2)]
    measured = {
        "mul": rate(long, 0),
        "fma": 2 * rate(long, 0),
        "add": rate(0, long),
        "mul+add": rate(long, long),
        "fma+add": max(mixed),
    }
    # The machine's own roof must hold: multiply-adds on all their pipes, additions on the others.
    assume(max(*mixed, measured["fma"]) == 2 * (pipes[0] + pipes[2]) + pipes[1])
    bench = machine_of(
        *(ceiling("fp64", float(r) * 1e9, name=f"{n} scalar") for n, r in measured.items())
    )
    mix = {k: f for k, f in scalar(**{kind: multiplies, "add": additions}).items() if f}
    if not mix:
        return

    # The bound knows no whole cycles: the last of them may be half empty.
    assert mix_bound(mix, bench).time_s <= cycles(multiplies, additions, pipes=pipes) * (1 + 1e-9)


FLOP_OF = st.floats(0, 1e12)
MIX = st.dictionaries(
    st.tuples(
        st.sampled_from(["fp64", "fp32", "fp80"]),
        st.sampled_from([None, 0, 256]),
        st.sampled_from([None, "single", "add", "mul", "fma", "div", "sqrt", "other", "dot"]),
    ),
    FLOP_OF.filter(lambda flop: flop == 0 or flop > 1),
    min_size=1,
    max_size=6,
)
NAMES = ("add", "mul", "fma", "mul+add", "fma+add", "div", "sqrt")
MACHINES = st.dictionaries(
    st.tuples(
        st.sampled_from(["fp64", "fp32"]),
        st.sampled_from(NAMES),
        st.sampled_from(["scalar", "256-bit"]),
    ),
    st.floats(1e8, 1e12),
    min_size=1,
).map(
    lambda rates: machine_of(
        *(ceiling(p, rate, name=f"{name} {width}") for (p, name, width), rate in rates.items())
    )
)


@given(MIX, MACHINES)
def test_the_bound_of_a_mix_never_lies_above_the_roof_of_the_machine(mix, machine):
    """Its time is never less than that of the best mix of the same precisions."""
    bound = mix_bound(mix, machine)
    known = {kind: flop for kind, flop in mix.items() if flop and machine.knows(kind[0])}

    assert (bound is None) == (not known)
    if bound is not None:
        least = sum(flop / machine.rate(kind[0]) for kind, flop in known.items())
        assert bound.time_s >= least * (1 - 1e-9)


@given(MIX, MACHINES, st.floats(0.01, 100), st.floats(0, 1e12))
def test_more_work_takes_no_less_time_and_twice_as_much_takes_twice(mix, machine, scale, more):
    """Monotone in each kind, and of degree one."""
    bound = mix_bound(mix, machine)
    if bound is None:
        return
    scaled = mix_bound({kind: flop * scale for kind, flop in mix.items()}, machine)
    first = next(iter(mix))
    grown = mix_bound({**mix, first: mix[first] + more}, machine)

    assert scaled.time_s == pytest.approx(scale * bound.time_s)
    assert grown.time_s >= bound.time_s * (1 - 1e-9)
    assert math.isfinite(grown.time_s)


@given(MIX, MACHINES)
def test_a_divider_that_was_not_measured_only_loosens_the_bound(mix, machine):
    """Its term is left out, and the others stay as they are."""
    rest = tuple(one for one in machine.ceilings if one.name.split()[0] not in {"div", "sqrt"})
    whole, less = mix_bound(mix, machine), mix_bound(mix, replace(machine, ceilings=rest))
    if whole is None or less is None:
        return

    of_pipes = [name for name in ("multiplies", "additions", "pipes") if name in less.constraints_s]
    assert "divider" not in less.constraints_s
    assert all(less.constraints_s[name] == whole.constraints_s[name] for name in of_pipes)
