"""Puts into a package what is known or made when it is built.

That is the version of the engine and, in a wheel, man pages, a bill of materials, compiled files.

With ``RIDGEPOINT_COMPILE_AHEAD=1`` the wheel ships what Ridgepoint compiles at first use, and is
for x86-64 Linux; without, it is for any platform and has the C source alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_GLIBC = "2.17"
_TAG = f"py3-none-manylinux_{_GLIBC.replace('.', '_')}_x86_64"
_MANUAL = "share/man/man1"


class SameVersion(MetadataHookInterface):  # type: ignore[misc]
    """Asks for the engine of exactly this version, since the two are tested together."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the version, which is not known before there is a commit to build."""
        metadata["optional-dependencies"]["engine"] = [f"ridgepoint-engine=={metadata['version']}"]


class MadeFiles(BuildHookInterface):  # type: ignore[misc]
    """Makes files beside the wheel, which takes them from there."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make them; not for an editable installation, whose commands and sources change."""
        if version == "editable":
            return
        self._made = tempfile.TemporaryDirectory()
        made = Path(self._made.name)
        self._run("manual.py", made / "pages", self.metadata.version)
        for page in sorted((made / "pages").iterdir()):
            build_data["shared_data"][str(page)] = f"{_MANUAL}/{page.name}"
        bill = made / f"{self.metadata.name}.cdx.json"
        self._run("wheels/sbom.py", self.root, self.metadata.version, bill)
        build_data["sbom_files"].append(str(bill))
        if os.environ.get("RIDGEPOINT_COMPILE_AHEAD") == "1":
            self._run("wheels/compile.py", made / "built", _GLIBC)
            build_data["force_include"][str(made / "built")] = "ridgepoint/built"
            build_data["pure_python"] = False
            build_data["tag"] = _TAG

    def _run(self, tool: str, *arguments: str | Path) -> None:
        """Run a tool of the repository.

        A process of its own: what builds is not to import what is built. It finds libraries where
        this one does; pip isolates builds by sys.path.
        """
        root = Path(self.root)
        places = os.pathsep.join([str(root / "src"), *sys.path])
        subprocess.run(
            [sys.executable, root / "tools" / tool, *arguments],
            env={**os.environ, "PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1"},
            check=True,
        )

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has taken."""
        if version != "editable":
            self._made.cleanup()
