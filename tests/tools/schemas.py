"""Writes the JSON Schemas of all documents, which ship with the package.

    python tests/tools/schemas.py --renew      # then: git diff src/ridgepoint/data/schemas

``tests/unit/test_schemas.py`` holds the files to what this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "src" / "ridgepoint" / "data" / "schemas"


def main() -> None:
    """Write every schema, and remove those of kinds that there are no more."""
    from ridgepoint.show.schemas.catalogue import file_name, kinds, rendered

    if sys.argv[1:] != ["--renew"]:
        sys.exit("usage: python tests/tools/schemas.py --renew")
    FOLDER.mkdir(exist_ok=True)
    names = {file_name(kind): kind for kind in kinds()}
    for path in FOLDER.glob("*.json"):
        if path.name not in names:
            path.unlink()
    for name, kind in names.items():
        (FOLDER / name).write_text(rendered(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
