"""Build the programs of the package ridgepoint-engine: Valgrind's, and our tool.

    python tools/wheels/valgrind.py [--sources FOLDER]

Valgrind is built once, below ``build/``, from Debian's source package, which apt downloads from
the mirror that this system uses; ``--sources`` names a folder that has its files already. Their
checksums are below. The launcher is linked with musl, built likewise, and therefore runs beside
any C library; Valgrind's tools need none anyway. What is made is put into ``engine/``, where git
ignores it: the programs into ``src/ridgepoint_engine/valgrind``, their licences into ``licences``.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.building import digest, source_folder
from ridgepoint.meters.compiling import BuildFailed, compiler
from ridgepoint.meters.engine.installation import installation
from ridgepoint.meters.engine.recipe import FAST, TOOL, Recipe, cpu_flags, source_key
from ridgepoint.meters.valgrind import package

ROOT = Path(__file__).resolve().parents[2]
ENGINE, BUILD = ROOT / "engine", ROOT / "build"
PROGRAMS, LICENCES = ENGINE / "src" / package.MODULE / "valgrind", ENGINE / "licences"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source package of Debian.

    Parameters
    ----------
    name, version, revision : str
    licence : str
        Of what we take of it, an SPDX expression.
    files : dict
        SHA-256 of the files that we need; the first is upstream's.
    """

    name: str
    version: str
    revision: str
    licence: str
    files: dict[str, str]

    @property
    def original(self) -> str:
        """The name of upstream's file."""
        return next(iter(self.files))


VALGRIND = Source(
    name="valgrind",
    version="3.27.1",
    revision="1:3.27.1-0.2",
    licence="GPL-3.0-or-later",
    files={
        "valgrind_3.27.1.orig.tar.bz2": (
            "5d589152eb8071c02feab8ce6ab719e431a1fbc3e2b1700f5432632a8b9264dc"
        ),
        "valgrind_3.27.1-0.2.debian.tar.xz": (
            "3d7c89e094dfcc9050f272fd7a5ec4c46c7144fe18b6907bc71423a94d8ca17a"
        ),
    },
)
MUSL = Source(
    name="musl",
    version="1.2.5",
    revision="1.2.5-3.1~deb13u1",
    licence="MIT",
    files={
        "musl_1.2.5.orig.tar.gz": (
            "a9a118bbe84d8764da0ea0d28b3ab3fae8477fc7e4085d90102b8596fc7c75e4"
        ),
    },
)
SUITES = ("sid", "forky", "trixie")
"""Suites of Debian that have had these versions."""

# Nothing lies there: Valgrind's files are found by VALGRIND_LIB.
_PREFIX = "opt/ridgepoint-engine"
_CONFIGURE = (f"--prefix=/{_PREFIX}", "--enable-only64bit", "--without-mpicc")
_PARTS = ("include", "VEX", "coregrind", "none", "callgrind")
_LAUNCHER = ("coregrind/launcher-linux.c", "coregrind/m_debuglog.c")
_DEFINES = (
    *("-DVGA_amd64=1", "-DVGO_linux=1", "-DVGP_amd64_linux=1", "-DVGPV_amd64_linux_vanilla=1"),
    *(f'-DVG_PLATFORM="{package.PLATFORM}"', f'-DVG_LIBDIR="/{_PREFIX}/libexec/valgrind"'),
)


