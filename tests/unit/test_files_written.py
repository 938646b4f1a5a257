"""Files written whole or not at all, and what is no file: written to, never replaced."""

import os
import stat
from pathlib import Path

import pytest

from ridgepoint.core.errors import RidgepointError
from ridgepoint.kept.files import replace_file


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """As devices are: in place of /dev/full, root would leave a file."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR)
    try:
        replace_file(path, b"results", what="the results")
        assert os.read(reader, 100) == b"results"
    finally:
        os.close(reader)

    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_without_a_path_is_written_to():
    """/dev/stdout is one of these in 'ridgepoint ... -o /dev/stdout | less'."""
    reader, writer = os.pipe()
    try:
        replace_file(Path(f"/proc/self/fd/{writer}"), b"results", what="the results")
        assert os.read(reader, 100) == b"results"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_file_is_replaced_through_its_link(tmp_path):
    """And nothing else is left in its folder."""
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("older")
    link.symlink_to(path)
    replace_file(link, b"newer", what="the results")

    assert (path.read_text(), link.is_symlink()) == ("newer", True)
    assert sorted(tmp_path.iterdir()) == [path, link]


def test_a_folder_is_refused(tmp_path):
    """In one line that names it."""
    with pytest.raises(RidgepointError, match="cannot write the results"):
        replace_file(tmp_path, b"results", what="the results")
