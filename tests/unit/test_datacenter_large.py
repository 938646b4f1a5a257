"""Workloads at any size: what is counted in parts, what is refused before it begins."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from figure_inputs import measurement

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.native_times import NativeTimes
from ridgepoint.suites.datacenter import WORKLOADS, inputs, large
from ridgepoint.suites.datacenter.measuring import cases


def one(name, **options):
    """Return the first case of a workload."""
    return cases([name], **options)[0]


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("grep", 10_000_000, False),
        ("grep", 15_000_000_000, True),
        ("sort", 10**9, True),
        ("bayes", 10**9, False),
        ("lu", 20_000, False),
    ],
)
def test_what_grows_as_is_known_is_counted_in_parts(name, size, expected):
    """Beyond the usual size; the iterations of others depend on the data."""
    assert large.is_counted_in_parts(one(name, size=size)) is expected


def test_a_user_s_records_are_as_large_as_their_file(tmp_path):
    """A million records of 21 bytes are still counted whole."""
    data = tmp_path / "integers"
    data.write_text("1\n")
    case = one("sort", data=data)

    assert (case.size, case.size_unit) == (2, "bytes")
    assert not large.is_counted_in_parts(replace(case, size=21_000_000))
    assert large.is_counted_in_parts(replace(case, size=21_000_001))


def test_counts_continue_through_those_of_both_parts():
    """5000 + 3 n; and n (7 + 2 log2 n), whatever the base: exact, if that is how they grow."""
    linear = large.continued("n", (1e4, 4e4), 1e9)
    assert linear(35_000, 125_000) == pytest.approx(3e9 + 5000)

    def law(n):
        return n * (7 + 2 * math.log2(n))

    assert large.continued("n log n", (1e4, 4e4), 1e9)(law(1e4), law(4e4)) == pytest.approx(
        law(1e9)
    )


@pytest.mark.parametrize("growth", ["n", "n log n"])
def test_what_does_not_grow_stays(growth):
    """The few operations that print a result are no work of the data."""
    assert large.continued(growth, (1e6, 4e6), 1e9)(50, 53) == 53


def test_counts_that_shrink_are_refused():
    """They would become less than nothing."""
    grown = large.continued("n", (1e6, 4e6), 1e9)
    with pytest.raises(CannotMeasure, match="do not grow with the data"):
        large.continued_operations(
            BasicOperations(compare=90_000), BasicOperations(compare=10_000), grown
        )


def test_parts_are_whole_lines_from_all_over_the_file(tmp_path):
    """The file counts up: its parts too, from near the beginning to near the end."""
    data = tmp_path / "integers"
    data.write_text("".join(f"{number}\n" for number in range(200_000)))
    folder = tmp_path / "parts"
    folder.mkdir()
    small, larger = large.parts(one("sort", data=data), folder, (500, 2000))
    numbers = [int(line) for line in (folder / "sort-2000").read_text().splitlines()]

    assert numbers == sorted(set(numbers))
    assert numbers[0] == 0
    assert numbers[-1] > 190_000
    assert small.n_bytes == pytest.approx(500 * 21, rel=0.1)
    # As many blocks of the part as of the whole, which has fewer than one.
    share = larger.n_bytes / data.stat().st_size
    assert larger.options == ("--block", str(round(50_000_000 * share)))


def test_a_continued_measurement_says_so(tmp_path):
    """Work and traffic by their growth; those of Sort at a size beyond the caches are not known."""

    def continued(name):
        data = tmp_path / name
        data.write_bytes(b"1234567\n" * 1000)
        case = one(name, data=data)
        chosen = large.parts(case, tmp_path, (10, 40))
        first = measurement(dram=(100_000, 0, 0))
        counted = replace(first.counted, selected="measured")
        times = NativeTimes(timed=first.timed, regions=first.timed_regions)
        return large.continued_measurement(
            case, chosen, (counted, replace(first, counted=counted)), times, command=["program"]
        )

    grep, sort = continued("grep"), continued("sort")

    assert grep.traffic_at("dram").read_bytes == 100_000
    assert sort.counted.traffic == ()
    assert "counted-in-parts" in {caution.code for caution in grep.cautions}
    assert "traffic at that size is not known" in " ".join(one.seen for one in sort.cautions)


def test_too_much_for_the_disk_is_refused(monkeypatch):
    """Records of 21 bytes, and runs of 8: 29 GB for a thousand million."""
    free = type("usage", (), {"free": 28_999_999_999})
    monkeypatch.setattr(inputs.shutil, "disk_usage", lambda folder: free)

    with pytest.raises(CannotMeasure, match=r"up to 29 GB .*TMPDIR"):
        inputs.require_room(cases(["sort"], size=10**9))
    inputs.require_room(cases(["sort"], size=10**9 - 1))


def test_too_much_for_memory_is_refused(monkeypatch):
    """Ten thousand equations are 1.6 GB; what streams its data holds none of them."""
    monkeypatch.setattr(inputs.System, "available_bytes", 1_599_999_999)

    with pytest.raises(CannotMeasure, match=r"holds up to 1\.6 GB in memory"):
        inputs.require_room(cases(["lu"], size=10_000))
    inputs.require_room(cases(["lu"], size=9_999))
    inputs.require_room(cases(["wordcount"], size=10**10))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("sort", "1\n2\nthree\n", "line 3 holds no integer"),
        ("grep", "", "its beginning is empty"),
        ("kmeans", "no points\n", "cannot measure Kmeans"),
        ("bfs", "1 2 3\nx\n", "cannot measure Graph500"),
        ("bayes", "a text without a category\n", "its beginning holds no reviews"),
    ],
)
def test_data_of_another_kind_are_refused(tmp_path, name, content, said):
    """Before anything is measured, by the program that reads them."""
    data = tmp_path / "data"
    data.write_text(content)

    with pytest.raises(CannotMeasure) as refused:
        inputs.require_data(cases([name], data=data))
    assert said in str(refused.value)
    assert str(data) in str(refused.value)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_devices_are_no_data(device):
    """The programs map their data, and the size of a device is 0."""
    with pytest.raises(CannotMeasure, match="a device or a pipe"):
        inputs.require_data(cases(["grep"], data=Path(device)))


def test_large_data_are_made_once_and_removed(monkeypatch):
    """In a file, which is gone afterwards; usual sizes are made in memory by each run."""
    case = one("grep", size=WORKLOADS["grep"].default_size + 1)
    said = []
    with inputs.in_files(case, said.append) as (own, folder):
        assert (folder / "text").stat().st_size == case.size
        assert own.data == str(folder / "text")
    assert not folder.exists()
    assert said == ["making 10000001 bytes of text"]
    with inputs.in_files(one("grep"), said.append) as (own, _):
        assert own.data is None
