"""Puts the man pages into a wheel: they are made from the command line that it contains."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = "share/man/man1"


class ManPages(BuildHookInterface):  # type: ignore[misc]
    """Writes a man page for every command beside the wheel, which takes them from there."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the pages; not for an editable installation, whose commands change."""
        if version == "editable":
            return
        self._pages = tempfile.TemporaryDirectory()
        root = Path(self.root)
        # A process of its own: what builds is not to import what is built. It finds click where
        # this one does; pip isolates builds by sys.path.
        places = os.pathsep.join([str(root / "src"), *sys.path])
        subprocess.run(
            [sys.executable, root / "tools/manual.py", self._pages.name, self.metadata.version],
            env={**os.environ, "PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1"},
            check=True,
        )
        for page in sorted(Path(self._pages.name).iterdir()):
            build_data["shared_data"][str(page)] = f"{_FOLDER}/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has taken."""
        if version != "editable":
            self._pages.cleanup()
