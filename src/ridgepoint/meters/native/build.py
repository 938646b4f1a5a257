"""The copying engine, compiled ahead or at first use: what is preloaded, and what copies."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.meters.building import (
    built,
    check_machine,
    check_source,
    digest,
    source_folder,
    unavailable,
    why,
)
from ridgepoint.meters.compiling import (
    Compilers,
    compile_and_link,
    compilers_here,
    cpu_features,
    run_together,
)

WHAT = "the copying engine"
"""What is built, for messages."""

LIBRARY = "libridgepoint-native.so"
COPIER = "ridgepoint-copier"
TABLE = "instruction_table.h"

_TRY_LIMIT_S = 30.0
_COMMON = ("-std=gnu11", "-O2", "-m64", "-fno-strict-aliasing", "-fno-builtin")
_IN_PROGRAMS = (
    "-fno-tree-loop-distribute-patterns",  # a loop is no call of memcpy; Zig's clang refuses it
    *("-fPIC", "-ffreestanding", "-fvisibility=hidden", "-fno-stack-protector"),
    *("-fcf-protection=none", "-fasynchronous-unwind-tables"),
)
# It runs between any two instructions of a program: no vector register may change.
_NO_VECTORS = ("-mgeneral-regs-only",)
# But caches are simulated where they were saved before.
_VECTORS = ("-mavx2", "-mbmi2")
_WITH_VECTORS = frozenset({"avx2", "bmi2"})
_LINK_LIBRARY = (
    *("-m64", "-shared", "-nostdlib", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=none"),
    "-Wl,-z,defs",  # what it lacks shall be missed now, not in a program
    "-Wl,-z,initfirst",  # before other libraries begin threads, and count what they do
    "-Wl,--hash-style=both",  # any linker finds its one function
)
_COPIER_MAIN = "copier_main.c"
_TRAFFIC = "traffic"
_PATTERN = "pattern"  # shared with the other engine, as the caches are
_IN_PROGRAMS_ONLY = ("loader", _TRAFFIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeEngine:
    """A copying engine that was built.

    Parameters
    ----------
    library : Path
        What programs preload.
    copier : Path
        What makes the copy of a module.
    version : str
        Changes with everything that it was made from.
    copies : str
        Changes with everything that a copy depends on beside its module.
    cautions : tuple of Caution
        That it could not be kept.
    """

    library: Path
    copier: Path
    version: str
    copies: str
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How the engine is built; see `ridgepoint.meters.building.Recipe`.

    Parameters
    ----------
    source : Path
        Folder of the C files; that of the caches' is beside it.
    has_vectors : bool
        Whether caches may be simulated with vector instructions.
    compilers : Compilers or None
        None: this host's.
    """

    source: Path
    has_vectors: bool = False
    compilers: Compilers | None = None

    what = WHAT
    part = "native"
    makes = (LIBRARY, COPIER)
    needs = (TABLE,)

    @cached_property
    def key(self) -> str:
        """A name that changes with everything that it is made from.

        The table of instructions is made by a module from what iced-x86 says.
        """
        return digest((self.shipped_key, version("iced-x86")), ())

    @cached_property
    def shipped_key(self) -> str:
        """A name that changes with everything of the package that it is made from.

        The compiler counts only if the user named it in ``CC``, as for the other engine. Another
        version of iced-x86 than the wheel was built with is no reason to build: no counts depend
        on the two being the same.
        """
        flags = (*_COMMON, *_IN_PROGRAMS, *_LINK_LIBRARY, str(self.has_vectors))
        shared = (*self._caches.glob("*.[ch]"), *self.source.parent.glob(f"{_PATTERN}.[ch]"))
        return digest(
            (*flags, os.environ.get("CC", "")),
            (*self.source.glob("*.[chS]"), *shared, *_files_of_table()),
        )

    def key_of_copies(self, folder: Path) -> str:
        """Return a name that changes with all that the copier in a folder was made from.

        Another loader, or another meaning of counts, is no reason to copy all modules again.
        """
        files = self.source.glob("*.[chS]")
        own = [path for path in files if not path.stem.startswith(_IN_PROGRAMS_ONLY)]
        return digest((), [*own, folder / TABLE])

    def check(self) -> None:
        """Raise MeterUnavailable on a host that it cannot run on."""
        check_machine(WHAT, "copies")

    def make(self, folder: Path, log: Path) -> None:
        """Compile and link both in a folder, and try the library out."""
        from ridgepoint.meters.native import instruction_table  # takes a second

        compilers = self.compilers or compilers_here(WHAT)
        instruction_table.main([str(folder / TABLE)])
        folders = (self.source, self._caches, self.source.parent, folder)
        include = tuple(f"-I{folder}" for folder in folders)
        library = {path: f"{path.stem}.so.o" for path in self._sources_of_library()}
        copier = {path: f"{path.stem}.o" for path in self._sources_of_copier()}
        objects = {
            name: (*cc, *_COMMON, *flags, *include, "-c", str(path))
            for path, name, cc, flags in (
                *(
                    (path, name, compilers.freestanding, self._flags_in_programs(path))
                    for path, name in library.items()
                ),
                *((path, name, compilers.hosted, ("-fPIE",)) for path, name in copier.items()),
            )
        }
        linking = (
            (*compilers.freestanding, *_LINK_LIBRARY, "-o", LIBRARY, *library.values(), "-lgcc"),
            (*compilers.hosted, "-m64", "-pie", "-o", COPIER, *copier.values(), "-ldl"),
        )
        compile_and_link(objects, linking, folder, log)
        self._try_out(folder, log)

    @property
    def _caches(self) -> Path:
        return self.source.parent / "caches"

    def _sources_of_library(self) -> list[Path]:
        own = [path for path in sorted(self.source.glob("*.[cS]")) if path.name != _COPIER_MAIN]
        simulates = any(path.stem == _TRAFFIC for path in own)
        caches = sorted(self._caches.glob("*.c")) if simulates else []
        return [*own, *caches, *self.source.parent.glob(f"{_PATTERN}.c")]

    def _sources_of_copier(self) -> list[Path]:
        files = sorted(self.source.glob("*.[cS]"))
        return [path for path in files if not path.stem.startswith(_IN_PROGRAMS_ONLY)]

    def _flags_in_programs(self, path: Path) -> tuple[str, ...]:
        may = path.parent == self._caches or path.stem.startswith(f"{_TRAFFIC}_")
        vectors = _VECTORS if may and self.has_vectors else _NO_VECTORS
        defined = ("-DTRAFFIC_VECTORS",) if self.has_vectors else ()
        return (*_IN_PROGRAMS, *vectors, *defined)

    def _try_out(self, folder: Path, log: Path) -> None:
        """Let a program that does nothing preload the library; without an arena it does nothing."""
        with log.open("ab") as sink:
            run_together(
                [("/bin/true",)], folder, sink, _TRY_LIMIT_S, LD_PRELOAD=str(folder / LIBRARY)
            )


