"""Build the documentation as a site: ``make site``, or ``python tools/site/build.py FOLDER``.

The pages are docs/*.md as they are. Added are the order of docs/README.md as navigation, the pages
of all commands and of all names in Python, which are made from their own texts, and the pictures of
docs/gallery.md, which its commands draw from the stored measurements of tests/snapshots/kept.
A warning is an error: a link that leads nowhere, a page that no list names.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [
    str(ROOT / part) for part in ("tests/tools", "tests/unit", "tools", "tools/site", "src")
]

_LINK = re.compile(r"\]\((?P<target>[^)#]+)(?P<anchor>#[^)]*)?\)")
_NAMED_AS_FILE = re.compile(r"\[(\w+\.md)\]\(\1")
"""A link whose words are the name of the page, as a forge shows it well; a site has its title."""
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_GENERATED = {"Reference": ("commands", "api")}
"""Pages that are made here, by the section of docs/README.md after whose pages they stand."""


def main() -> int:
    """Build the site in the folder that the command line names; return Sphinx's status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-gallery", action="store_true", help="Draw no pictures.")
    arguments = parser.parse_args()
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "source"
        write_sources(source, with_gallery=not arguments.no_gallery)
        shutil.copy(ROOT / "tools" / "site" / "conf.py", source)
        options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(source.parent / "trees")]
        status = build_main([*options, str(source), str(arguments.folder.absolute())])
        for page in (source / "gallery").glob("*.html"):
            shutil.copy(page, arguments.folder / page.name)
    return status


def write_sources(folder: Path, *, with_gallery: bool = True) -> None:
    """Write all that Sphinx reads, its settings excepted."""
    import api
    import manual

    shutil.copytree(DOCS / "images", folder / "images")
    for page in sorted(DOCS.glob("*.md")):
        text = _with_files(page.read_text(encoding="utf-8"), folder)
        if page.name == "gallery.md" and with_gallery:
            text = with_pictures(text, folder)
        name = "index.md" if page.name == "README.md" else page.name
        (folder / name).write_text(text, encoding="utf-8")
    index = folder / "index.md"
    index.write_text(index.read_text() + navigation(index.read_text()), encoding="utf-8")
    (folder / "commands.md").write_text(manual.markdown(), encoding="utf-8")
    api.write(folder)


def navigation(readme: str) -> str:
    """Return the lists of pages that Sphinx makes the navigation of: the links of each section."""
    parts = _SECTION.split(readme)[1:]
    lists = []
    seen: set[str] = set()
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        pages = [
            link["target"].removesuffix(".md")
            for link in _LINK.finditer(text)
            if link["target"].endswith(".md") and "/" not in link["target"]
        ]
        own = [page for page in dict.fromkeys(pages) if page not in seen and page != "index"]
        seen |= {*own}
        own += _GENERATED.get(title, ())
        if own:
            body = "\n".join(own)
            lists.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{body}\n```\n")
    return "".join(lists)


def _with_files(text: str, folder: Path) -> str:
    """Return a page whose links to other files of the repository lead to copies beside it."""

    def linked(link: re.Match[str]) -> str:
        target, anchor = link["target"], link["anchor"] or ""
        if target == "README.md":
            return f"](index.md{anchor})"
        if not target.startswith("../"):
            return link[0]
        file = (DOCS / target).resolve()
        if file.suffix == ".md":  # the repository's README and changelog are no pages
            return f"](https://ridgepoint.invalid/{file.name})"
        if not file.is_file():
            return link[0]  # Sphinx complains
        (folder / "files").mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / "files" / file.name)
        return f"](files/{file.name})"

    return _LINK.sub(linked, _NAMED_AS_FILE.sub(r"[](\1", text))


def with_pictures(text: str, folder: Path) -> str:
    """Return the gallery with the picture of each command below it, and with links to its pages.

    Raises
    ------
    SystemExit
        If a command fails.
    """
    import doc_blocks

    from ridgepoint.cli.main import main as run

    drawn = folder / "gallery"
    drawn.mkdir(parents=True)
    lines = text.splitlines()
    added: dict[int, list[str]] = {}
    with _stored() as bench:
        for command in doc_blocks.commands(DOCS / "gallery.md"):
            files = [word for word in command.words if Path(word).suffix in (".svg", ".html")]
            print(f"gallery: {command.shell}", file=sys.stderr)
            _, redirected, target = command.shell.partition(" > ")
            printed = bench / target if redirected else Path(os.devnull)
            with printed.open("w") as out, contextlib.redirect_stdout(out):
                if run(list(command.words)):
                    sys.exit(f"{command.place}: the command fails: {command.shell}")
            end = next(n for n in range(command.line, len(lines)) if lines[n].startswith("```"))
            for name in files:
                shutil.copy(bench / name, drawn / name)
                words = "the picture" if name.endswith(".svg") else "the page"
                line = (
                    f"![{words} that this command draws](gallery/{name})"
                    if name.endswith(".svg")
                    else f'<a href="{name}">Open the page that this command writes.</a>'
                )
                added.setdefault(end, []).append(line)
    written = []
    for number, line in enumerate(lines):
        written += [line, *(part for one in added.get(number, ()) for part in ("", one))]
    return "\n".join(written) + "\n"


@contextlib.contextmanager
def _stored() -> Iterator[Path]:
    """Stand in a folder with an archive of the stored measurements; give the folder."""
    import kept_records

    from ridgepoint import import_records

    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = Path(temporary)
        archive = folder / "archive.sqlite3"
        kept_records.fill(archive)
        import_records(ROOT / "tests" / "data" / "tutorials.sqlite3", archive=archive)
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(mock.patch.dict(os.environ, RIDGEPOINT_ARCHIVE=str(archive)))
        yield folder


if __name__ == "__main__":
    sys.exit(main())
