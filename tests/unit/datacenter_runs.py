"""Run one of the datacenter workloads on data of a test's own."""

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import NamedTuple

from ridgepoint.suites.datacenter import build


class Done(NamedTuple):
    """What a program left."""

    report: dict[str, object]
    results: str


def start(name, *options, variant="optimised", memory_bytes=None, open_files=None):
    """Run a program to its end and return what `subprocess` has of it."""

    def limit():
        if memory_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        if open_files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

    command = [build(name, variant=variant), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)


def run(name, folder: Path, data, *options, variant="optimised"):
    """Run a workload on bytes or a text, checked; return its report and results."""
    source, results = folder / "data", folder / "results"
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    asked = ["--input", source, "--results", results, "--check", *options]
    done = start(name, *asked, variant=variant)

    assert done.stderr == ""
    assert done.returncode == 0
    return Done(json.loads(done.stdout), results.read_text())


def refusal(name, *options, **limits):
    """Return the one line with which a program refuses."""
    done = start(name, *options, **limits)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{name}: cannot ")
    return done.stderr


def unreadable(path):
    """Make a file that may not be read, and tell whether this user is held to that."""
    path.write_text("1\n")
    path.chmod(0)
    return not os.access(path, os.R_OK)
