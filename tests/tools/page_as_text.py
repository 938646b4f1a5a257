"""What a page says, as lines of text: its views, controls, points, rows and facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

_MOST_MARKS, _MOST_ROWS, _MOST_SUBJECTS = 12, 8, 2
_LONGEST = 400


class PageParser(HTMLParser):
    """A page as a browser would take it apart: its elements, and the text of each script.

    Attributes
    ----------
    elements : list of (str, dict)
        Names and attributes of all elements.
    scripts : dict of str to str
        Text of each script, by its type; that of programs is empty.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._open = dict(attrs).get("type") or "program"
            self.scripts[self._open] = ""

    def handle_endtag(self, tag: str) -> None:
        """Note that a script ends."""
        if tag == "script":
            self._open = ""

    def handle_data(self, data: str) -> None:
        """Keep the text of a script."""
        if self._open:
            self.scripts[self._open] += data


def document_of(path: Path) -> dict[str, Any]:
    """Return the document of a page, without what is as usual."""
    document: dict[str, Any] = json.loads(
        PageParser(path.read_text(encoding="utf-8")).scripts["application/json"]
    )
    return document


def said(path: Path) -> str:
    """Return what a page says, as far as it is not a picture of its own."""
    document = document_of(path)
    lines = [f"page {document['title']!r}"]
    for record in document["records"]:
        lines.append(f"record {record['key']} {record['kind']} {record['name']!r}")
    for view in document["views"]:
        lines += [f"== {view['title']} ({view['kind']})", *_view(view)]
    return "\n".join(line[:_LONGEST].rstrip() for line in lines) + "\n"


def _view(view: dict[str, Any]) -> Iterator[str]:
    for note in view.get("notes", []):
        yield f"note: {note}"
    if "coverage" in view:
        yield f"coverage: {view['coverage'].get('share')} {view['coverage']['text']}"
    chosen = {}
    for control in view.get("controls", []):
        chosen[control["tag"]] = control["initial"]
        values = ", ".join(
            f"{'[x]' if option['value'] in control['initial'] else '[ ]'} {option['title']}"
            for option in control["options"]
        )
        yield f"control {control['tag']}{'!' if control.get('exclusive') else ''}: {values}"
    for chart in view.get("charts", []):
        yield from _chart(chart, chosen)
    if "table" in view:
        yield from _table(view["table"])
    for subject in view.get("subjects", [])[:_MOST_SUBJECTS]:
        yield f"subject {subject['key']} {subject['kind']} {subject['name']!r}"
        yield from _subject(subject)


def _chart(chart: dict[str, Any], chosen: dict[str, list[str]]) -> Iterator[str]:
    yield f"-- chart {chart['title']!r}"
    lines = [line for line in chart.get("lines", []) if _is_shown(line, chosen)]
    for line in lines:
        if line.get("label"):
            band = " with a band" if line.get("low") else ""
            yield f"{line['kind']} {line['label']['text']}{band}"
    marks = [mark for mark in chart.get("marks", []) if _is_shown(mark, chosen)]
    for mark in marks[:_MOST_MARKS]:
        bars = "".join(f" {axis}-bar" for axis in "xy" if mark.get(f"{axis}_interval"))
        yield f"mark {mark.get('name', '')}: {mark.get('summary', '')}{bars}"
    every = f"{len(chart.get('lines', []))} lines and {len(chart.get('marks', []))} marks"
    yield f"{len(lines)} lines and {len(marks)} marks shown of {every}"


def _is_shown(one: dict[str, Any], chosen: dict[str, list[str]]) -> bool:
    return all(value in chosen.get(tag, [value]) for tag, value in one.get("tags", {}).items())


def _table(table: dict[str, Any]) -> Iterator[str]:
    yield f"-- table {table['name']!r}: {' | '.join(each['title'] for each in table['columns'])}"
    for row in table["rows"][:_MOST_ROWS]:
        yield " | ".join(cell["text"] for cell in row["cells"])
    yield f"{len(table['rows'])} rows"


def _subject(subject: dict[str, Any]) -> Iterator[str]:
    for fact in subject.get("facts", [])[:20]:
        how = f" <- {fact['how']}" if "how" in fact else ""
        yield f"  {fact['name']}: {fact['text']}{how}"
    for advice in subject.get("advice", []):
        yield f"  next: {advice['seen']}; {advice['what']} ({advice['gain']})"
    for cause in subject.get("ruled_out", []):
        yield f"  {'open' if 'is_open' in cause else 'ruled out'}: {cause['what']}: {cause['why']}"
    for line in subject.get("lines", [])[:3]:
        yield f"  line {line['file']}:{line['line']} {line.get('facts')}"
