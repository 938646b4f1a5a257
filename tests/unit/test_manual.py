"""The man pages and the page of commands, made from the command line."""

import os
import shutil
import subprocess
import venv
import zipfile
from pathlib import Path

import manual
import pytest

PAGES = {command.path: command for command in manual.described()}


def test_every_command_has_a_page():
    """Those of suites too."""
    assert {"ridgepoint", "ridgepoint run", "ridgepoint c++", "ridgepoint suite imaging"} <= set(
        PAGES
    )
    assert manual.page_name("ridgepoint suite imaging") == "ridgepoint-suite-imaging.1"


def test_a_page_says_what_help_says():
    """Options with their values, what they do, and the examples."""
    page = manual.man_page(PAGES["ridgepoint run"], "0.2.0")

    assert ".B \\-\\-miss\\-curve\nFind the memory traffic over the size of the cache.\n" in page
    assert "ridgepoint run \\-o heat.svg \\-\\- ./heat 2000 60" in page
    assert ".BR ridgepoint (1)" in page
    assert page.startswith('.TH "RIDGEPOINT-RUN" 1 "" "Ridgepoint 0.2.0" "Ridgepoint"\n')


def test_nothing_in_a_text_is_a_macro():
    """Neither a point nor a quote at the beginning of a line, nor a backslash."""
    assert manual._roff(".\\n 'a' -b") == "\\&.\\en \\(aqa\\(aq \\-b"


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
@pytest.mark.parametrize("path", PAGES)
def test_groff_finds_nothing_wrong(path):
    """With all of its warnings."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"],
        input=manual.man_page(PAGES[path], "0.2.0").encode(),
        capture_output=True,
        check=True,
    )

    assert done.stderr.decode() == ""


def test_markdown_has_every_command():
    """As headings, in the order of the help."""
    headings = [line[3:] for line in manual.markdown().splitlines() if line.startswith("## ")]

    assert headings == [path for path in PAGES if path != "ridgepoint"]


def test_text_is_no_markup():
    """A bar would end a cell, and stars would vanish."""
    assert manual._md("a|b *c* <d>") == "a\\|b \\*c\\* \\<d\\>"


@pytest.mark.slow
def test_a_wheel_built_by_a_bare_python_has_the_pages(tmp_path):
    """As `pip install .` builds it in a new environment, where there is neither click nor us."""
    venv.create(tmp_path / "bare", with_pip=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [tmp_path / "bare/bin/pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, root],
        env=environment,
        capture_output=True,
        text=True,
    )
    if "No matching distribution found for hatchling" in done.stdout + done.stderr:
        pytest.skip("no package index can be reached")
    (wheel,) = tmp_path.glob("*.whl")

    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(wheel) as content:
        pages = {Path(name).name for name in content.namelist() if "/share/man/man1/" in name}
    assert pages == {manual.page_name(path) for path in PAGES}
