"""Where Valgrind is, and what it takes to build a tool for it: headers, archives, its own tools."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import MeterUnavailable, reason_of
from ridgepoint.host.process import output_of
from ridgepoint.meters import building
from ridgepoint.meters.valgrind.choice import INSTALL
from ridgepoint.meters.valgrind.package import PLATFORM

WHAT = "the counting engine"
"""What is built, for messages."""

_START_TIMEOUT_S = 20.0

# Where distributions and `make install` put archives and, before 3.16 or so, the tools.
_LIBRARIES = tuple(
    f"{folder}/valgrind" for folder in ("lib/x86_64-linux-gnu", "lib64", "lib", "libexec")
)
_TOOLS = ("libexec/valgrind", *_LIBRARIES)
_DEFAULT_LOAD_ADDRESS = "0x58000000"
_DEVELOPMENT = (
    "reinstall the package 'valgrind' (Debian, Ubuntu), or install 'valgrind-devel' and, where "
    "it exists, 'valgrind-tools-devel' (Fedora, Red Hat, SUSE); for a Valgrind of your own, "
    "run 'make install'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A Valgrind for which a tool can be built.

    Parameters
    ----------
    launcher : Path
        The command ``valgrind``, links followed.
    version : str
        What the headers say, for example ``"3.19.0"``.
    tools : Path
        The folder of Valgrind's own tools.
    headers : Path
        The folder of ``pub_tool_*.h`` and ``config.h``.
    archives : tuple of Path
        What a tool is linked with, in this order.
    load_address : str
        Where a tool's text begins, for the linker.
    """

    launcher: Path
    version: str
    tools: Path
    headers: Path
    archives: tuple[Path, ...]
    load_address: str

    @property
    def parts(self) -> tuple[Path, ...]:
        """Files that an upgrade in place changes."""
        # A Valgrind that runs under our own library folder finds links there.
        tool = os.path.realpath(self.tools / f"none-{PLATFORM}")
        return (self.launcher, Path(tool), self.headers / "config.h", *self.archives)


def unavailable(reason: str, remedy: str) -> MeterUnavailable:
    """Return the error that there is no counting engine."""
    return building.unavailable(WHAT, reason, remedy)


def installation() -> Installation:
    """Find the Valgrind in ``PATH`` and what it takes to build a tool for it; starts nothing.

    Raises
    ------
    MeterUnavailable
        If this is not x86-64, there is no Valgrind, it is not for amd64, or it came without
        its headers or archives.
    """
    building.check_machine(WHAT, "counts")
    path = shutil.which("valgrind")
    if path is None:
        raise unavailable("valgrind is not in PATH", INSTALL)
    launcher = Path(os.path.realpath(path))
    prefixes = _prefixes(Path(path).absolute(), launcher)
    tools = _tools(launcher, prefixes)
    headers = _headers(launcher, prefixes)
    archives = _archives(launcher, prefixes)
    return Installation(
        launcher=launcher,
        version=_stated_version(headers / "config.h"),
        tools=tools,
        headers=headers,
        archives=archives,
        load_address=_load_address(archives[0].parent, prefixes),
    )


def check_version(installation: Installation) -> None:
    """Start Valgrind and compare its version with that of its headers.

    Raises
    ------
    MeterUnavailable
        If it does not start, or the headers belong to another version.
    """
    try:
        answer = output_of([str(installation.launcher), "--version"], limit_s=_START_TIMEOUT_S)
    except OSError as error:
        raise unavailable(
            f"{installation.launcher} does not start ({reason_of(error)})",
            "reinstall the package 'valgrind'",
        ) from error
    version = answer.strip().removeprefix("valgrind-")
    if version != installation.version:
        raise unavailable(
            f"{installation.launcher} is Valgrind {version}, but the headers in "
            f"{installation.headers} are those of {installation.version}",
            "install the headers and the program from the same package, or put the valgrind "
            "that belongs to the headers first in PATH",
        )


