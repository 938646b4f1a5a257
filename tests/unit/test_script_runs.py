"""Several runs of a script as one profile."""

from dataclasses import replace

from operator_inputs import linear, profile, relu, tensor, view
from operator_inputs import operator as of

from ridgepoint.core.caution import Caution
from ridgepoint.profiling.operators.script.runs import joined


def test_a_time_has_a_sample_of_each_run():
    """In the order of the first run."""
    runs = [profile(linear("a", time_s=(s,)), relu("b", time_s=(2 * s,))) for s in (1.0, 3.0, 2.0)]
    linear_op, relu_op = joined(runs).operators
    assert (linear_op.time_s.samples, relu_op.time_s.samples) == ((1.0, 3.0, 2.0), (2.0, 6.0, 4.0))
    assert not joined(runs).cautions


def test_what_is_not_called_equally_often_has_no_time():
    """Neither what one run did not call, nor what it called more often."""
    often = replace(relu("b", time_s=(1.0,)), calls=2)
    runs = [
        profile(linear("a", time_s=(1.0,)), relu("b", time_s=(1.0,))),
        profile(linear("a", time_s=(1.0,)), often, view("c", time_s=(1.0,))),
    ]
    result = joined(runs)
    assert [each.time_s is None for each in result.operators] == [False, True, True]
    (caution,) = result.cautions
    assert (caution.code, caution.seen[:6]) == ("work-varies", "2 of 3")


def test_calls_that_differ_in_an_option_or_in_what_they_share_are_told_apart():
    """Equal shapes alone do not make equal calls."""
    a, b = replace(tensor(4), key=1), replace(tensor(4), key=2)
    shared = of("aten.mul", (a, a), (b,), time_s=(1.0,))
    apart = of("aten.mul", (a, b), (replace(b, key=3),), time_s=(1.0,))
    other = replace(apart, call=replace(apart.call, options={"alpha": 2}))
    assert len(joined([profile(shared, apart, other)] * 2).operators) == 3


def test_cautions_of_all_runs_are_kept_once():
    """They are alike in most runs."""
    noisy = Caution("noisy", "it was", "wait")
    runs = [profile(view(time_s=(1.0,)), cautions=(noisy,)) for _ in range(3)]
    assert joined(runs).cautions == (noisy,)


def test_of_cautions_that_differ_in_a_number_the_gravest_is_kept():
    """A script of ten runs is not doubted ten times."""
    runs = [
        profile(view(time_s=(1.0,)), cautions=(Caution("slow", f"by {share}", "wait", share),))
        for share in (0.1, 0.3, 0.2)
    ]
    assert [one.seen for one in joined(runs).cautions] == ["by 0.3"]
