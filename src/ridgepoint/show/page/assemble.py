"""A page as one HTML file: its document, one script and one style; it asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files
from pathlib import Path

from ridgepoint.core.documents import legible
from ridgepoint.kept.files import replace_file
from ridgepoint.show.page.document import PageDocument
from ridgepoint.show.page.encode import in_script, page_json

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Ridgepoint {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="ridgepoint"></div>
<noscript>{noscript}</noscript>
<script type="application/json" id="ridgepoint-document">{document}</script>
<script>{script}</script>
</body>
</html>
"""
_NO_SCRIPT = (
    "This page draws its charts and tables with JavaScript, which is switched off here. Its data "
    "are in it, as JSON."
)


def page_html(document: PageDocument) -> bytes:
    """Return a page as an HTML file; the same bytes for the same document."""
    script, style = _part("page.js"), _part("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return _PAGE.format(
        policy=policy,
        version=html.escape(document.version),
        title=html.escape(legible(document.title)),
        style=style,
        noscript=_NO_SCRIPT,
        document=in_script(page_json(document)),
        script=script,
    ).encode()


def write_page(document: PageDocument, path: Path) -> None:
    """Write a page to a file, whole or not at all: to ``.json`` only its document.

    Raises
    ------
    RidgepointError
        If it cannot be written.
    """
    is_data = path.suffix.lower() == ".json"
    content = page_json(document) + b"\n" if is_data else page_html(document)
    replace_file(path, content, what="the page")


def _part(name: str) -> str:
    """Return what the folder ``web`` was built into."""
    return files("ridgepoint").joinpath("data", "page", name).read_text("utf-8")
