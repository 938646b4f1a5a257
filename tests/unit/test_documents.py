import json
import re
from types import MappingProxyType

import numpy as np
import pytest
from core_inputs import COUNTS, MACHINE, MEASUREMENT, machine_of, measured
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, Traffic
from ridgepoint.core.documents import decode, encode, fields_of, render, report, to_fields
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.identity import Identity
from ridgepoint.core.json_lines import line_of
from ridgepoint.core.machine import Cache, Ceiling, Host, Machine
from ridgepoint.core.measurement import Context, Measurement, Timing
from ridgepoint.core.resources import LEVELS, PRECISIONS, RESOURCES
from ridgepoint.core.timed import Timed

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
maybe_text = st.none() | text
positive = st.floats(1e-9, 1e15)
share = st.floats(0, 2)
whole = st.integers(0, 10**18)
size = st.integers(1, 10**9)
cautions = st.lists(st.builds(Caution, text, text, text), max_size=2).map(tuple)
estimates = st.lists(positive, min_size=1, max_size=9).map(Estimate)
caches = st.builds(
    Cache,
    level=st.integers(1, 4),
    kind=st.sampled_from(["data", "instruction", "unified"]),
    size_bytes=size,
    line_bytes=size,
    ways=st.none() | size,
    cores=size,
)


@st.composite
def ceilings(draw):
    """Draw a possible ceiling."""
    resource = draw(st.sampled_from(sorted(RESOURCES)))
    split = resource in LEVELS and draw(st.booleans())
    return Ceiling(
        resource=resource,
        name=draw(text),
        threads=draw(size),
        unit=f"{RESOURCES[resource].unit}/s",
        rate=draw(estimates),
        read_share=draw(share) if split else None,
        write_share=draw(share) if split else None,
        theoretical=draw(st.none() | positive),
        cautions=draw(cautions),
        source=draw(maybe_text),
        detail=draw(maybe_text),
    )


identities = st.builds(
    Identity,
    reported=maybe_text,
    title=maybe_text,
    names=st.lists(text, max_size=3).map(tuple),
    inferred=st.booleans(),
    reasons=st.lists(text, max_size=2).map(tuple),
    by_caches=maybe_text,
)
machines = st.builds(
    Machine,
    name=text,
    host=st.builds(
        Host,
        cpu=text,
        microarchitecture=maybe_text,
        cores=size,
        frequency_hz=st.none() | positive,
        virtualized=st.none() | st.booleans(),
        memory_bytes=st.none() | size,
        identity=st.none() | identities,
    ),
    caches=st.lists(caches, max_size=3).map(tuple),
    ceilings=st.lists(
        ceilings(), max_size=4, unique_by=lambda c: (c.resource, c.name, c.threads)
    ).map(tuple),
    cautions=cautions,
    created=maybe_text,
    elapsed_s=st.none() | positive,
    fingerprint=maybe_text,
    source=maybe_text,
)
flop = st.builds(
    FlopCount,
    precision=st.sampled_from(PRECISIONS),
    width_bits=st.sampled_from([0, 128, 512]),
    fma=st.booleans(),
    flop=whole,
    masked_flop=whole,
    instructions=whole,
)
counts = st.builds(
    Counts,
    instructions=whole,
    branches=whole,
    loads=whole,
    stores=whole,
    load_bytes=whole,
    store_bytes=whole,
    undecoded=whole,
    flop=st.lists(flop, max_size=2).map(tuple),
)
traffic = st.builds(
    Traffic,
    level=st.sampled_from(LEVELS),
    read_bytes=whole,
    write_bytes=st.none() | whole,
    pending_write_bytes=st.none() | whole,
)
parts = st.lists(traffic, max_size=2).map(tuple)
measurements = st.builds(
    Measurement,
    command=st.lists(text, min_size=1, max_size=3).map(tuple),
    counted=st.builds(
        Counted,
        meter=text,
        counts=counts,
        traffic=parts,
        functions=st.lists(
            st.builds(FunctionCounts, name=text, object=maybe_text, counts=counts, traffic=parts),
            max_size=2,
        ).map(tuple),
        caches=st.lists(caches, max_size=2).map(tuple),
        processes=size,
        cautions=cautions,
    ),
    timed=st.none()
    | st.builds(
        Timed,
        runtime_s=estimates,
        cpu_s=estimates,
        exit_status=st.integers(0, 255),
        cautions=cautions,
    ),
    context=st.builds(
        Context,
        started=text,
        hostname=text,
        cpu=text,
        kernel=text,
        affinity=st.lists(whole, max_size=3).map(tuple),
        directory=text,
        versions=st.dictionaries(text, text, max_size=2),
        environment=st.dictionaries(text, text, max_size=2),
        frequency_hz=st.none() | positive,
    ),
    cautions=cautions,
)


