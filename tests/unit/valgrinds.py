"""Valgrinds that cannot count: one of the user's own, and one of a Python package."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.engine.build import engine
from ridgepoint.meters.engine.recipe import source_key
from ridgepoint.meters.valgrind.package import MODULE, PROGRAMS

TOOLS, HEADERS, ARCHIVES = "libexec/valgrind", "include/valgrind", "lib/valgrind"
CORE, VEX = "libcoregrind-amd64-linux.a", "libvex-amd64-linux.a"
ENGINE_MODULE = Path(__file__).parents[2] / "engine/src" / MODULE / "__init__.py"


def refusal(**options):
    """Return the one line with which `engine` refuses."""
    with pytest.raises(MeterUnavailable) as caught:
        engine(**options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def launcher(version):
    """Return a program that only knows its version."""
    return f"#!/bin/sh\necho valgrind-{version}\n"


def install_own(root, version="3.24.0"):
    """Install a Valgrind as ``make install`` would, with all that a tool is built from."""
    files = {
        "bin/valgrind": launcher(version),
        f"{TOOLS}/none-amd64-linux": "a tool",
        f"{HEADERS}/config.h": f'#define PACKAGE_VERSION "3"\n#define VERSION "{version}"\n',
        f"{HEADERS}/pub_tool_basics.h": "",
        f"{ARCHIVES}/{CORE}": "an archive",
        f"{ARCHIVES}/{VEX}": "an archive",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "bin/valgrind").chmod(0o755)


def install_package(site, source, version="3.27.1"):
    """Install the package ridgepoint-engine, with a tool that was made from a source."""
    folder = site / MODULE / "valgrind"
    folder.mkdir(parents=True)
    shutil.copy(ENGINE_MODULE, folder.parent)
    for name in PROGRAMS:
        (folder / name).write_text(launcher(version))
        (folder / name).chmod(0o755)
    made = {"valgrind": version, "source": source_key(source)}
    (folder / "made.json").write_text(json.dumps(made))
    return folder


def no_package(monkeypatch):
    """Hide a package that is installed where tests run."""
    monkeypatch.setitem(sys.modules, MODULE, None)