def _files_of_table() -> list[Path]:
    """Return the modules that say what is in the table of instructions."""
    folder = Path(__file__).parent
    rules = (folder.parent / name for name in ("decode.py", "bop_rules.py"))
    return [*sorted(folder.glob("instruction_*.py")), *rules]


def copying_source() -> Path:
    """Return the folder of the engine's C source."""
    return (source_folder() / "copying").absolute()


def native_engine(
    *,
    cache: Path | None = None,
    source: Path | None = None,
    report: Callable[[str], None] | None = None,
) -> NativeEngine:
    """Return the copying engine, building it if it is not there.

    Parameters
    ----------
    cache : Path or None
        Folder to keep it in; see `ridgepoint.meters.building.built`.
    source : Path or None
        Folder of the C source. None: the one that Ridgepoint brings.
    report : callable or None
        Is told that a build begins.

    Raises
    ------
    MeterUnavailable
        If it cannot be built here, or does not run.
    """
    source = (source or copying_source()).absolute()
    recipe = Recipe(source, has_vectors=cpu_features() >= _WITH_VECTORS)
    recipe.check()
    check_source(WHAT, source, _COPIER_MAIN)
    try:
        _ = recipe.key  # kept from now on
    except OSError as error:
        raise unavailable(WHAT, why(error), "reinstall 'ridgepoint'") from error
    folder, cautions = built(recipe, shipped=recipe.shipped_key, cache=cache, report=report)
    return NativeEngine(
        library=folder / LIBRARY,
        copier=folder / COPIER,
        version=folder.name,
        copies=recipe.key_of_copies(folder),
        cautions=cautions,
    )