def _prefixes(*launchers: Path) -> tuple[Path, ...]:
    """Return the folders below which Valgrind may be installed, likeliest first."""
    prefixes = [launcher.parent.parent for launcher in reversed(launchers)]
    library = os.environ.get("VALGRIND_LIB")
    if library:
        prefixes += Path(os.path.realpath(library)).parents[:3]
    return tuple(dict.fromkeys(prefixes))


# os.path's tests, not Path's: those raise where a folder may not be looked into.
def _existing(prefixes: Iterable[Path], folders: Sequence[str]) -> list[Path]:
    candidates = (prefix / folder for prefix in prefixes for folder in folders)
    return [folder for folder in candidates if os.path.isdir(folder)]


def _tools(launcher: Path, prefixes: tuple[Path, ...]) -> Path:
    chosen = os.environ.get("VALGRIND_LIB")  # the launcher looks nowhere else then
    folders = [Path(chosen).absolute()] if chosen else _existing(prefixes, _TOOLS)
    for folder in folders:
        if os.path.isfile(folder / f"none-{PLATFORM}"):
            return folder
    if any(next(folder.glob("none-*-*"), None) for folder in folders):
        raise unavailable(
            f"{launcher} was built without amd64", "install a Valgrind for 64-bit programs"
        )
    if chosen:
        raise unavailable(
            f"VALGRIND_LIB names {chosen}, which does not contain Valgrind's tools",
            "correct VALGRIND_LIB, or unset it",
        )
    raise unavailable(
        f"the tools of {launcher} are neither in {prefixes[0]}/libexec/valgrind nor near it",
        "set VALGRIND_LIB to the folder of the tools, or put the real valgrind, not a wrapper, "
        "in PATH",
    )


def _headers(launcher: Path, prefixes: tuple[Path, ...]) -> Path:
    folders = _existing(prefixes, ("include/valgrind",))
    for folder in folders:
        if all(os.path.isfile(folder / name) for name in ("pub_tool_basics.h", "config.h")):
            return folder
    raise unavailable(
        f"the headers for tools (pub_tool_*.h) of {launcher} are not in "
        f"{prefixes[0]}/include/valgrind",
        _DEVELOPMENT,
    )


def _archives(launcher: Path, prefixes: tuple[Path, ...]) -> tuple[Path, ...]:
    needed = (f"libcoregrind-{PLATFORM}.a", f"libvex-{PLATFORM}.a")
    folders = _existing(prefixes, _LIBRARIES)
    for folder in folders:
        if all(os.path.isfile(folder / name) for name in needed):
            # Not every version has it: what libgcc would take from a C library.
            support = folder / f"libgcc-sup-{PLATFORM}.a"
            return (
                *(folder / name for name in needed),
                *([support] if os.path.isfile(support) else []),
            )
    there = {path.name for folder in folders for path in folder.glob("libcoregrind-*.a")}
    if there and needed[0] not in there:
        raise unavailable(
            f"the archives of {launcher} are for other platforms than amd64",
            "install a Valgrind for 64-bit programs",
        )
    raise unavailable(
        f"the archives ({needed[0]}, {needed[1]}) of {launcher} are not below {prefixes[0]}",
        _DEVELOPMENT,
    )


def _stated_version(config: Path) -> str:
    match = re.search(r'^#define VERSION "(.+)"$', _text(config) or "", re.MULTILINE)
    if match is None:
        raise unavailable(f"{config} states no version of Valgrind", _DEVELOPMENT)
    return match[1]


def _load_address(library: Path, prefixes: tuple[Path, ...]) -> str:
    """Return what Valgrind was configured with; else the default, which few change."""
    folders = [library.parent, *(prefix / "share" for prefix in prefixes)]
    for folder in folders:
        text = _text(folder / "pkgconfig" / "valgrind.pc") or ""
        match = re.search(r"^valt_load_address=(0x[0-9a-fA-F]+)$", text, re.MULTILINE)
        if match is not None:
            return match[1]
    return _DEFAULT_LOAD_ADDRESS


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return None
