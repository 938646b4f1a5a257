"""The exit statuses of docs/documents.md, each by a command that ends with it."""

import re
import sys

import doc_blocks
import pytest

from ridgepoint.cli import list as list_command
from ridgepoint.cli.main import main
from ridgepoint.core.errors import Interrupted

PAGE = (doc_blocks.ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Exit statuses")[2].partition("##")[0]
STATED = re.findall(r"^\| ([^|]+) \|", TABLE, re.MULTILINE)[1:]

pytestmark = pytest.mark.usefixtures("meter")


def test_the_page_states_these_and_no_others():
    """Each has a test below."""
    assert STATED == ["0", "1", "2", "128 + N", "any other"]


def test_0_is_done(cli):
    """Also of an empty archive."""
    assert cli("list")[0] == 0


def test_1_is_a_check_that_failed(cli):
    """It was done, and a limit was not kept: said on standard error."""
    cli.run("--name", "a", "--", "true")
    cli.run("--name", "b", "--", "true")
    status, _, err = cli("compare", "a", "b", "--fail-if", "work > 0.5x")

    assert status == 1
    assert "work > 0.5x" in err
    assert cli("compare", "a", "b", "--fail-if", "work > 1x")[0] == 0


@pytest.mark.parametrize(
    "words", [("show", "nothing"), ("show", "--no-such-option"), ("explain",), ("schema", "none")]
)
def test_2_is_wrong_use_or_cannot(cli, words):
    """One line that begins as documented; nothing on standard output."""
    status, out, err = cli(*words)

    assert (status, out) == (2, "")
    assert err.startswith(("ridgepoint:", "Usage:"))
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "said",
    [
        "/opt/numpy/_core/_umath.so: failed to map segment from shared object",
        "libstdc++.so.6: cannot open shared object file: No such file or directory",
    ],
)
def test_2_is_a_library_that_the_system_does_not_load(cli, monkeypatch, said):
    """As NumPy says it where nothing may be executed or C++'s library is not there, at length."""
    path = "/opt/numpy/_core/_umath.so"

    def loading(*_, **__):
        try:
            raise ImportError(said, path=path)
        except ImportError as error:
            raise ImportError("IMPORTANT:\n\nPLEASE READ THIS\n") from error

    monkeypatch.setattr(list_command.command, "callback", loading)
    status, out, err = cli("list")

    assert (status, out) == (2, "")
    assert f"cannot load a library that is needed: {path}: " in err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt(), 130), (Interrupted("cannot go on: SIGTERM asks to stop", 15), 143)],
)
def test_128_and_more_is_a_signal(cli, monkeypatch, error, status):
    """Ctrl-C, and SIGTERM as batch systems send it."""

    def stopped(*_, **__):
        raise error

    monkeypatch.setattr(list_command.command, "callback", stopped)

    assert main(["list"]) == status


def test_any_other_is_the_programs(cli):
    """As it ended."""
    status, _, err = cli.run("--", sys.executable, "-c", "raise SystemExit(7)")

    assert status == 7
    assert "7" in err
