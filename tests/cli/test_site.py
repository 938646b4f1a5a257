"""The documentation as a site: its navigation, its generated pages, and the whole of it."""

import re
import subprocess
import sys
from importlib.util import find_spec

import doc_blocks
import pytest

sys.path.append(str(doc_blocks.ROOT / "tools" / "site"))
import api
import build

README = (doc_blocks.ROOT / "docs" / "README.md").read_text()
NAVIGATION = build.navigation(README)
IN_NAVIGATION = [
    line
    for block in re.findall(r"```\{toctree\}\n(.+?)```", NAVIGATION, flags=re.DOTALL)
    for line in block.splitlines()
    if line and not line.startswith(":")
]


def test_every_page_is_in_the_navigation_once():
    """A page that docs/README.md does not name cannot be found."""
    pages = {path.stem for path in (doc_blocks.ROOT / "docs").glob("*.md")} - {"README"}

    assert sorted(IN_NAVIGATION) == sorted({*pages, "commands", "api"})


def test_newcomers_come_first():
    """Start, then the tutorials."""
    captions = re.findall(r":caption: (.+)", NAVIGATION)

    assert captions == ["Start", "Tutorials", "How to", "Method", "Reference", "Gallery"]
    assert IN_NAVIGATION[0] == "start"


def test_every_name_in_python_is_in_a_group():
    """As docs/python.md has them."""
    names = [name for members in api.groups().values() for name in members]

    assert {"measure", "Machine", "plot"} <= set(names)
    assert len(names) == len(set(names))


def test_links_to_files_and_images_lead_somewhere():
    """On a forge: to pages, pictures and files of the repository."""
    for page in (doc_blocks.ROOT / "README.md", *(doc_blocks.ROOT / "docs").glob("*.md")):
        targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text())

        assert [name for name in targets if not (page.parent / name).exists()] == []


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("furo"), reason="there is no Sphinx: pip install '.[docs]'")
def test_the_site_is_built_without_a_warning(tmp_path):
    """Strictly, with the gallery; nothing in it asks another host for anything."""
    done = subprocess.run(
        [sys.executable, doc_blocks.ROOT / "tools" / "site" / "build.py", tmp_path / "site"],
        capture_output=True,
        text=True,
    )
    pages = {path.name: path.read_text() for path in (tmp_path / "site").glob("*.html")}
    asked = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*")
    own = {name: text for name, text in pages.items() if name != "report.html"}

    assert done.returncode == 0, done.stderr
    assert {"index.html", "search.html", "commands.html", "gallery.html"} <= set(pages)
    assert "gallery/heat.svg" in pages["gallery.html"] or "heat.svg" in pages["gallery.html"]
    assert {name: found for name, text in own.items() if (found := asked.findall(text))} == {}
