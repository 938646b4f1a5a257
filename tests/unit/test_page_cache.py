"""Files that leave the page cache, as far as the kernel tells."""

import pytest

from ridgepoint.host.page_cache import drop


def test_a_share_of_the_file_is_still_in_memory(tmp_path):
    """Between none and all of it, whatever the file system; its content stays."""
    path = tmp_path / "data"
    path.write_bytes(b"x" * 1_000_001)

    assert 0 <= drop(path) <= 1
    assert path.read_bytes() == b"x" * 1_000_001


def test_an_empty_file_has_no_pages(tmp_path):
    """And one that is not there cannot be opened."""
    path = tmp_path / "data"
    path.touch()

    assert drop(path) == 0
    with pytest.raises(FileNotFoundError):
        drop(tmp_path / "gone")