def main(arguments: Sequence[str]) -> str | None:
    """Build, and fill ``engine/``; what fails is said in one line, below what it said itself."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sources", type=Path, help="folder of the source packages' files")
    files = parser.parse_args(arguments).sources
    os.environ.update(LC_ALL="C", TZ="UTC")
    try:
        _fill(_built(files))
    except subprocess.CalledProcessError as error:
        return f"valgrind.py: {shlex.join(map(str, error.cmd))} ended with {error.returncode}"
    except (OSError, MeterUnavailable) as error:
        return f"valgrind.py: {error}"
    return None


def _fill(folder: Path) -> None:
    """Put all that belongs into the package there, from the folder of what was built."""
    for place in (PROGRAMS, LICENCES):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
    installed = folder / "installed" / _PREFIX
    for name in (
        f"{package.CALLGRIND}-{package.PLATFORM}",
        f"vgpreload_core-{package.PLATFORM}.so",
    ):
        shutil.copyfile(installed / "libexec/valgrind" / name, PROGRAMS / name)
    shutil.copyfile(folder / package.LAUNCHER, PROGRAMS / package.LAUNCHER)
    _build_tools(installed)
    for path in PROGRAMS.iterdir():
        # Valgrind finds the functions that it replaces in programs by their symbols.
        _run("strip", "--strip-debug" if path.suffix == ".so" else "--strip-all", path)
        path.chmod(0o755)
    _copy_licences(folder)
    _write_facts()


# ---- source packages ----


def _files_of(source: Source, files: Path | None) -> list[Path]:
    """Return the files of a source package, once their checksums are right."""
    folder = BUILD / "sources" if files is None else files
    paths = [folder / name for name in source.files]
    if files is None and not all(path.is_file() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        _download(source, folder)
    for path in paths:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != source.files[path.name]:
            sys.exit(f"valgrind.py: SHA-256 of {path} is {found}, not {source.files[path.name]}")
    return paths


def _download(source: Source, folder: Path) -> None:
    """Let apt download a source package, without a change to its own lists."""
    by_hand = f"put {', '.join(source.files)} into a folder, and name it: --sources FOLDER"
    if shutil.which("apt-get") is None:
        sys.exit(f"valgrind.py: there is no apt to download {source.name}; {by_hand}")
    said = _output_of("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
    mirrors = [uri for uri in said.split() if "security" not in uri]
    if not mirrors:
        sys.exit(f"valgrind.py: apt knows no mirror: run apt-get update; or {by_hand}")
    with tempfile.TemporaryDirectory() as name:
        own = Path(name)
        for needed in ("lists/partial", "cache/archives/partial"):
            (own / needed).mkdir(parents=True)
        # The checksums decide what is taken, so that no key of these suites has to be known.
        lines = (f"deb-src [trusted=yes] {mirrors[0]} {suite} main\n" for suite in SUITES)
        (own / "sources.list").write_text("".join(lines))
        settings = {
            "Dir::Etc::SourceList": own / "sources.list",
            "Dir::Etc::SourceParts": "-",
            "Dir::State::Lists": own / "lists",
            "Dir::Cache": own / "cache",
            "APT::Sandbox::User": "",  # it writes into our folder
        }
        apt = ("apt-get", *(f"-o{name}={value}" for name, value in settings.items()))
        wanted = f"{source.name}={source.revision}"
        try:
            _run(*apt, "update")
            _run(*apt, "source", "--download-only", wanted, folder=folder)
        except subprocess.CalledProcessError:
            sys.exit(f"valgrind.py: {mirrors[0]} does not give {wanted}; {by_hand}")


def _unpack(archive: Path, folder: Path, *, top: bool) -> None:
    """Unpack an archive into a folder, without the folder at its top if that is so."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        with tarfile.open(archive) as packed:
            packed.extractall(scratch, filter="data")
        inside = next(Path(scratch).iterdir()) if top else Path(scratch)
        folder.mkdir(exist_ok=True)
        for path in inside.iterdir():
            path.rename(folder / path.name)


# ---- Valgrind ----


def _built(files: Path | None) -> Path:
    """Return the folder of what was built of others' sources, building it if it is not there."""
    if any(letter.isspace() for letter in str(BUILD)):
        sys.exit(f"valgrind.py: make builds Valgrind in no path with blanks; move {ROOT}")
    cc = compiler("Valgrind")
    steps = (_unpack, _build_valgrind, _build_launcher)
    how = (inspect.getsource(step) for step in steps)
    stated = (str(VALGRIND), str(MUSL), *_CONFIGURE, *_PARTS, *_LAUNCHER, *_DEFINES, *how)
    key = digest((*stated, *cc, _output_of(*cc, "--version")), ())
    folder = BUILD / f"valgrind-{VALGRIND.version}-{key}"
    done = folder / "done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _build_valgrind(_files_of(VALGRIND, files), folder, cc)
        _build_launcher(_files_of(MUSL, files), folder, cc)
        done.touch()
    return folder


def _build_valgrind(files: Sequence[Path], folder: Path, cc: Sequence[str]) -> None:
    source = folder / "valgrind-source"
    for path, top in zip(files, (True, False), strict=True):
        _unpack(path, source, top=top)
    flags = (f"CC={shlex.join(cc)}", f"CFLAGS=-O2 -ffile-prefix-map={source}=.")
    _run("./configure", "--quiet", *_CONFIGURE, *flags, folder=source)
    into = f"DESTDIR={folder / 'installed'}"
    _run("make", "-s", "include/vgversion.h", folder=source)
    for part in _PARTS:
        _run("make", "-s", f"-j{os.cpu_count()}", "-C", part, folder=source)
        _run("make", "-s", "-C", part, "install", into, folder=source)
    _run("make", "-s", "install-pkgincludeHEADERS", into, folder=source)  # config.h


