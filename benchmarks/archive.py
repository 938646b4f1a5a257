"""How long an archive of many records takes to list, to find a record in, and to merge.

By hand::

    python benchmarks/archive.py [--records 100000] [--repeat 5] [--keep FILE]

Every record holds a measured program (tests/snapshots/kept/heat.json) under a command of its own.
Commands are timed as a user runs them, start of Python included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from ridgepoint.core.documents import decode
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.portable import Portable
from ridgepoint.models.summary import summary_of

_KEPT = Path(__file__).parents[1] / "tests" / "snapshots" / "kept"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_COMMANDS = (
    ("list",),
    ("list", "--json"),
    ("list", "--kind", "machine"),
    ("list", "--name", "program 99"),
    ("show", "program 50000", "--json"),
)


def records(count: int) -> Iterator[Portable]:
    """Yield a machine, and as many measurements on it as are wanted."""
    machine = (_KEPT / "vm.json").read_bytes()
    document = (_KEPT / "heat.json").read_bytes()
    vm, heat = decode(machine, Machine, origin="vm"), decode(document, Measurement, origin="heat")
    summary = msgspec.json.encode(summary_of(heat, vm)).decode()
    bounding = Portable(
        kind="machine",
        created=_BEGIN.isoformat(),
        name="vm",
        document=machine,
        origin="vm",
        source="made up",
        fingerprint=vm.fingerprint,
        label="vm",
    )
    before, after = document.split(b'"./heat","1000","10"', 1)
    yield bounding
    for number in range(count):
        yield Portable(
            kind="measurement",
            created=(_BEGIN + timedelta(minutes=number)).isoformat(),
            name=f"./heat 1000 {number}",
            document=before + f'"./heat","1000","{number}"'.encode() + after,
            origin="heat",
            source="made up",
            label=f"program {number}" if number % 10 == 0 else None,
            note="made up" if number % 100 == 0 else None,
            summary=summary,
            machine=bounding,
        )


def seconds(words: tuple[str, ...], repeat: int, environment: dict[str, str]) -> list[float]:
    """Return how long a command took, each time."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "ridgepoint", *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        times.append(time.perf_counter() - begin)
    return times


def main() -> None:
    """Make the archives, and print a table of times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="archive to make, or to use again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = asked.keep or Path(folder) / "archive.sqlite3"
        if not path.exists():
            begin = time.perf_counter()
            with Archive(path) as archive:
                archive.merge(records(asked.records))
            print(f"merging {asked.records} records: {time.perf_counter() - begin:.1f} s")
        print(f"the file has {path.stat().st_size / 1e6:.0f} MB")
        environment = {**os.environ, "RIDGEPOINT_ARCHIVE": str(path)}
        for words in (("--version",), *_COMMANDS):
            times = seconds(words, asked.repeat, environment)
            print(f"{statistics.median(times):8.3f} s  {max(times):8.3f} s  {' '.join(words)}")


if __name__ == "__main__":
    main()
