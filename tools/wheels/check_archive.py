"""Whether a wheel is whole, says where it can be installed, and has nobody's permissions."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
from collections.abc import Iterator, Mapping

from elf_facts import ElfFacts
from wheel_file import Wheel

_MODES = (0o644, 0o755)
_TRASH = re.compile(r"(^|/)(__pycache__|\.git|\.DS_Store)(/|$)|\.pyc$|~$|\.orig$|\.rej$|\.o$|\.a$")


def archive_problems(wheel: Wheel, binaries: Mapping[str, ElfFacts]) -> Iterator[str]:
    """Yield what is wrong with a wheel's entries, its list of files, its tags and permissions."""
    yield from _entry_problems(wheel)
    yield from _record_problems(wheel)
    yield from _tag_problems(wheel, binaries)
    yield from _mode_problems(wheel, binaries)


def _entry_problems(wheel: Wheel) -> Iterator[str]:
    names = [entry.filename for entry in wheel.entries]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: it is there {names.count(name)} times"
    for name in names:
        if name.startswith("/") or ".." in name.split("/") or "\\" in name:
            yield f"{name}: its path leaves the folder of the installation"
        if _TRASH.search(name):
            yield f"{name}: nobody needs it"
    times = {entry.date_time for entry in wheel.entries}
    if len(times) > 1:
        yield "its entries have different times: set SOURCE_DATE_EPOCH when it is built"
    if any(entry.create_system != 3 for entry in wheel.entries):  # 3: Unix
        yield "its entries have no permissions: build it on Linux"


def _record_problems(wheel: Wheel) -> Iterator[str]:
    record = f"{wheel.information}/RECORD"
    if record not in wheel.files:
        yield f"{record} is missing"
        return
    rows = {
        name: (digest, size) for name, digest, size in csv.reader(wheel.text("RECORD").splitlines())
    }
    for name in sorted(wheel.files.keys() - rows.keys()):
        yield f"{name}: RECORD does not have it"
    for name in sorted(rows.keys() - wheel.files.keys()):
        yield f"{name}: RECORD has it, and the wheel does not"
    for name, data in wheel.files.items():
        if name == record or name not in rows:
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if rows[name] != (f"sha256={digest}", str(len(data))):
            yield f"{name}: RECORD has another checksum or size"


def _tag_problems(wheel: Wheel, binaries: Mapping[str, ElfFacts]) -> Iterator[str]:
    lines = wheel.text("WHEEL").splitlines()
    if {line.partition(": ")[2] for line in lines if line.startswith("Tag: ")} != wheel.tags:
        yield "the tags in its WHEEL file are not those of its name"
    is_pure = wheel.platforms == {"any"}
    if f"Root-Is-Purelib: {str(is_pure).lower()}" not in lines:
        yield f"its WHEEL file must say Root-Is-Purelib: {str(is_pure).lower()}"
    if is_pure and binaries:
        yield f"it says that it is for any platform, and holds {len(binaries)} compiled files"
    if not is_pure and not binaries:
        yield "it is for one platform, and holds no compiled file"
    for platform in sorted(wheel.platforms):
        if platform.startswith("linux_"):
            yield f"{platform}: no index takes this tag; build for a version of glibc or for musl"
    if wheel.metadata["Version"] != wheel.version:
        yield f"METADATA has version {wheel.metadata['Version']}, and its name {wheel.version}"


def _mode_problems(wheel: Wheel, binaries: Mapping[str, ElfFacts]) -> Iterator[str]:
    for name, data in wheel.files.items():
        mode = wheel.modes[name]
        if mode not in _MODES:
            yield f"{name}: its permissions are {mode:o}, as some umask made them"
        is_program = data.startswith(b"#!") or (name in binaries and binaries[name].is_program)
        if is_program and name in binaries and not mode & 0o100:
            yield f"{name}: it is a program, and cannot be executed"
        if mode & 0o100 and not is_program and name not in binaries:
            yield f"{name}: it can be executed, and is no program"
