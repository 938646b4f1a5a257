"""Sort sorts what a file holds, and refuses what is no whole number of 64 bits."""

import random
import struct

import pytest
from datacenter_runs import refusal, run, start, unreadable

LEAST, MOST = -(2**63), 2**63 - 1
FORMS = ["original", "prefetch", "simd"]


def lines(values):
    """Return numbers as a file has them."""
    return "".join(f"{value}\n" for value in values)


def numbers(seed, count, spread=2**63):
    """Return numbers between -spread and spread."""
    draw = random.Random(seed)
    return [draw.randrange(-spread, spread) for _ in range(count)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "values",
    [
        [],
        [7],
        numbers(1, 17),
        numbers(2, 1000),
        numbers(3, 5003, spread=5),
        [3] * 999,
        list(range(2000)),
        list(range(2000, 0, -1)),
        [LEAST, MOST, 0, MOST, LEAST, -1] * 20,
    ],
    ids=["none", "one", "17", "1000", "repeated", "equal", "ascending", "descending", "extremes"],
)
def test_result_is_what_python_sorts(tmp_path, form, variant, threads, values):
    """Every form, with and without vectors and threads, orders as `sorted` does."""
    done = run("sort", tmp_path, lines(values), "--form", form, "--threads", threads,
               variant=variant)  # fmt: skip

    assert done.results == lines(sorted(values))
    assert done.report["records"] == len(values)


@pytest.mark.parametrize("count", range(1, 70))
def test_vectors_sort_any_number_of_elements(tmp_path, count):
    """No remainder of the networks' width is lost."""
    values = numbers(count, count)

    done = run("sort", tmp_path, lines(values), "--form", "simd", variant="native")
    assert done.results == lines(sorted(values))


@pytest.mark.parametrize("block", [1, 7, 100, 101])
def test_blocks_become_runs_that_are_merged(tmp_path, block):
    """However many integers are sorted at once, the result is the same."""
    values = numbers(4, 100)

    done = run("sort", tmp_path, lines(values), "--block", block)
    assert done.results == lines(sorted(values))


def test_text_may_have_blanks_signs_and_no_final_newline(tmp_path):
    """Numbers stand between any white space."""
    done = run("sort", tmp_path, " +5\t-3\r\n\n007 2")

    assert done.results == lines([-3, 2, 5, 7])


def test_binary_numbers_are_of_eight_bytes(tmp_path):
    """The lowest byte comes first."""
    values = numbers(5, 333)

    done = run("sort", tmp_path, struct.pack("<333q", *values), "--binary")
    assert done.results == lines(sorted(values))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"1\nten\n", "line 2 holds no integer"),
        (b"1\n2\n-\n", "line 3 holds no integer"),
        (b"12x", "line 1 holds no integer"),
        (b"\x00\xff", "line 1 holds no integer"),
        (b"9223372036854775808\n", "more than 64 bits"),
        (b"-9223372036854775809\n", "more than 64 bits"),
        (b"9" * 100_000, "more than 64 bits"),
    ],
)
def test_what_is_no_integer_is_refused_with_its_line(tmp_path, data, complaint):
    """Nothing is taken for zero."""
    path = tmp_path / "data"
    path.write_bytes(data)

    assert complaint in refusal("sort", "--input", path)


def test_binary_file_with_a_remainder_is_refused(tmp_path):
    """Nine bytes are no whole number of integers."""
    (tmp_path / "data").write_bytes(b"123456789")

    assert "multiple of 8" in refusal("sort", "--binary", "--input", tmp_path / "data")


@pytest.mark.parametrize(
    "options",
    [
        ["--size", "0"],
        ["--size", "-5"],
        ["--size", "many"],
        ["--size", "1X"],
        ["--size", "99999999999T"],
        ["--threads", "0"],
        ["--form", "quantum"],
        ["--colour", "blue"],
        ["--seed"],
        ["--input", "/no/such/file"],
        ["--input", "/"],
        ["--input", "/dev/zero"],
        ["--input", "x", "--generate"],
        ["--size", "900T"],
    ],
)
def test_bad_options_are_one_line_and_status_2(options):
    """Sizes, forms, files and options that make no sense."""
    refusal("sort", *options)


def test_an_unreadable_file_is_refused(tmp_path):
    """The system's reason is told."""
    path = tmp_path / "data"
    if not unreadable(path):
        pytest.skip("this user may read every file")

    assert "Permission denied" in refusal("sort", "--input", path)


def test_memory_that_runs_out_is_an_error_and_no_crash():
    """A limit on the process, which the system's free memory does not show."""
    options = ["--size", "20M", "--generate", "--binary", "--check"]

    assert "memory ran out" in refusal("sort", *options, memory_bytes=200 << 20)


def test_more_runs_than_files_may_be_open_are_refused():
    """A block of one number each: the message says which option makes fewer."""
    said = refusal("sort", "--size", "1000", "--block", "1", open_files=64)

    assert "Too many open files; give a larger --block" in said


@pytest.mark.parametrize("name", ["sort", "grep", "rankserv", "lu", "stream"])
def test_threads_that_cannot_be_started_are_refused(name):
    """A stack takes 8 MB of the memory that a process may have; those that run are waited for."""
    said = refusal(name, "--size", "100", "--threads", "1000", memory_bytes=400 << 20)

    assert "threads: Resource temporarily unavailable; give fewer --threads" in said


def test_help_names_the_forms():
    """It is enough to run one by hand."""
    assert "original|prefetch|simd" in start("sort", "--help").stdout
