"""The man pages and the page of commands, made from the command line."""

import shutil
import subprocess

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
    page = manual.man_page(PAGES["ridgepoint run"])

    assert ".B \\-\\-miss\\-curve\nFind the memory traffic over the size of the cache.\n" in page
    assert "ridgepoint run \\-o heat.svg \\-\\- ./heat 2000 60" in page
    assert ".BR ridgepoint (1)" in page


def test_nothing_in_a_text_is_a_macro():
    """Neither a point nor a quote at the beginning of a line, nor a backslash."""
    assert manual._roff(".\\n 'a' -b") == "\\&.\\en \\(aqa\\(aq \\-b"


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
@pytest.mark.parametrize("path", PAGES)
def test_groff_finds_nothing_wrong(path):
    """With all of its warnings."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"],
        input=manual.man_page(PAGES[path]).encode(),
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
