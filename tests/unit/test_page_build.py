"""That the script and style of the page, which ship with the package, are those of `web/`."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
BUILT = WEB.parent / "src" / "ridgepoint" / "data" / "page"


def test_page_is_built_from_its_sources(tmp_path):
    """The same sources and pinned packages give the same bytes as those that are kept."""
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules").is_dir():
        pytest.skip("building the page needs Node and web/node_modules: run `make page`")

    subprocess.run([node, WEB / "build.mjs", tmp_path], check=True)

    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in BUILT.iterdir()
    }


def test_script_can_stand_in_a_page():
    """Nothing in it ends its element, and it asks for nothing from outside."""
    script = (BUILT / "page.js").read_text()
    style = (BUILT / "page.css").read_text()

    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert "</style" not in style.lower()
    assert not re.search(r"@import|url\((?!data:|#)", style)


def test_licences_of_what_is_inside_stand_in_the_script():
    """Whoever passes a page on passes them on."""
    assert (BUILT / "licences.txt").read_text() in (BUILT / "page.js").read_text()
