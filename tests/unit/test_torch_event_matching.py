"""Events of a profiler, matched with the calls that were recorded."""

from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.profiling.operators.pytorch.matching import Event, Expected, times_of


def expected(*names):
    """Return calls of shape (2,); those whose name begins with "v" are views."""
    return [Expected(name=name, shapes=((2,),), is_view=name.startswith("v")) for name in names]


def events(*trees):
    """Return events from pairs of a name and what is inside; a name alone has nothing inside.

    The first takes 1 s itself, the second 2 s, the next 4 s, and each what is inside besides.
    """
    found = []

    def add(tree):
        name, inside = (tree, ()) if isinstance(tree, str) else tree
        at = len(found)
        found.append(None)
        elapsed_s = 2.0**at + sum(add(one) for one in inside)
        found[at] = Event(name=name, shapes=((2,),), elapsed_s=elapsed_s, after=len(found))
        return elapsed_s

    for tree in trees:
        add(tree)
    return found


def test_functions_made_of_operators_are_opened():
    """The recording has their parts."""
    assert times_of(expected("vt", "mm"), events(("linear", ["vt", ("matmul", ["mm"])]))) == [2, 8]


def test_what_is_inside_of_a_call_belongs_to_it():
    """Even if it has the name of the next one."""
    assert times_of(expected("conv", "copy"), events(("conv", ["copy"]), "copy")) == [1 + 2, 4]


def test_same_name_inside_of_itself_is_one_call():
    """The outer one: a library calls itself with other arguments."""
    assert times_of(expected("sum", "sum"), events(("sum", ["sum"]), "sum")) == [1 + 2, 4]


def test_what_a_call_saves_first_is_not_in_its_time():
    """A product in place clones its factor for the gradient, inside of its own event."""
    run = events("mul_", ("mul_", ["clone", ("other", ["vt"])]), "mul_")

    assert times_of(expected("mul_", "clone", "vt", "mul_", "mul_"), run) == [1, 4, 16, 2 + 8, 32]


def test_view_that_was_not_made_again_has_no_time():
    """Recording makes views that a plain run does without."""
    run = events("mm", "vview", "mm")

    assert times_of(expected("mm", "vdetach", "vview", "mm"), run) == [1, None, 2, 4]
    assert times_of(expected("mm", "vdetach"), events("mm")) == [1, None]


def test_calls_that_were_not_recorded_are_passed_over():
    """Names of the library's own around or between calls."""
    assert times_of(expected("mm"), events("vother", ("Backward0", ["mm"]))) == [4]


def test_operation_in_place_is_the_same_work():
    """But not the other way round."""
    assert times_of(expected("add"), events("add_")) == [1]
    assert times_of(expected("add_"), events("add")) is None


def test_missing_call_or_other_shapes_give_no_times_at_all():
    """A time is never given to a call that may not be its own."""
    other = [Event(name="mm", shapes=((3,),), elapsed_s=1.0, after=1)]

    assert times_of(expected("mm", "exp"), events("mm")) is None
    assert times_of(expected("mm", "exp"), events("exp", "mm")) is None
    assert times_of(expected("mul", "clone", "mul"), events(("mul", ["clone"]))) is None
    assert times_of(expected("mm"), other) is None


TREES = st.recursive(
    st.sampled_from(["mm", "exp", "vt"]),
    lambda inside: st.tuples(st.just("part"), st.lists(inside, max_size=3)),
)


@given(st.lists(TREES, max_size=6))
def test_every_run_of_the_same_calls_is_matched_in_order(trees):
    """Whatever functions the calls are parts of."""
    run = events(*trees)
    calls = [at for at, event in enumerate(run) if event.name != "part"]

    assert times_of(expected(*(run[at].name for at in calls)), run) == [2**at for at in calls]
