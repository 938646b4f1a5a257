"""Validates documents against the JSON Schemas that ship with the package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

FOLDER = Path(__file__).parents[2] / "src" / "ridgepoint" / "data" / "schemas"


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    """Return what validates documents of a kind."""
    path = FOLDER / f"{kind.replace(' ', '-')}.json"
    if not path.is_file():
        raise AssertionError(
            f"documents of kind {kind!r} have no schema: describe them in "
            "src/ridgepoint/show/schemas, name that in catalogue.py, and run "
            "'python tests/tools/schemas.py --renew'"
        )
    return jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def complaints(document: dict[str, Any]) -> list[str]:
    """Return why a document does not have the schema of its kind; empty: it does."""
    found = []
    for error in validator(document["kind"]).iter_errors(document):
        # What is wrong within alternatives is wrong in the one that comes farthest.
        while error.context:
            error = max(error.context, key=lambda one: len(one.absolute_path))  # noqa: PLW2901
        where = "/".join(map(str, error.absolute_path))
        found.append(f"{document['kind']}: {where}: {error.message[:300]}")
    return found
