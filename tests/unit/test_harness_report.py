"""How calls were measured: told, printed and kept."""

import io
from dataclasses import replace

import pytest
from core_inputs import MEASUREMENT
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ridgepoint.core.documents import decode, encode, render, to_fields
from ridgepoint.core.measurement import Measurement, Protocol
from ridgepoint.kept.archive import Archive
from ridgepoint.models.analysis import analyse
from ridgepoint.show.report import report
from ridgepoint.show.tables import run_table

COLD = Protocol(
    state="cold",
    calls=102,
    replicas=34,
    data_bytes=16_000_000,
    overhead_s=2e-7,
    counted_calls=32,
    threads=1,
)
MEASURED = replace(MEASUREMENT, protocol=COLD)
IN_PLACE = replace(
    COLD, state="in place", calls=1, replicas=1, data_bytes=None, counted_calls=20, threads=None
)
whole = st.integers(0, 10**15)


def told(protocol):
    """Return the lines of the report that tell the protocol, squeezed."""
    file = io.StringIO()
    shown = run_table.run(analyse(replace(MEASURED, protocol=protocol), None))
    Console(file=file, width=100).print(shown)
    lines = [" ".join(line.split()) for line in file.getvalue().splitlines()]
    at = next(i for i, line in enumerate(lines) if line.startswith("protocol"))
    return lines[at : at + 2]


@pytest.mark.parametrize(
    ("protocol", "first", "second"),
    [
        (
            COLD,
            "protocol cold: a sample is the mean of 102 calls on 34 replicas of 16 MB, 1 thread",
            "an empty call takes 200 ns; counts are the mean of 32 calls",
        ),
        (
            replace(COLD, state="warm", replicas=1, threads=None, counted_calls=0),
            "protocol warm: a sample is the mean of 102 calls on 16 MB",
            "an empty call takes 200 ns",
        ),
        (
            IN_PLACE,
            "protocol in place: a sample is one entry",
            "an empty entry takes 200 ns; counts are the mean of 20 entries",
        ),
    ],
)
def test_report_tells_how_calls_were_measured(protocol, first, second):
    """State, samples, replicas and data in one line; overhead and counted calls in another."""
    assert told(protocol) == [first, second]


def test_report_of_a_program_has_no_protocol():
    """Whole runs were measured."""
    assert report(analyse(MEASUREMENT, None))["protocol"] is None


def test_json_holds_the_protocol():
    """With its units in its keys."""
    assert report(analyse(MEASURED, None))["protocol"] == {
        "state": "cold",
        "calls": 102,
        "replicas": 34,
        "data_bytes": 16_000_000,
        "overhead_s": 2e-7,
        "counted_calls": 32,
        "threads": 1,
    }


@given(
    st.builds(
        Protocol,
        state=st.sampled_from(["warm", "cold", "in place"]),
        calls=whole,
        replicas=whole,
        data_bytes=st.none() | whole,
        overhead_s=st.floats(0, 1),
        counted_calls=whole,
        threads=st.none() | whole,
    )
)
def test_saved_protocol_is_loaded_as_it_was(protocol):
    """Save, then load, is identity."""
    measured = replace(MEASUREMENT, protocol=protocol)

    assert decode(encode(measured), Measurement, origin="memory") == measured
    assert decode(render(to_fields(measured)), Measurement, origin="memory") == measured


def test_archive_keeps_the_protocol(tmp_path):
    """What was kept comes back as it was."""
    with Archive(tmp_path / "archive.sqlite3") as archive:
        kept = archive.keep_measurement(MEASURED, None)
        loaded = archive.measurement(kept)

    assert loaded.protocol == COLD
