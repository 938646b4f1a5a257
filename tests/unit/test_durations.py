"""How long a run takes: forecasts by hand, steps by a clock that a test moves, the file."""

from dataclasses import replace

import pytest

from ridgepoint.kept.durations import Durations, Took, durations_path, elsewhere, keep, read
from ridgepoint.suites.durations import Forecast, Piece, Stopwatch, forecast
from ridgepoint.suites.kernels.measuring import pieces
from ridgepoint.suites.kernels.results import Case


def piece(key, *, kind="a", size=1.0):
    """Return a piece whose steps name its key."""
    return Piece(key=key, words=key, kind=kind, size=size)


KNOWN = {
    "small": Took(seconds=2.0, kind="a", size=10.0),
    "large": Took(seconds=9.0, kind="a", size=1000.0),
}


@pytest.mark.parametrize(
    ("pieces", "seconds", "unknown", "known"),
    [
        ([piece("small"), piece("large", size=1000)], 11.0, 0, 2),
        ([piece("other", size=20)], 4.0, 0, 1),  # twice the nearest
        ([piece("other", size=400)], 9.0, 0, 1),  # nearer to the large one, and never shorter
        ([piece("other", size=5)], 2.0, 0, 1),
        ([piece("small"), piece("other", kind="b")], 2.0, 1, 1),
        ([replace(piece("small"), is_shared=True), piece("other", kind="b")], 2.0, 1, 0),
        ([], 0.0, 0, 0),
    ],
)
def test_a_forecast_sums_what_took_how_long(pieces, seconds, unknown, known):
    """The same piece, or else the one of its kind that is nearest in size."""
    assert forecast(pieces, KNOWN) == Forecast(seconds=seconds, unknown=unknown, known=known)


def test_steps_belong_to_the_piece_with_the_longest_name_in_them():
    """A name may be part of another; what is nobody's is left out."""
    now = iter([0, 1, 3, 7, 12, 20])
    told = []
    watch = Stopwatch([piece("n = 1"), piece("n = 10")], told.append, clock=lambda: next(now))
    for step in ("timing n = 1", "timing n = 10", "beginning", "counting n = 1"):
        watch.step(step)

    assert {key: took.seconds for key, took in watch.took().items()} == {"n = 1": 10, "n = 10": 4}
    assert told == ["timing n = 1", "timing n = 10", "beginning", "counting n = 1"]


def test_durations_are_kept_beside_the_archive(tmp_path):
    """Each piece's last one; a file that is none is no obstacle."""
    archive = tmp_path / "new" / "archive.sqlite3"
    keep({"a": KNOWN["small"]}, archive)
    keep({"a": KNOWN["large"], "b": KNOWN["small"]}, archive)

    assert read(archive).pieces == {"a": KNOWN["large"], "b": KNOWN["small"]}
    durations_path(archive).write_text("{")
    assert read(archive) == Durations()
    keep({"b": KNOWN["small"]}, archive)
    assert set(read(archive).pieces) == {"b"}


@pytest.mark.parametrize("path", ["/dev/null/archive", "/proc/archive"])
def test_durations_that_cannot_be_kept_stop_nothing(path):
    """Neither where there is no folder nor where nobody may write."""
    keep({"a": KNOWN["small"]}, path)

    assert read(path) == Durations()


@pytest.mark.parametrize(("seconds", "size"), [(-1, 1), (float("nan"), 1), (1, 0)])
def test_impossible_durations_are_refused(seconds, size):
    """So that no forecast is made of them."""
    with pytest.raises(ValueError, match="seconds must be"):
        Took(seconds=seconds, kind="a", size=size)


def test_cases_of_the_kernels_are_forecast_by_their_work():
    """2 n³ of a product; those of other states, threads and meters are of other kinds."""
    small, large = (Case(workload="dgemm.naive", n=n, state="cold", threads=1) for n in (100, 200))
    begins, *own = pieces([small, large])

    assert begins.words == "beginning to count"
    assert own[1].size / own[0].size == 8
    assert own[0].kind == own[1].kind != pieces([small], how=", --meter perf")[1].kind


def test_the_durations_of_the_package_are_those_of_cases():
    """Measured elsewhere, for a first run on a new host: none of them is impossible."""
    names = {"datacenter", "distributed", "imaging", "kernels"}

    assert {key.partition(":")[0] for key in elsewhere().pieces} <= names