def _build_launcher(files: Sequence[Path], folder: Path, cc: Sequence[str]) -> None:
    """Build the launcher, which is an ordinary program, with a C library of its own."""
    musl = folder / "musl"
    _unpack(files[0], folder / "musl-source", top=True)
    configure = ("./configure", f"--prefix={musl}", "--disable-shared", f"CC={shlex.join(cc)}")
    _run(*configure, folder=folder / "musl-source")
    _run("make", "-s", f"-j{os.cpu_count()}", "install", folder=folder / "musl-source")
    includes = (".", "include", "VEX/pub", "coregrind")
    _run(
        *(musl / "bin/musl-gcc", "-static", "-no-pie", "-O2", "-fno-strict-aliasing", *_DEFINES),
        *("-Wl,--build-id=none", *(f"-I{path}" for path in includes)),
        *("-o", folder / package.LAUNCHER, *_LAUNCHER),
        folder=folder / "valgrind-source",
    )


# ---- our tool ----


def _build_tools(installed: Path) -> None:
    """Build our tool as it is built at first use, for both kinds of CPU."""
    os.environ.pop("VALGRIND_LIB", None)
    os.environ["PATH"] = f"{installed / 'bin'}{os.pathsep}{os.environ['PATH']}"
    hidden = (f"-ffile-prefix-map={ROOT}=.", f"-ffile-prefix-map={installed}=valgrind")
    os.environ["CC"] = shlex.join((*compiler("the tool"), *hidden))
    kinds = ((package.TOOL, cpu_flags(FAST)), (package.PLAIN_TOOL, cpu_flags(frozenset())))
    for name, cpu in kinds:
        with tempfile.TemporaryDirectory() as scratch:
            folder, log = Path(scratch), Path(scratch, "build.log")
            try:
                Recipe(installation(), source_folder(), cpu).compile(folder, log)
            except BuildFailed as error:
                sys.exit(f"valgrind.py: {error}\n{log.read_text(errors='replace')}")
            shutil.move(folder / TOOL, PROGRAMS / f"{name}-{package.PLATFORM}")


# ---- what must be beside programs ----


def _copy_licences(folder: Path) -> None:
    for path, name in (
        (folder / "valgrind-source/COPYING", "valgrind.COPYING"),
        (folder / "valgrind-source/debian/copyright", "valgrind.copyright"),
        (folder / "musl-source/COPYRIGHT", "musl.COPYRIGHT"),
        (source_folder() / "COPYING", "ridgepoint.COPYING"),
    ):
        shutil.copyfile(path, LICENCES / name)


def _write_facts() -> None:
    """Write what the programs were made from: for our package, for readers, for the SBOM."""
    key = source_key(source_folder())
    _write_json("made.json", {"source": key, "valgrind": VALGRIND.version})
    _write_json("sources.json", [_component(VALGRIND), _component(MUSL)])
    paragraphs = (
        "What the programs in this folder were made from",
        f"{package.LAUNCHER}, {package.CALLGRIND}-{package.PLATFORM}, "
        f"vgpreload_core-{package.PLATFORM}.so:\n{_described(VALGRIND)}",
        f"The C library in {package.LAUNCHER}:\n{_described(MUSL)}",
        f"{package.TOOL}-{package.PLATFORM}, for CPUs with {', '.join(sorted(FAST))}, and "
        f"{package.PLAIN_TOOL}-{package.PLATFORM}, for others:\n"
        f"    native/ of Ridgepoint's source (name of this state: {key}),\n"
        f"    linked with libcoregrind and libvex of the Valgrind above",
        f"Compiler: {_output_of(*compiler('Valgrind'), '--version').splitlines()[0]}",
        "To make them again, in Ridgepoint's source:\n    python tools/wheels/valgrind.py",
    )
    (PROGRAMS / "SOURCE").write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def _described(source: Source) -> str:
    lines = [f"Debian's source package {source.name} {source.revision}, as it is upstream:"]
    lines += [f"{source.original}, SHA-256 {source.files[source.original]}"]
    return "\n".join(f"    {line}" for line in lines)


def _component(source: Source) -> dict[str, str]:
    return {
        "name": source.name,
        "version": source.version,
        "licence": source.licence,
        "purl": f"pkg:deb/debian/{source.name}@{source.revision}?arch=source",
        "source": f"https://sources.debian.org/src/{source.name}/{source.revision}/",
        "sha256": source.files[source.original],
    }


def _write_json(name: str, value: object) -> None:
    text = json.dumps(value, indent=2, sort_keys=True)
    (PROGRAMS / name).write_text(f"{text}\n", encoding="utf-8")


# ---- processes ----


def _run(*command: str | Path, folder: Path | None = None) -> None:
    subprocess.run(command, cwd=folder, check=True)


def _output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
