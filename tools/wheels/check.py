"""Checks built packages as they would be published: check.py [--release] FILE_OR_FOLDER ...

Prints what each wheel holds and needs, and a line for each problem; exits with 1 if there is any,
and with 2 if it cannot tell. The folders that no file may name are those of the repository, the
user and temporary files.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bundled import TABLE, parts_of
from check_archive import archive_problems
from check_binaries import binary_problems, libc_and_machine
from check_licences import licence_problems, sbom_problems
from elf_facts import MAGIC, ElfFacts, elf_facts
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from wheel_file import Wheel

ROOT = Path(__file__).parents[2]

_CONSISTENT = re.compile(r"consistent with the following platform tag: \"([\w.]+)\"")


def problems(wheel: Wheel, *, folders: Sequence[str] = (), table: Path = TABLE) -> Iterator[str]:
    """Yield a sentence for each problem of a wheel, as far as it can be seen in the file alone.

    Parameters
    ----------
    wheel : Wheel
    folders : sequence of str
        Folders of this machine that no file may name.
    table : Path
        What the wheels hold: bundled.toml.
    """
    try:
        parts = parts_of(wheel.package, table)
    except ValueError as error:
        yield str(error)
        return
    binaries = dict(_binaries(wheel))
    for name, facts in binaries.items():
        if isinstance(facts, str):
            yield f"{name}: {facts}"
    whole = {name: facts for name, facts in binaries.items() if not isinstance(facts, str)}
    yield from archive_problems(wheel, whole)
    yield from binary_problems(wheel, whole, folders)
    yield from licence_problems(wheel, parts)
    yield from sbom_problems(wheel, parts)


def _binaries(wheel: Wheel) -> Iterator[tuple[str, ElfFacts | str]]:
    """Yield the compiled files of a wheel with what they need, or with why that is not known."""
    for name, data in wheel.files.items():
        if data.startswith(MAGIC):
            try:
                yield name, elf_facts(data)
            except ValueError as error:
                yield name, str(error)


def release_problems(wheel: Wheel) -> Iterator[str]:
    """Yield why a wheel is not one of a release."""
    version = Version(wheel.version)
    if version.is_devrelease or version.local:
        yield f"{wheel.version} is no release: build it from a clean checkout of a tag"


def auditwheel_problems(wheel: Wheel, said: str) -> Iterator[str]:
    """Yield where auditwheel and the wheel's tags disagree.

    Parameters
    ----------
    wheel : Wheel
    said : str
        What ``auditwheel show`` prints of it.
    """
    match = _CONSISTENT.search(" ".join(said.split()))
    if match is None:
        yield f"auditwheel says nothing of a platform: {' '.join(said.split())}"
        return
    found = libc_and_machine(match[1])
    for platform in sorted(wheel.platforms):
        given = libc_and_machine(platform)
        if given is None or given[0] is None:
            continue  # it knows one kind of libc for a wheel, and this one suits two
        if found is None or (found[0] is not None and found[0] > given[0]):
            yield f"auditwheel says {match[1]}, and its tag is {platform}"


def _ask(tool: str, *arguments: str | Path) -> tuple[bool, str]:
    """Return whether a tool is content, and what it prints on one line."""
    if importlib.util.find_spec(tool) is None:
        return False, "it is not there: pip install -r tools/wheels/requirements.txt"
    command = [sys.executable, "-m", tool, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, " ".join((done.stdout + done.stderr).split())


def twine_problems(path: Path) -> Iterator[str]:
    """Yield what an index would say of the metadata of a wheel or an sdist."""
    is_content, said = _ask("twine", "check", "--strict", path)
    if not is_content:
        yield f"twine: {said}"


def _asked_problems(wheel: Wheel) -> Iterator[str]:
    yield from twine_problems(wheel.path)
    if wheel.platforms != {"any"}:
        yield from auditwheel_problems(wheel, _ask("auditwheel", "show", wheel.path)[1])


def _size_and_checksum(path: Path) -> str:
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, sha256 {checksum}"


def describe(wheel: Wheel) -> Iterator[str]:
    """Yield lines on what a wheel holds, with its largest files and what its programs need."""
    yield _size_and_checksum(wheel.path)
    yield f"  {sum(map(len, wheel.files.values())) / 1e6:6.2f} MB  installed; the largest files:"
    for name in sorted(wheel.files, key=lambda name: -len(wheel.files[name]))[:5]:
        yield f"  {len(wheel.files[name]) / 1e6:6.2f} MB  {name}"
    for name, facts in _binaries(wheel):
        if not isinstance(facts, str):
            glibc = (
                "no glibc" if facts.glibc is None else f"glibc {'.'.join(map(str, facts.glibc))}"
            )
            needs = ", ".join(facts.needed) or "no library"
            yield f"  {name}: {'program' if facts.is_program else 'library'}, {glibc}, {needs}"


def pair_problems(wheels: Sequence[Wheel]) -> Iterator[str]:
    """Yield where wheels that belong together have other versions than they ask of each other."""
    versions = {wheel.package: wheel.version for wheel in wheels}
    for wheel in wheels:
        for text in wheel.metadata.get_all("Requires-Dist") or ():
            requirement = Requirement(text)
            name = canonicalize_name(requirement.name)
            if name == wheel.package or name not in versions:
                continue
            if str(requirement.specifier) != f"=={versions[name]}":
                asked = requirement.specifier or "any version"
                yield f"{wheel.package} asks for {name} {asked}, and it is {versions[name]}"


def _packages(paths: Sequence[Path], parser: argparse.ArgumentParser) -> Iterator[Path]:
    for path in paths:
        files = [path]
        if path.is_dir():
            files = sorted(each for kind in ("*.whl", "*.tar.gz") for each in path.glob(kind))
        if not files:
            parser.error(f"there is no package in {path}")
        for file in files:
            if not (tarfile.is_tarfile if file.suffix == ".gz" else zipfile.is_zipfile)(file):
                parser.error(f"{file} is no package")
            yield file


def main() -> int:
    """Check the packages that the command line names."""
    parser = argparse.ArgumentParser(description="Check built packages as they would be published.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--release", action="store_true", help="Refuse what is no release.")
    options = parser.parse_args()
    folders = {str(ROOT), os.path.expanduser("~"), tempfile.gettempdir()} - {"/", "/root", "/tmp"}
    checks: list[Callable[[Wheel], Iterator[str]]] = [
        lambda wheel: problems(wheel, folders=sorted(folders)),
        _asked_problems,
        *([release_problems] if options.release else []),
    ]
    packages = list(_packages(options.paths, parser))
    wheels = [Wheel(path) for path in packages if path.suffix == ".whl"]
    seen = []
    for wheel in wheels:
        for line in describe(wheel):
            print(line)
        seen += [f"{wheel.path.name}: {each}" for check in checks for each in check(wheel)]
    for path in packages:
        if path.suffix != ".whl":
            print(_size_and_checksum(path))
            seen += [f"{path.name}: {each}" for each in twine_problems(path)]
    seen += pair_problems(wheels)
    for problem in seen:
        print(problem, file=sys.stderr)
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
