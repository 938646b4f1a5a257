"""Functions counted alone by the copying engine, against the source and the engine in Valgrind."""

import shutil

import pytest
from known_work import PARTS_FUNCTIONS, PARTS_N

from ridgepoint.core.errors import CannotMeasure

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

N = PARTS_N
OPTIMIZED = pytest.mark.parametrize("options", [pytest.param("-O1", marks=pytest.mark.slow), "-O2"])


@pytest.fixture
def selected(compiled, monkeypatch):
    """Compile tests/programs/selected.cpp, with its library."""

    def compile_both(options):
        library = compiled("selected_part.c", options, "-shared", "-fPIC")
        monkeypatch.setenv("LIBRARY", library)
        # Slots that are filled when they are first used lead through code that is not copied.
        linked = ("-Wl,--no-as-needed", "-Wl,-z,now", library)
        return compiled("selected.cpp", options, "-g", "-DLIBRARY", *linked)

    return compile_both


def own(result, *programs):
    """Return the counts of the functions of the program itself, by name."""
    return {
        function.name: function.counts
        for function in result.functions
        if function.object in programs and not function.name.startswith("0x")
    }


@OPTIMIZED
@pytest.mark.parametrize(("mode", "function", "flop"), PARTS_FUNCTIONS)
def test_a_function_is_counted_with_what_it_calls(
    mode, function, flop, options, compiled, natively, counted
):
    """To the instruction what the other engine counts, however it is entered and left."""
    program = compiled("parts.cpp", options, "-g")
    here, there = (count(program, mode, N, function=function) for count in (natively, counted))

    assert here.counts.work == {"fp64": flop}
    assert here.selected == f"function {function!r}"
    assert here.regions == ()
    assert own(here, program) == own(there, program)


@OPTIMIZED
@pytest.mark.parametrize(
    ("mode", "function", "flop"),
    [
        ("templates", ".*area.*", 3),
        ("templates", r"void shape::area<int>\(int\)", 1),
        ("sorted", r"compares\(.*", 21),
        ("sorted", "qsort", 21),
        ("linked", "outer", 5),
        ("linked", "inner", 5),
        ("loaded", "outer", 5),
        ("loaded", "inner", 5),
        ("forked", "in_child", 13),
        ("regions", "marks", 8),
        ("nested", "deep", 9),
        ("nested", "thrower", 8),
        ("handler", "waits", 5),
        ("handler", r"on_signal\(int\)", 2),
        ("loop", "spins", 10),
        ("args", "args", 1),
        ("left", "leaves", 2),
        ("left", r"in_thread\(void\*\)", 22),
        ("left", "main", 200),
    ],
)
def test_a_function_is_found_wherever_it_is(
    mode, function, flop, options, selected, natively, counted
):
    """In templates, libraries, callbacks, children, handlers; left by throw and longjmp."""
    program = selected(options)
    here, there = (count(program, mode, N, function=function) for count in (natively, counted))

    assert here.counts.work == {"fp64": flop * N}
    assert [r.name for r in here.regions] == [r.name for r in there.regions]
    assert [r.counts.work for r in here.regions] == [r.counts.work for r in there.regions]
    assert own(here, program) == own(there, program)


def test_a_coroutine_is_in_its_function_while_others_run(selected, natively, counted):
    """What runs on another stack does not mean that it was left: as under the other engine."""
    program = selected("-O2")
    here, there = (
        count(program, "coroutine", N, function="yields") for count in (natively, counted)
    )

    assert here.counts.work == there.counts.work
    assert own(here, program)["adds"] == own(there, program)["adds"]


@pytest.mark.parametrize("function", ["nowhere", "adds?x", "ad"])
def test_a_function_that_never_ran_is_no_zero(function, compiled, natively):
    """A name is matched as a whole."""
    with pytest.raises(CannotMeasure, match="entered no function"):
        natively(compiled("parts.cpp", "-O2"), "both", N, function=function)


@pytest.mark.parametrize("kernel", ["readonly", "triad", "update"])
def test_what_a_function_moves_is_that_of_the_other_engine(
    kernel, compiled, natively, counted, small_caches
):
    """With caches that are empty when it begins, and when it ends."""
    program = compiled("streams.c", "-O2", "-mavx2")
    options = {"function": kernel, "cold": True, "caches": small_caches}
    here, there = (
        count(program, kernel, 20000, 2, 256, **options) for count in (natively, counted)
    )

    assert here.counts == there.counts
    assert here.traffic == there.traffic
