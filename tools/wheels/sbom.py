"""Writes the bill of materials of a wheel: sbom.py PROJECT VERSION FILE [SOURCES].

PROJECT is the folder of the package's pyproject.toml, and SOURCES the file in which a build says
what it was made from. It is a document of CycloneDX, for the wheel's .dist-info/sboms (PEP 770).
Any build of the package runs this, so that it needs nothing but Python; what it writes is checked
against CycloneDX's schema by a test.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bundled import Component, npm_components, parts_of, source_components

ROOT = Path(__file__).parents[2]


def components(package: str, sources: Path | None) -> Iterator[Component]:
    """Yield the works of others of which a package's wheel holds parts.

    Parameters
    ----------
    package : str
    sources : Path or None
        The file in which its build says what it was made from.

    Raises
    ------
    ValueError
        If a list of them is missing or wrong.
    """
    for part in parts_of(package):
        if part.others == "npm":
            yield from npm_components((ROOT / part.texts[0]).read_text(encoding="utf-8"))
        elif part.others == "sources":
            if sources is None:
                raise ValueError(f"{part.name}: nothing says what it was made from")
            yield from source_components(sources.read_text(encoding="utf-8"))


def document(
    package: str, version: str, licence: str, parts: Sequence[Component], epoch: int | None
) -> dict[str, Any]:
    """Return a bill of materials; the same for the same arguments.

    Parameters
    ----------
    package, version : str
    licence : str
        The package's, an SPDX expression.
    parts : sequence of Component
    epoch : int or None
        The time of the build, s since 1970; None: it is not said.
    """
    purl = f"pkg:pypi/{package}@{version.replace('+', '%2B')}"
    main = {
        "type": "application",
        "bom-ref": purl,
        "name": package,
        "version": version,
        "licenses": [{"expression": licence}],
        "purl": purl,
    }
    content: dict[str, Any] = {
        "metadata": {"lifecycles": [{"phase": "build"}], "component": main},
        "components": [_component(each) for each in sorted(parts, key=lambda each: each.purl)],
        "dependencies": [{"ref": purl, "dependsOn": sorted(each.purl for each in parts)}],
    }
    if epoch is not None:
        content["metadata"]["timestamp"] = datetime.fromtimestamp(epoch, UTC).isoformat()
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    head = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": number.urn,
        "version": 1,
    }
    return {**head, **content}


def _component(component: Component) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "type": "library",
        "bom-ref": component.purl,
        "name": component.name,
        "version": component.version,
        "licenses": [{"expression": component.licence}],
        "purl": component.purl,
    }
    if component.source is not None:
        # The checksum is that of the source, not of what was built from it.
        reference: dict[str, Any] = {"type": "source-distribution", "url": component.source}
        if component.sha256 is not None:
            reference["hashes"] = [{"alg": "SHA-256", "content": component.sha256}]
        stated["externalReferences"] = [reference]
    return stated


def main() -> None:
    """Write the bill of materials that the command line asks for."""
    if len(sys.argv) not in (4, 5) or sys.argv[1].startswith("-"):
        sys.exit("usage: python tools/wheels/sbom.py PROJECT VERSION FILE [SOURCES]")
    project, version, file = sys.argv[1:4]
    sources = Path(sys.argv[4]) if len(sys.argv) == 5 else None
    stated = tomllib.loads((Path(project) / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    bill = document(
        stated["name"],
        version,
        stated["license"],
        list(components(stated["name"], sources)),
        None if epoch is None else int(epoch),
    )
    Path(file).write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
