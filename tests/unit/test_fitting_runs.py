"""Files of measured runs: what they may hold, and which line is wrong."""

import pytest

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.kept.runs import read_runs


def written(folder, text):
    """Return the path of a file with this content."""
    path = folder / "runs.csv"
    path.write_text(text)
    return path


def test_rows_alike_are_repeats(tmp_path):
    """In the order in which they stand; comments, blanks and other columns are ignored."""
    path = written(
        tmp_path,
        "# measured at night\nnodes, cores, time_s, host\n1,8,10.5,a\n\n2,8,5.5,b\n1,8,10.1,a\n",
    )
    first, second = read_runs(path)

    assert (first.nodes, first.cores, first.size, first.processors) == (1, 8, None, 8)
    assert first.time_s.samples == (10.5, 10.1)
    assert (second.nodes, second.time_s.samples) == (2, (5.5,))


def test_columns_may_have_the_slides_names(tmp_path):
    """A byte order mark, as spreadsheets write it, does no harm."""
    (run,) = read_runs(written(tmp_path, "\ufeffP,Q,t,n\n4,2,0.25,1e4\n"))

    assert (run.nodes, run.cores, run.time_s.samples, run.size) == (4, 2, (0.25,), 1e4)


def test_times_may_have_units(tmp_path):
    """In the one notation of quantities."""
    (run,) = read_runs(written(tmp_path, "nodes,cores,time_s\n1,1,20 ms\n1,1,0.5min\n1,1,2e0\n"))

    assert run.time_s.samples == (0.02, 30.0, 2.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"runs.csv: it contains no run"),
        ("nodes,cores,time_s\n", r"runs.csv: it contains no run"),
        ("nodes,time_s\n1,2\n", r"runs.csv:1: there is no column 'cores' among 'nodes', 'time_s'"),
        ("nodes;cores;time_s\n1;2;3\n", r"runs.csv:1: there is no column 'nodes'"),
        ("nodes,p,cores,time_s\n1,1,1,1\n", r"runs.csv:1: two columns hold 'nodes'"),
        ("nodes,cores,time_s\n1,1,1\n2,1\n", r"runs.csv:3: it has 2 cells, and at least 3"),
        ("nodes,cores,time_s\n1,1,fast\n", r"runs.csv:2, time_s: 'fast' is not a quantity"),
        ("nodes,cores,time_s\n1,1,nan\n", r"runs.csv:2, time_s: 'nan' is not finite and >= 0"),
        ("nodes,cores,time_s\n1,1,-1\n", r"runs.csv:2, time_s: '-1' is not finite and >= 0"),
        ("nodes,cores,time_s\n1.5,1,1\n", r"runs.csv:2, nodes: '1.5' is not a whole number"),
        ("nodes,cores,time_s\n1,0,1\n", r"runs.csv:2, cores: it must be >= 1, got '0'"),
        ("nodes,cores,time_s\n1,inf,1\n", r"runs.csv:2, cores: 'inf' is not a whole number"),
        ("nodes,cores,time_s,size\n1,1,1,\n", r"runs.csv:2, size: '' is not a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, said):
    """One line: what, where, what to do."""
    with pytest.raises(InvalidDocument, match=said):
        read_runs(written(tmp_path, text))


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    """Also one that is no UTF-8."""
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidDocument, match="no such file"):
        read_runs(tmp_path / "none.csv")
    with pytest.raises(InvalidDocument, match=r"binary\.csv"):
        read_runs(tmp_path / "binary.csv")
