"""Gives the wheel the tag of what it holds, programs for x86-64, and its bill of materials."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PROGRAMS = Path("src/ridgepoint_engine/valgrind")
# Every program is static, and what is loaded into others refers to no library at all: any libc
# that Python runs on will do. tools/wheels/check.py looks at the files.
_TAG = "py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64"


class Programs(BuildHookInterface):  # type: ignore[misc]
    """Refuses to pack a package without its programs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag, and write the bill of materials."""
        root = Path(self.root)
        sources = root / _PROGRAMS / "sources.json"
        if not sources.is_file():
            raise FileNotFoundError(
                f"there are no programs in {_PROGRAMS}: run tools/wheels/valgrind.py first"
            )
        build_data["pure_python"] = False
        build_data["tag"] = _TAG
        self._folder = tempfile.TemporaryDirectory()
        bill = Path(self._folder.name) / f"{self.metadata.name}.cdx.json"
        writer = root.parent / "tools" / "wheels" / "sbom.py"
        subprocess.run(
            [sys.executable, writer, root, self.metadata.version, bill, sources], check=True
        )
        build_data["sbom_files"].append(str(bill))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has taken."""
        self._folder.cleanup()