@given(machines)
def test_a_saved_machine_is_loaded_as_it_was(machine):
    """Save, then load, is identity: samples, unknowns and cautions included."""
    assert decode(encode(machine), Machine, origin="memory") == machine
    assert decode(render(to_fields(machine)), Machine, origin="memory") == machine


@given(measurements)
def test_a_saved_measurement_is_loaded_as_it_was(measurement):
    """Save, then load, is identity."""
    assert decode(encode(measurement), Measurement, origin="memory") == measurement
    assert decode(render(to_fields(measurement)), Measurement, origin="memory") == measurement


def test_a_document_says_what_it_is_and_carries_statistics():
    """A reader without Ridgepoint finds schema, kind, median, quartiles, interval and samples."""
    fields = json.loads(encode(measured(wall_s=(0.4, 0.2, 0.3))))

    assert (fields["schema"], fields["kind"]) == (1, "measurement")
    assert fields["timed"]["runtime_s"] == {
        "median": 0.3,
        "q1": 0.25,
        "q3": 0.35,
        "low": None,
        "high": None,
        "n": 3,
        "samples": [0.4, 0.2, 0.3],
    }
    assert json.loads(encode(MACHINE))["kind"] == "machine"


def machine_with_rate(rate):
    """Return a hand-written machine's text, with one ceiling of this rate (JSON text)."""
    return (
        '{"schema": 1, "kind": "machine", "name": "mine", "host": {"cpu": "c",'
        ' "microarchitecture": null, "cores": 1, "frequency_hz": null, "virtualized": null},'
        ' "caches": [], "ceilings": [{"resource": "dram", "name": "copy", "threads": 1,'
        f' "unit": "byte/s", "rate": {rate}}}]}}'
    )


@pytest.mark.parametrize(
    "rate",
    ["5e9", "5000000000", '{"median": 5e9}', '{"samples": [4e9, 5e9, 6e9]}',
     '{"samples": [4e9, 5e9, 6e9], "median": 5e9, "q1": 1, "n": 99}'],
)  # fmt: skip
def test_a_rate_may_be_written_by_hand(rate):
    """A number, a median or samples; statistics other than the median are derived anyway."""
    assert decode(machine_with_rate(rate), Machine, origin="f").rate("dram") == 5e9


@pytest.mark.parametrize(
    ("rate", "reason"),
    [
        ("NaN", "JSON is malformed"),
        ("1e999", "out of range"),
        ("9" * 400, "too large"),
        ("-5", "rate must be > 0, got -5.0"),
        ("0", "rate must be > 0, got 0.0"),
        ("true", "an estimate is a number or an object"),
        ('"5"', "an estimate is a number or an object"),
        ("null", "needs a caution"),
        ("{}", "lacks both"),
        ('{"samples": []}', "at least one value"),
        ('{"samples": 5}', "must be a list"),
        ('{"samples": [1, "2"]}', "expected a number"),
        ('{"samples": [1, 2, 3], "median": 3}', "`median` is not the median of `samples`"),
    ],
)
def test_an_impossible_rate_is_refused_and_its_place_named(rate, reason):
    """The message says what is wrong; where the text is JSON at all, it names the field."""
    with pytest.raises(InvalidDocument) as refusal:
        decode(machine_with_rate(rate), Machine, origin="mine.json")

    assert reason in str(refusal.value)
    assert "cannot read mine.json as a machine: " in str(refusal.value)
    assert "malformed" in str(refusal.value) or ": ceilings[0]" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "truncated"),
        (b"roofline", "malformed"),
        (b"[1]", "Expected `object`"),
        (b'{"name": "x"}', "missing required field `schema`"),
        (b'{"schema": "1"}', "Expected `int`"),
        (b'{"schema": 2, "kind": "machine", "shape": "unheard of"}', "reads schemas up to 1"),
        (b'{"schema": 0}', "schema is 0"),
        (b'{"schema": 1, "kind": "measurement"}', "of kind 'measurement'"),
        (b'{"schema": 1, "kind": "machine", "name": "x"}', "it lacks host"),
        (b'{"schema": 1, "kind": "\xff\xfe"}', "utf-8"),
        (machine_with_rate(1).encode().replace(b"mine", b"\xff\xfe"), "utf-8"),
        (machine_with_rate(1).encode("utf-16"), "malformed"),
        ('{"schema": 1, "name": "\ud800"}', "surrogates"),
        (b'{"schema": 1, "name": ' + b"[" * 100_000, "recursion"),
        (encode(MACHINE)[:-40], "truncated"),
        (encode(MEASUREMENT), "of kind 'measurement'"),
    ],
)
def test_what_is_no_machine_is_refused_in_one_line(document, reason):
    """Whatever the file holds, the user gets what, why and what to do."""
    with pytest.raises(InvalidDocument) as refusal:
        decode(document, Machine, origin="mine.json")

    assert reason in str(refusal.value)
    assert refusal.value.remedy
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", [Measurement, Timing])
def test_a_damaged_record_sends_nobody_to_a_report(kind):
    """What 'run --json' writes is of a kind that nothing reads back."""
    with pytest.raises(InvalidDocument) as refusal:
        decode(b'{"schema": 1, "kind": "run"}', kind, origin="record 3")

    assert "--json" not in str(refusal.value)
    assert "ridgepoint list" in refusal.value.remedy


