"""Whether everything in a wheel has a licence file, and the bill of materials lists all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from bundled import Component, Part, npm_components, part_of, source_components
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from wheel_file import Wheel

SOURCES = "sources.json"
"""The file in which a build says what it was made from."""

_SPDX = re.compile(rb"SPDX-License-Identifier: ([^\n*]+)")
_IDS = re.compile(r"[\w.+-]+")


def licence_problems(wheel: Wheel, parts: Sequence[Part]) -> Iterator[str]:
    """Yield files of a wheel of which no part has the licence, and parts without its text."""
    said = wheel.metadata["License-Expression"] or ""
    try:
        canonicalize_license_expression(said)
    except InvalidLicenseExpression as error:
        yield f"License-Expression {said!r}: {error}"
    folder = f"{wheel.information}/licenses/"
    texts = {name.removeprefix(folder) for name in wheel.files if name.startswith(folder)}
    listed = set(wheel.metadata.get_all("License-File") or ())
    for text in sorted(texts ^ listed):
        yield f"licence file {text}: it is {'not listed' if text in texts else 'listed only'}"
    used = set()
    for name, data in wheel.files.items():
        if name.startswith(f"{wheel.information}/"):
            continue
        part = part_of(name, parts)
        if part is None:
            yield f"{name}: whose it is stands nowhere; describe it in bundled.toml"
            continue
        used.add(part)
        states = _SPDX.search(data[:1000])
        if states and states[1].decode().strip() != part.licence:
            yield f"{name}: it states {states[1].decode().strip()}, and bundled.toml {part.licence}"
    for part in parts:
        if part in used:
            yield from (f"{part.name}: {each}" for each in _text_problems(wheel, part, texts, said))
        elif not part.compiled or wheel.platforms != {"any"}:
            yield f"{part.name}: bundled.toml describes it, and the wheel does not have it"


def _text_problems(wheel: Wheel, part: Part, texts: set[str], said: str) -> Iterator[str]:
    for text in part.texts:
        if text not in texts:
            yield f"its licence file {text} is missing"
        elif not wheel.files[f"{wheel.information}/licenses/{text}"].strip():
            yield f"its licence file {text} is empty"
    if not part.texts:
        yield "it has no licence file"
    choices = [set(_IDS.findall(choice)) - {"AND", "WITH"} for choice in part.licence.split(" OR ")]
    if not any(choice <= set(_IDS.findall(said)) for choice in choices):
        yield f"License-Expression does not have its licence, {part.licence}"


def components_in(wheel: Wheel, parts: Iterable[Part]) -> Iterator[Component]:
    """Yield the works of others of which a wheel holds parts.

    Raises
    ------
    ValueError
        If the file that should list them does not, or is not there.
    """
    for part in parts:
        if part.others == "npm":
            yield from npm_components(wheel.text(f"licenses/{part.texts[0]}"))
        elif part.others == "sources":
            files = [
                name for name in wheel.files if name.endswith(f"/{SOURCES}") and part.has(name)
            ]
            if len(files) != 1:
                raise ValueError(f"{part.name}: it has {len(files)} files {SOURCES}, not 1")
            yield from source_components(wheel.files[files[0]].decode())


def sbom_problems(wheel: Wheel, parts: Sequence[Part]) -> Iterator[str]:
    """Yield what a wheel's bill of materials lacks, or lists and the wheel lacks."""
    bills = [name for name in wheel.files if name.startswith(f"{wheel.information}/sboms/")]
    if not bills:
        yield "it has no bill of materials in .dist-info/sboms"
    try:
        held = set(components_in(wheel, parts))
    except ValueError as error:
        yield str(error)
        return
    for bill in bills:
        try:
            document = json.loads(wheel.files[bill])
            main = document["metadata"]["component"]
            listed = {(each["purl"], each["version"]) for each in document["components"]}
        except (ValueError, KeyError, TypeError) as error:
            yield f"{bill}: it is no bill of materials of CycloneDX: {error!r}"
            continue
        if (main.get("name"), main.get("version")) != (wheel.package, wheel.version):
            yield f"{bill}: it is one of {main.get('name')} {main.get('version')}"
        for purl, _ in sorted({(each.purl, each.version) for each in held} ^ listed):
            where = "lists what is not in the wheel" if (purl, _) in listed else "does not list"
            yield f"{bill}: it {where}: {purl}"
