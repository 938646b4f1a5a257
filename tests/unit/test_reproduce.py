"""What two builds of the same commit may not differ in."""

import reproduce
from built_wheels import make_wheel

FILE = "tool/__init__.py"


def pair(tmp_path, **settings):
    """Return what is seen of a wheel and of one that was built otherwise."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder, made in zip(folders, ({}, settings), strict=True):
        folder.mkdir(exist_ok=True)
        make_wheel(folder, **made)
    return list(reproduce.differences(*folders))


def test_what_builds_again_is_what_builds():
    """As the Makefile calls it."""
    assert (reproduce.ROOT / reproduce.BUILDER).is_file()
    assert f"$(BIN)/python {reproduce.BUILDER} $(DIST)" in (reproduce.ROOT / "Makefile").read_text()


def test_the_same_bytes_are_no_difference(tmp_path):
    """Wherever they lie."""
    assert pair(tmp_path) == []


def test_content_permissions_and_times_are_told_apart(tmp_path):
    """So that whoever reads the line knows where to look."""
    wheel = "tool-1.0-py3-none-any.whl"
    record = f"{wheel}: tool-1.0.dist-info/RECORD has other content"

    assert pair(tmp_path, files={FILE: b"other\n"}) == [
        f"{wheel}: {FILE} has other content",
        record,
    ]
    assert pair(tmp_path, modes={FILE: 0o755}) == [f"{wheel}: {FILE} has other permissions"]
    assert f"{wheel}: {FILE} has another time" in pair(tmp_path, time=(2026, 11, 25, 0, 0, 0))
    assert pair(tmp_path, without=[FILE])[0] == f"{wheel}: only one has {FILE}"


def test_sdists_are_compared_too(tmp_path):
    """As a whole."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool-1.0.tar.gz").write_text(name)

    assert list(reproduce.differences(tmp_path / "first", tmp_path / "second")) == [
        "tool-1.0.tar.gz: it has other bytes"
    ]


def test_a_wheel_that_only_one_build_made(tmp_path):
    """For another platform, or of another version."""
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    make_wheel(tmp_path / "second")

    assert list(reproduce.differences(tmp_path / "first", tmp_path / "second")) == [
        "tool-1.0-py3-none-any.whl: only the second build made it"
    ]