def test_a_negative_count_in_a_file_is_refused():
    """A file is checked as strictly as a value made in Python."""
    document = encode(MEASUREMENT).replace(b'"loads":20', b'"loads":-20')

    with pytest.raises(InvalidDocument, match=r"counted\.counts: loads must be >= 0, got -20"):
        decode(document, Measurement, origin="f")


def test_fields_that_a_later_version_adds_are_passed_over():
    """Within a schema a document may gain fields that this version does not know."""
    later = json.loads(encode(machine_of())) | {"colour": "blue"}

    assert decode(json.dumps(later), Machine, origin="f") == machine_of()


def test_equal_values_give_equal_bytes():
    """A document is stable, so that files can be compared."""
    assert encode(measured()) == encode(measured(counts=COUNTS))


@given(st.data())
def test_a_fault_in_a_file_is_on_the_line_where_it_was_put(data):
    """Of a file as it is written, with a line for each field."""
    fields = json.loads(encode(MACHINE))
    place = data.draw(st.integers(0, len(fields["ceilings"]) - 1))
    key = data.draw(st.sampled_from(sorted(fields["ceilings"][place])))
    fields["ceilings"][place][key] = {"fault": 1}
    text = json.dumps(fields, indent=data.draw(st.integers(1, 4)))
    before = text[: text.index('"fault"')]
    line = before[: before.rindex(f'"{key}"')].count("\n") + 1

    with pytest.raises(InvalidDocument) as refusal:
        decode(text, Machine, origin="mine.json")
    assert refusal.value.reason.startswith(f"line {line}, ceilings[{place}].{key}")


parts = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.lists(st.text(max_size=3) | parts), parts, st.lists(st.text(max_size=3), max_size=4))
def test_lines_of_json_are_those_of_what_is_written(before, after, keys):
    """Below some keys, after some values: the line on which the one that is sought stands."""
    value = "sought \n"
    for key in keys:
        value = {"": before, key: value, "after": after} if key not in ("", "after") else [value]
    path = tuple(key if key not in ("", "after") else 0 for key in reversed(keys))
    text = json.dumps([*before, value, after], indent=1)

    assert line_of(text, (len(before), *path)) == (text[: text.index('"sought')].count("\n") + 1)


def places(value, path=()):
    """Yield where each value within a value stands."""
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, dict | list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


DOCUMENTS = [(kept, json.loads(encode(kept))) for kept in (MACHINE, MEASUREMENT)]


@given(st.sampled_from(DOCUMENTS), st.data())
def test_whatever_stands_anywhere_is_read_or_refused_where_it_stands(document, data):
    """By its field, or by what holds it, where it does not go with another field."""
    kept, sound = document
    place = data.draw(st.sampled_from([*places(sound)]))
    fields = json.loads(json.dumps(sound))
    around = fields
    for step in place[:-1]:
        around = around[step]
    around[place[-1]] = data.draw(parts | st.floats(allow_nan=False, allow_infinity=False))
    text = json.dumps(fields, indent=1)
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)[1:]

    try:
        decode(text, type(kept), origin="mine.json")
    except InvalidDocument as error:
        reason = error.reason
    else:
        return
    assert "\n" not in reason
    if place not in {("schema",), ("kind",)}:
        named = re.match(r"line \d+(?:, ([^:]*))?: ", reason)[1] or ""
        assert path.startswith(named) or named.startswith(path)


def test_a_report_holds_values_as_they_are_read_from_its_json():
    """Results, numbers of NumPy, mappings that cannot be written to; infinity is null."""
    told = report(
        "test",
        {
            "time_s": Estimate([2.0]),
            "numbers": (np.float64(1.5), np.int64(2)),
            "column": np.array([1.0, np.inf]),
            "mapping": MappingProxyType({"a": 1}),
            "cautions": (Caution("code", "seen", "remedy"),),
            "none": (),
        },
    )

    assert (told["schema"], told["kind"]) == (1, "test")
    assert told["time_s"]["median"] == 2.0
    assert (told["numbers"], told["column"]) == ([1.5, 2], [1.0, None])
    assert (told["mapping"], told["none"]) == ({"a": 1}, [])
    assert told["cautions"][0]["remedy"] == "remedy"
    assert json.loads(render(told)) == told


def test_fields_of_nothing_are_unknown():
    """Each by its name."""
    assert fields_of(None, "median", "n") == {"median": None, "n": None}
    assert fields_of(Estimate([2.0]), "median", "n") == {"median": 2.0, "n": 1}


def test_what_has_no_json_form_is_refused():
    """By the name of its type."""
    with pytest.raises(TypeError, match="a object has no JSON form"):
        report("test", {"value": object()})
