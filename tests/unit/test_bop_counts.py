"""Basic operations among the counts: Eq. (3), sums, averages, documents."""

import json
from dataclasses import replace

import pytest
from core_inputs import COUNTS, MEASUREMENT, measured

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Counts
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.measurement import Measurement
from ridgepoint.profiling.calls.average import average_counts, difference_of_counts

KNOWN = replace(COUNTS, basic_operations=BasicOperations(arithmetic=7, compare=3, addressing=11))


def test_eq_3_of_the_published_counters_of_kmeans():
    """BigDataBench's ``MPI/Simple_Kmeans/mpi.test``: ins, br, load, store of its first row."""
    counts = Counts(
        instructions=6488727663,
        branches=1410222756,
        loads=1975470283,
        stores=990727306,
        load_bytes=None,
        store_bytes=None,
    )

    assert counts.eq3_bop == 2112307318


@pytest.mark.parametrize("unknown", ["branches", "loads", "stores"])
def test_eq_3_is_unknown_where_any_of_its_terms_is(unknown):
    """Never a number too high."""
    assert replace(COUNTS, **{unknown: None}).eq3_bop is None


def test_eq_3_of_calls_and_returns_is_negative():
    """A call is a branch and a store, a return a branch and a load: each is subtracted twice."""
    counts = Counts(
        instructions=20, branches=20, loads=10, stores=10, load_bytes=80, store_bytes=80
    )

    assert counts.eq3_bop == -20


def test_basic_operations_add_up_by_class():
    """Two equal parts."""
    assert Counts.total([KNOWN, KNOWN]).basic_operations == BasicOperations(
        arithmetic=14, compare=6, addressing=22
    )


def test_a_sum_with_an_unknown_part_is_unknown():
    """As it is of all other counts."""
    assert Counts.total([KNOWN, COUNTS]).basic_operations is None


def test_a_mean_is_to_the_nearest_whole_number():
    """7, 3 and 11 of four calls."""
    mean = average_counts(KNOWN, 4)

    assert mean.basic_operations == BasicOperations(arithmetic=2, compare=1, addressing=3)
    assert average_counts(COUNTS, 4).basic_operations is None


def test_a_difference_is_by_class_and_never_negative():
    """Start-up may differ by a compare."""
    few = replace(COUNTS, basic_operations=BasicOperations(arithmetic=2, compare=5))

    assert difference_of_counts(KNOWN, few).basic_operations == BasicOperations(
        arithmetic=5, addressing=11
    )
    assert difference_of_counts(KNOWN, COUNTS).basic_operations is None


def test_documents_keep_them():
    """Written and read again."""
    measurement = measured(counts=KNOWN)

    assert decode(encode(measurement), Measurement, origin="a test") == measurement


def test_documents_of_before_are_read():
    """They hold no such field: it is unknown."""
    document = json.loads(encode(MEASUREMENT))
    del document["counted"]["counts"]["basic_operations"]
    read = decode(json.dumps(document), Measurement, origin="a test")

    assert read.counted.counts.basic_operations is None
