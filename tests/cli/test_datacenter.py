"""The command `suite datacenter`: what it lists, shows and refuses without measuring."""

import pytest
from figure_inputs import MACHINE

from ridgepoint.documents import encode
from ridgepoint.reference import DatacenterRun


def test_workloads_are_listed_with_their_steps(cli):
    """In the order of the paper's tables."""
    status, out, _ = cli("suite", "datacenter", "sort", "lu", "--list")
    rows = [line for line in out.splitlines()[1:] if not line.startswith(" ")]

    assert status == 0
    assert [row.split()[0] for row in rows] == ["sort", "lu"]
    assert "original, ILP, prefetch" in rows[0]


def test_published_tables_are_recomputed(cli):
    """Of the paper, without measuring anything."""
    status, out, _ = cli("suite", "datacenter", "--published")

    assert status == 0
    assert "Table 12" in out
    assert "15.84 GBOP/s" in out


def test_kept_results_are_shown(cli, tmp_path):
    """From a file that holds none of a suite of kernels."""
    kept = tmp_path / "kept.json"
    kept.write_bytes(encode(DatacenterRun(machine=MACHINE, results=())))

    assert cli("suite", "datacenter", "--from", kept)[0] == 0
    status, _, err = cli("suite", "--from", kept)
    assert status == 2
    assert "kind 'datacenter'" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("datacenter", "quicksort"), "there is no 'quicksort'; there are sort, grep"),
        (("datacenter", "--validate"), "is nothing for datacenter workloads"),
        (("datacenter", "--caches", "warm"), "is nothing for datacenter workloads"),
        (("datacenter", "--meter", "perf"), "is nothing for datacenter workloads"),
        (("datacenter", "--threads", "1", "--threads", "2"), "take one number"),
        (("--published",), "is of the datacenter workloads"),
    ],
)
def test_wrong_use_is_one_line(cli, arguments, said):
    """And status 2."""
    status, _, err = cli("suite", *arguments)

    assert status == 2
    assert said in err
