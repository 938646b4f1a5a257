"""The libraries that profile MPI which a wheel ships: one for each family of MPIs.

What a program of C sees of an MPI is the same for all members of a family, by what their makers
promise, so that one library serves all of them and needs no header of the user's MPI. It is
preloaded together with the MPI's own library, which it names nowhere: names and places differ.

- Open MPI 3 to 5: ``libmpi.so.40``.
- MPICH 3.1 and later, Intel MPI and MVAPICH2, of the MPICH ABI Compatibility Initiative:
  ``libmpi.so.12``; Debian calls it ``libmpich.so.12``. Since MPI 4 it has functions for large
  counts, too, for which programs look before they call them: that is a family of its own.

Open MPI 1.10 was ``libmpi.so.12`` too: symbols tell all of them apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.building import (
    built,
    can_be_preloaded,
    digest,
    header_folder,
    source_folder,
    unavailable,
)
from ridgepoint.meters.compiling import Compilers, compile_and_link

LIBRARY = "libridgepoint-mpi.so"
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-pthread")

_WHAT = "the library that profiles MPI"
_MPI_3, _LARGE_COUNTS, _OBJECTS = "PMPI_Type_size_x", "PMPI_Send_c", "ompi_mpi_comm_world"
_SYSTEM = ("/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib", "/lib64", "/lib")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """MPIs for which one library serves.

    Parameters
    ----------
    name : str
    shown : str
        For messages.
    member : str
        Whose ``mpi.h`` serves for all.
    libraries : tuple of str
        Names of the MPI's own library.
    has_objects : bool
        Whether that library holds MPI's communicators as objects, as Open MPI's does.
    has_large_counts : bool
        Whether it has MPI 4's functions for them.
    """

    name: str
    shown: str
    member: str
    libraries: tuple[str, ...]
    has_objects: bool
    has_large_counts: bool


_OPEN_MPI = Family(
    name="openmpi",
    shown="Open MPI 3 to 5",
    member="openmpi",
    libraries=("libmpi.so.40",),
    has_objects=True,
    has_large_counts=False,
)
_MPICH = Family(
    name="mpich",
    shown="MPICH's ABI",
    member="mpich",
    libraries=("libmpi.so.12", "libmpich.so.12"),
    has_objects=False,
    has_large_counts=True,
)
_OLD_MPICH = replace(_MPICH, name="mpich-3", has_large_counts=False)
FAMILIES = (_OPEN_MPI, _MPICH, _OLD_MPICH)


@dataclass(frozen=True)
class Recipe:
    """How the library for a family is built; see `ridgepoint.meters.building.Recipe`.

    Parameters
    ----------
    family : Family
    headers : Path or None
        Folder of the ``mpi.h`` of a member. None: what a wheel ships is only looked for.
    compilers : Compilers or None
        None: as for `headers`.
    """

    family: Family
    headers: Path | None = None
    compilers: Compilers | None = None

    what = _WHAT
    part = "mpi"
    makes = (LIBRARY,)
    needs: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """A name that changes with everything of the package that it is made from."""
        files, _ = sources()
        return digest((*FLAGS, self.family.name), files)

    @property
    def shipped_key(self) -> str:
        """The same: all of it is of the package."""
        return self.key

    def check(self) -> None:
        """Raise MeterUnavailable if it cannot be built."""
        if self.headers is None or self.compilers is None:
            raise unavailable(
                _WHAT,
                f"this installation of Ridgepoint has none compiled for {self.family.shown}",
                "install Ridgepoint from its wheel for x86-64 Linux",
            )

    def make(self, folder: Path, log: Path) -> None:
        """Compile and link it in a folder; what it calls of MPI is left open."""
        self.check()
        assert self.compilers is not None
        cc, (files, own) = self.compilers.hosted, sources()
        include = (f"-I{own}", f"-I{self.headers}")
        only = () if self.family.has_large_counts else ("-DRIDGEPOINT_MPI_3",)
        objects = {
            f"{path.stem}.o": (*cc, *FLAGS, *only, *include, "-c", str(path))
            for path in files
            if path.suffix == ".c"
        }
        linking = (*cc, "-shared", "-Wl,-z,undefs", "-o", LIBRARY, *objects, "-ldl", "-lpthread")
        compile_and_link(objects, [linking], folder, log)


def sources() -> tuple[list[Path], Path]:
    """Return the files that the library is made from, and the folder of the header."""
    files = sorted((source_folder() / "mpi").glob("*.[ch]"))
    return [*files, header_folder() / "ridgepoint.h"], header_folder()


def shipped_library(beside: Path | None, *, cache: Path | None = None) -> tuple[Path, Path]:
    """Return the library that is shipped for a launcher's MPI, and the MPI's own.

    Parameters
    ----------
    beside : Path or None
        Folder of the launcher.
    cache : Path or None
        Where it is copied if it cannot be used where it is; see
        `ridgepoint.meters.building.built`.

    Raises
    ------
    MeterUnavailable
        If none is shipped, or it is not known which MPI there is.
    """
    family, own = _mpi(beside)
    if not can_be_preloaded(own):
        raise MeterUnavailable(
            f"cannot use {_WHAT}",
            reason=f"blanks and colons separate preloaded libraries; {str(own)!r} has some",
            remedy="install MPI in a folder without blanks and colons",
        )
    recipe = Recipe(family)
    folder, _ = built(recipe, shipped=recipe.shipped_key, cache=cache)
    return folder / LIBRARY, own


def _mpi(beside: Path | None) -> tuple[Family, Path]:
    """Return the library of the launcher's MPI, or the only one there is, and its family."""
    for folders in _places(beside):
        found = {
            family.name: (family, path)
            for folder in reversed(folders)
            for family in FAMILIES
            for path in (folder / name for name in family.libraries)
            if path.is_file() and _is_of(family, path)
        }
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            break
    shown = " or ".join(f"{family.shown} ({family.libraries[0]})" for family in (_OPEN_MPI, _MPICH))
    raise MeterUnavailable(
        f"cannot find {_WHAT}",
        reason=f"the launcher's MPI is not known to be of {shown}",
        remedy="name the folder of its library in LD_LIBRARY_PATH",
    )


def _places(beside: Path | None) -> Iterator[list[Path]]:
    """Give folders of libraries: those of the launcher's MPI, the user's, and the system's."""
    prefix = os.environ.get("OPAL_PREFIX")
    prefixes = [] if prefix is None else [Path(prefix)]
    # Of the system's own prefix nobody knows whose launcher it is where there are two.
    if beside is not None and beside.parent not in {Path("/usr"), Path("/")}:
        prefixes.append(beside.parent)
    yield [base / name for base in prefixes for name in ("lib", "lib64", "lib/release")]
    named = os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    yield [Path(name) for name in named if name]
    yield [Path(name) for name in _SYSTEM]


def _is_of(family: Family, path: Path) -> bool:
    """Return whether a file is the library of an MPI of a family, by what it defines."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    try:
        with path.open("rb") as file:
            symbols = ELFFile(file).get_section_by_name(".dynsym")
            if not isinstance(symbols, SymbolTableSection):
                return False
            has_mpi_3, has_large_counts, has_objects = (
                symbols.get_symbol_by_name(name) is not None
                for name in (_MPI_3, _LARGE_COUNTS, _OBJECTS)
            )
    except (OSError, ELFError):
        return False
    has = (has_objects, has_large_counts)
    return has_mpi_3 and has == (family.has_objects, family.has_large_counts)
