"""Functions that hardly did anything are summed, and no sum changes by it."""

import io
import json
from dataclasses import replace

from core_inputs import MACHINE, MEASUREMENT
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, Traffic
from ridgepoint.core.documents import decode, encode, render
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.timed import Sampled, TimedFunction
from ridgepoint.models.analysis import analyse
from ridgepoint.models.condensed import condensed
from ridgepoint.show.report import report
from ridgepoint.show.tables import run_table

# Most functions of a real program do next to nothing, and a few do nearly all.
AMOUNTS = st.one_of(st.integers(0, 3), st.integers(0, 10**9))


@st.composite
def functions(draw):
    """Return a function with some work, instructions and traffic."""
    flop = draw(AMOUNTS)
    precision = draw(st.sampled_from(["fp64", "fp32", "fp80"]))
    kind = FlopCount(precision=precision, width_bits=0, fma=False, flop=flop, instructions=flop)
    written = draw(st.one_of(st.none(), AMOUNTS))
    return FunctionCounts(
        name=draw(st.text(max_size=5)),
        object=draw(st.sampled_from(["/lib/libc.so", None])),
        counts=Counts(
            instructions=draw(AMOUNTS),
            branches=draw(AMOUNTS),
            loads=draw(AMOUNTS),
            stores=draw(AMOUNTS),
            load_bytes=draw(AMOUNTS),
            store_bytes=draw(AMOUNTS),
            flop=(kind,) if flop else (),
        ),
        traffic=(
            Traffic(level="l1", read_bytes=draw(AMOUNTS), write_bytes=draw(AMOUNTS)),
            Traffic(level="dram", read_bytes=draw(AMOUNTS), write_bytes=written),
        ),
    )


def with_functions(each, *, sampled=None):
    """Return a measurement of these functions."""
    counted = replace(MEASUREMENT.counted, functions=tuple(each))
    return replace(MEASUREMENT, counted=counted, sampled=sampled)


def sums(counted):
    """Return what functions and remainder did together."""
    parts = [*counted.functions, *([counted.remainder] if counted.remainder else [])]
    return (
        Counts.total(one.counts for one in parts),
        Traffic.total(row for one in parts for row in one.traffic),
    )


def idle(number):
    """Return a function of one instruction."""
    counts = Counts(instructions=1, branches=0, loads=0, stores=0, load_bytes=0, store_bytes=0)
    return FunctionCounts(name=f"idle {number}", object="/lib/libc.so", counts=counts)


@given(st.lists(functions(), max_size=12))
def test_no_sum_changes_and_once_is_enough(each):
    """Of every count and of the bytes at every level, whatever is unknown stays so."""
    whole = with_functions(each)
    less = condensed(whole)

    assert sums(less.counted) == sums(whole.counted)
    assert condensed(less).counted.functions == less.counted.functions
    assert sums(condensed(less).counted) == sums(whole.counted)
    assert decode(encode(less), Measurement, origin="here") == less


def test_functions_that_hardly_did_anything_become_one_entry():
    """Of 3e9 instructions each of 5000 functions did one: the report has two entries."""
    busy = MEASUREMENT.counted.functions[0]
    whole = with_functions([busy, *(idle(number) for number in range(5000))])
    less = condensed(whole).counted
    entries = report(analyse(whole, MACHINE))["functions"]

    assert less.functions == (busy,)
    assert (less.remainder.functions, less.remainder.counts.instructions) == (5000, 5000)
    assert [(one["name"], one.get("members")) for one in entries] == [
        ("f", None),
        ("5000 more functions", 5000),
    ]
    total = sum(one["instructions"]["total"] for one in entries)
    assert total == busy.counts.instructions + 5000


def test_a_function_that_took_time_stays():
    """It did nothing that counts, and a sample in a hundred was in it."""
    times = [("f", None, 0.99), ("idle 7", "/lib/libc.so", 0.01)]
    sampled = Sampled(
        runs=1,
        period_s=1e-3,
        samples=100,
        user_s=1.0,
        system_s=0.0,
        functions=tuple(
            TimedFunction(
                name=name, object=path, samples=1, runtime_s=Estimate([share]), cpu_s=share
            )
            for name, path, share in times
        ),
    )
    each = [MEASUREMENT.counted.functions[0], *(idle(number) for number in range(20))]
    less = condensed(with_functions(each, sampled=sampled)).counted

    assert [one.name for one in less.functions] == ["f", "idle 7"]
    assert less.remainder.functions == 19


def test_a_report_of_many_idle_functions_is_small():
    """39 000 functions, as of PyTorch, took more than 60 MB."""
    busy = MEASUREMENT.counted.functions[0]
    whole = with_functions([busy, *(idle(number) for number in range(39_000))])
    text = render(report(analyse(whole, MACHINE)))

    assert len(text) < 20_000
    assert json.loads(text)["functions"][1]["members"] == 39_000


def test_the_table_of_functions_reads_the_same():
    """Rows are of functions with a thousandth of something; the others are counted in one more."""
    busy = MEASUREMENT.counted.functions[0]
    whole = with_functions([busy, *(idle(number) for number in range(5000))])
    texts = []
    for each in (whole, condensed(whole)):
        console = Console(file=io.StringIO(), width=100)
        console.print(run_table.run(analyse(each, MACHINE)))
        texts.append(console.file.getvalue())

    assert "5000 more" in texts[0]
    assert texts[0] == texts[1]
