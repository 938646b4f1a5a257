"""Whether compiled files run where a wheel's tags say, and name no folder of the build."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from elf_facts import ElfFacts
from wheel_file import Wheel

_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)")
_MUSLLINUX = re.compile(r"musllinux_\d+_\d+_(\w+)")
_LEGACY = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
# What every glibc has beside itself (PEP 600).
_OF_GLIBC = re.compile(
    r"(libc|libm|libdl|libpthread|librt|libutil|libresolv|libnsl)\.so\.\d+|ld-linux-[\w-]+\.so\.2"
)
# Folders of people and of build services; programs may name /usr or a file of /tmp.
_BUILD_PATH = re.compile(
    rb"/(?:home|root|work|build|builds|Users|runner|github)/[\w.+-]+[\w./+-]*"
    rb"|/tmp/[\w.+-]+/[\w./+-]+"
)


def binary_problems(
    wheel: Wheel, binaries: Mapping[str, ElfFacts], folders: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with the compiled files of a wheel, and which file names a folder."""
    for name, facts in binaries.items():
        yield from (f"{name}: {each}" for each in _problems(wheel.platforms, facts))
    yield from _path_problems(wheel, binaries, folders)


def _problems(platforms: Iterable[str], facts: ElfFacts) -> Iterator[str]:
    for path in facts.search_paths:
        yield f"it searches for libraries in {path}"
    if facts.has_executable_stack:
        yield "its stack can be executed, which hardened systems refuse"
    for platform in sorted(platforms):
        given = libc_and_machine(platform)
        if given is None:
            continue
        glibc, machine = given
        if machine != facts.machine:
            yield f"it is for {facts.machine}, and the tag for {machine}"
        if glibc is None:
            if facts.needed or facts.loader:
                needs = ", ".join(facts.needed) or facts.loader
                yield f"it needs {needs}, which systems with musl ({platform}) do not have"
            continue
        if facts.glibc is not None and facts.glibc > glibc:
            needs, has = (".".join(map(str, each)) for each in (facts.glibc, glibc))
            yield f"it needs glibc {needs}, and the tag promises {has}"
        for library in facts.needed:
            if not _OF_GLIBC.fullmatch(library):
                yield f"it needs {library}, which {platform} does not promise"


def libc_and_machine(tag: str) -> tuple[tuple[int, int] | None, str] | None:
    """Return what a platform's tag promises.

    Returns
    -------
    tuple or None
        The oldest glibc (None: musl instead), and the machine; None for the tag of another kind.

    Examples
    --------
    >>> libc_and_machine("manylinux_2_17_x86_64")
    ((2, 17), 'x86_64')
    """
    if match := _MANYLINUX.fullmatch(tag):
        return (int(match[1]), int(match[2])), match[3]
    if match := _MUSLLINUX.fullmatch(tag):
        return None, match[1]
    name, _, machine = tag.partition("_")
    return (_LEGACY[name], machine) if name in _LEGACY else None


def _path_problems(
    wheel: Wheel, binaries: Mapping[str, ElfFacts], folders: Sequence[str]
) -> Iterator[str]:
    for name, data in wheel.files.items():
        found = {folder for folder in folders if folder.encode() in data}
        if name in binaries or name.startswith(wheel.information):
            found |= {match[0].decode() for match in _BUILD_PATH.finditer(data)}
        for path in sorted(found)[:3]:
            yield f"{name}: it names {path}, where it was built"
