"""Lines of Python: what their samples say, and how they are placed and shown."""

import struct
from dataclasses import replace

import pytest
from line_inputs import ADD, ARRAYS, LINES, MAKING, SCRIPT, SOURCE

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.measurement import Measurement
from ridgepoint.meters.python_lines.samples import LineSamples
from ridgepoint.models.parts import line_alone
from ridgepoint.show.annotated import annotated

ROWS_AT = 128 + 2 * 48 + 256 * 512


def table(*rows, refusal=0, outside=(0, 0, 0, 0, 0), files=("/a.py", "/b.py")):
    """Return what a process writes: its rows are of a file's place, a line, and numbers."""
    content = bytearray(ROWS_AT + 8192 * 48)
    struct.pack_into("<8s6Q", content, 0, b"RPLINES1", 0x030B07F0, refusal, 7, len(files), 0, 0)
    struct.pack_into("<5Q", content, 128 + 8, *outside)
    for place, name in enumerate(files):
        at = 128 + 96 + 512 * place
        content[at : at + len(name)] = name.encode()
    for place, (file, number, *numbers) in enumerate(rows):
        key = (file + 1) << 32 | number
        struct.pack_into("<6Q", content, ROWS_AT + 48 * place, key, *numbers)
    return bytes(content)


def test_samples_of_processes_add_up(tmp_path):
    """The same line of the same file is one, wherever it stands in a table."""
    one = table((0, 12, 3, 10, 20, 30, 0), (1, 5, 1, 7, 0, 0, 0), outside=(2, 100, 0, 0, 0))
    other = table((0, 9, 1, 4, 0, 0, 0), (1, 12, 2, 0, 5, 0, 1), files=("/b.py", "/a.py"))
    (tmp_path / "1.lines").write_bytes(one)
    (tmp_path / "2.lines").write_bytes(other)
    samples = LineSamples()
    samples.read(tmp_path)
    twelve = samples.of["/a.py", 12]

    assert samples.processes == 2
    assert samples.samples == 9
    assert set(samples.of) == {("/a.py", 12), ("/b.py", 5), ("/b.py", 9)}
    assert (twelve.samples, twelve.cpu_s) == (5, pytest.approx(66e-9))
    assert samples.cpu_s == pytest.approx((100 + 60 + 7 + 4 + 6) * 1e-9)


def test_a_process_that_could_not_be_sampled_says_why(tmp_path):
    """Its rows do not count; one that was killed before it began is none."""
    (tmp_path / "1.lines").write_bytes(table((0, 1, 5, 9, 0, 0, 0), refusal=2))
    (tmp_path / "2.lines").write_bytes(bytes(ROWS_AT + 8192 * 48))
    samples = LineSamples()
    samples.read(tmp_path)

    assert (samples.processes, dict(samples.refused), samples.of) == (0, {"free-threaded": 1}, {})


@pytest.mark.parametrize("content", [b"RPLINES1", b"RPLINES2" + bytes(ROWS_AT), b"x" * 999])
def test_damaged_files_are_refused(tmp_path, content):
    """Cut short, or of another layout."""
    (tmp_path / "1.lines").write_bytes(content)

    with pytest.raises(CannotMeasure, match=r"1\.lines is not what the sampler writes"):
        LineSamples().read(tmp_path)


def test_a_line_is_placed_by_the_time_of_the_threads_that_worked():
    """Its counts, and their CPU time: that of others if they did some of its flop."""
    alone = line_alone(ARRAYS, ADD)

    assert alone.counted.counts.work_flop == 3_000_000
    assert alone.timed.runtime_s.median == pytest.approx(0.006)
    assert alone.traffic_at("dram").total_bytes == 72_000_000
    assert alone.lines is None
    assert MAKING.working_s == pytest.approx(0.9 * 0.0009)
    assert replace(MAKING, other_threads_flop=1).working_s == pytest.approx(0.0009)


def test_lines_are_kept_as_they_are():
    """A record read again is the same."""
    again = decode(encode(ARRAYS), Measurement, origin="a test")

    assert again.lines == LINES


def test_the_source_is_shown_around_measured_lines():
    """Passages end where three lines that were not measured follow on both sides."""
    ((file, passages),) = annotated(LINES.lines, {SCRIPT: SOURCE})
    numbers = [[line.number for line in passage] for passage in passages]

    assert file == SCRIPT
    assert numbers == [list(range(3, 17))]
    assert passages[0][3].measured == ADD
    assert passages[0][3].text == "        np.add(a, b, out=b)"


def test_without_the_source_only_measured_lines_are_shown():
    """With the text that was kept."""
    ((_, passages),) = annotated(LINES.lines, {})

    assert [[line.number for line in passage] for passage in passages] == [[6], [11], [13]]
    assert passages[0][0].text == "np.add(a, b, out=b)"


def test_a_passage_stays_within_its_file():
    """Also at the first and at the last line."""
    ((_, passages),) = annotated([ADD], {SCRIPT: SOURCE[:6]})

    assert [line.number for line in passages[0]] == [3, 4, 5, 6]
