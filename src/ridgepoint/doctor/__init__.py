"""What can be measured here, why the rest cannot, and what that costs."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import tempfile
from pathlib import Path

from ridgepoint.ceilings.gpu import open_device
from ridgepoint.ceilings.gpu.driver import gpu_is_here
from ridgepoint.ceilings.this_host import machine_of_this_host_if_kept
from ridgepoint.core.errors import (
    ArchiveRefused,
    CannotMeasure,
    InvalidDocument,
    MeterUnavailable,
    reason_of,
)
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_size, format_size_roughly
from ridgepoint.doctor import processor
from ridgepoint.doctor.finding import Finding
from ridgepoint.host import System, usable_cpus
from ridgepoint.kept.archive import Archive
from ridgepoint.meters import Unavailable, sampling
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.compiling import compiler
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.engine.build import PACKAGE_UNUSED, engine
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.native.build import native_engine
from ridgepoint.meters.ncu import NcuMeter
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.shipped import shipped_folder
from ridgepoint.meters.valgrind.host import valgrind
from ridgepoint.models.caches.capacity import told_of_caches

_ARCHITECTURES = frozenset(("x86_64", "AMD64", "aarch64", "riscv64"))
"""Of kernels that are checked before they are timed."""

_NO_COUNTERS = "work and traffic are counted by simulation, which is slow and assumes ideal caches"


def examine(archive_path: Path | None = None) -> tuple[Finding, ...]:
    """Return what works on this host and what does not.

    Parameters
    ----------
    archive_path : Path or None
        The archive to look at; None: the default one.
    """
    system = System()
    return (
        _clock(),
        _kernels(system),
        processor.processor(system),
        processor.theory(system),
        _caches(system, archive_path),
        _huge_pages(),
        _engine(),
        _native(),
        _callgrind(),
        processor.tiles(system),
        _counters(),
        _sampling(),
        _gpu(),
        _compiler(),
        _temporary_folder(),
        _archive(archive_path),
    )


def _clock() -> Finding:
    cpus = usable_cpus()
    total = os.cpu_count() or len(cpus)
    detail = f"native runtime on CPU {', '.join(map(str, cpus))} ({len(cpus)} of {total})"
    return Finding(what="clock", works=True, detail=detail)


def _kernels(system: System) -> Finding:
    what, cost = "machine ceilings", "this machine has no roofs; use --machine FILE or NAME"
    if platform.machine() not in _ARCHITECTURES:
        return Finding(
            what=what,
            works=False,
            detail=f"kernels for {platform.machine()} cannot be verified here",
            remedy=f"measure on one of these architectures: {', '.join(sorted(_ARCHITECTURES))}",
            cost=cost,
        )
    if not system.caches:
        return Finding(
            what=what,
            works=False,
            detail="neither /sys nor the C library describes the caches",
            remedy="describe them: ridgepoint machine --cache l1=32k:8,l2=1m:8,l3=32m:16",
            cost="no bandwidth of the caches, only of main memory",
        )
    return Finding(what=what, works=True, detail="LLVM compiles the kernels for exactly this CPU")


def _caches(system: System, archive_path: Path | None) -> Finding:
    """Set what the system says of the caches beside what was measured when the machine was kept."""
    what = "caches"
    stated = ", ".join(
        f"L{cache.level} {format_size(cache.size_bytes)}"
        for cache in system.caches
        if cache.kind != "instruction"
    )
    machine = _kept(archive_path)
    if machine is None or not machine.capacities:
        return Finding(
            what=what,
            works=bool(stated),
            detail=(
                f"the system says {stated or 'nothing'}; 'ridgepoint machine' measures what a "
                "program gets"
            ),
            remedy=None
            if stated
            else ("run 'ridgepoint machine', or describe them: --cache l1=32k:8,l2=1m:8,l3=32m:16"),
            cost=None if stated else "no bandwidth of the caches, only of main memory",
        )
    used = ", ".join(
        f"L{cache.level} {format_size_roughly(cache.size_bytes)}"
        for cache in machine.caches
        if cache.kind != "instruction"
    )
    difference = "; ".join(told_of_caches(machine))
    return Finding(
        what=what, works=True, detail=f"{difference}; ceilings and traffic are those of {used}"
    )


def _kept(archive_path: Path | None) -> Machine | None:
    """Return this host's machine that was kept last; None: there is none that can be read."""
    try:
        with Archive(archive_path) as archive:
            kept = machine_of_this_host_if_kept(archive)
    except (ArchiveRefused, InvalidDocument):
        return None  # the archive has a line of its own
    return None if kept is None else kept[1]


def _huge_pages() -> Finding:
    what = "huge pages"
    try:
        setting = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text().strip()
    except OSError:
        setting = "this kernel does not report the setting"
    if "[madvise]" in setting or "[always]" in setting:
        return Finding(what=what, works=True, detail=f"used for buffers in main memory: {setting}")
    return Finding(
        what=what,
        works=False,
        detail=setting,
        remedy="echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        cost="the ceilings of main memory are lower, above all for random accesses",
    )


def _engine() -> Finding:
    meter = EngineMeter()
    lack = meter.why_unavailable()
    if lack is not None:
        return _lacking("counting engine", lack)
    built = engine()
    detail = f"for {built.name}: {meter.slowdown} times slower than a native run"
    if not built.cautions:
        return Finding(what="counting engine", works=True, detail=f"{detail}; in {built.library}")
    doubt = built.cautions[0]
    return Finding(
        what="counting engine",
        works=True,
        detail=f"{detail}; {doubt.seen}",
        remedy=doubt.remedy,
        cost=None if doubt.code == PACKAGE_UNUSED else "seconds at each start",
    )


def _native() -> Finding:
    what = "copying engine"
    meter = NativeMeter()
    lack = meter.why_unavailable()
    if lack is not None:
        return _lacking(what, lack)
    built = native_engine()
    detail = f"{meter.slowdown} times slower than a native run, AVX-512 and AMX included"
    if not built.cautions:
        return Finding(what=what, works=True, detail=detail)
    doubt = built.cautions[0]
    return Finding(
        what=what,
        works=True,
        detail=f"{detail}; {doubt.seen}",
        remedy=doubt.remedy,
        cost="seconds at each start",
    )


def _callgrind() -> Finding:
    meter = CallgrindMeter()
    lack = meter.why_unavailable()
    if lack is not None:
        return _lacking("callgrind", lack)
    return Finding(
        what="callgrind",
        works=True,
        detail=f"of {valgrind(tool=meter.name).name}: {meter.slowdown} times slower than a native "
        "run",
    )


def _lacking(what: str, lack: Unavailable) -> Finding:
    return Finding(what=what, works=False, detail=lack.reason, remedy=lack.remedy, cost=lack.cost)


def _counters() -> Finding:
    """Find out whether the kernel gives hardware counters, by asking it for all that it has."""
    what = "hardware counters"
    meter = PerfMeter()
    try:
        session = meter.session()
    except CannotMeasure as lack:
        return Finding(
            what=what, works=False, detail=lack.reason, remedy=lack.remedy, cost=_NO_COUNTERS
        )
    plan, name = session.plan, session.plan.microarchitecture.name
    named = ", ".join(metric for metric in plan.metrics if not metric.endswith("_total"))
    with session.watching_machine():
        pass
    refusals = list(session.refused.values())
    if refusals:
        return Finding(
            what=what,
            works=True,
            detail=f"{name}: {named}; but no counters of the whole machine: {refusals[0]}",
            cost="memory traffic is unknown with --meter perf",
        )
    return Finding(
        what=what, works=True, detail=f"{name}: {named}, with ridgepoint run --meter perf"
    )


def _sampling() -> Finding:
    """Find out whether the kernel samples programs by its clock."""
    what = "times of functions"
    lack = sampling.why_unavailable()
    if lack is None:
        return Finding(
            what=what,
            works=True,
            detail="the kernel samples programs by its clock: ridgepoint run --functions",
        )
    return Finding(
        what=what,
        works=False,
        detail=lack.reason,
        remedy=lack.remedy,
        cost="ridgepoint run --functions counts functions and does not time them",
    )


def _gpu() -> Finding:
    """Find out whether a GPU can be measured, by opening it."""
    what = "GPU"
    if not gpu_is_here():
        return Finding(
            what=what, works=True, detail="there is no NVIDIA GPU here: nothing is missing"
        )
    try:
        name = open_device().facts.name
    except CannotMeasure as lack:
        return Finding(
            what=what,
            works=False,
            detail=lack.reason,
            remedy=lack.remedy,
            cost=(
                "its roofs are not measured; --machine h200 or a100 bounds a program by the "
                "vendor's figures"
            ),
        )
    uncounted = NcuMeter().why_unavailable()
    detail = f"{name}: ridgepoint machine --device gpu"
    if uncounted is None:
        detail += "; its kernels are counted: ridgepoint run --meter ncu"
        return Finding(what=what, works=True, detail=detail)
    return Finding(
        what=what,
        works=True,
        detail=f"{detail}; but {uncounted.reason}",
        remedy=uncounted.remedy,
        cost=uncounted.cost,
    )


def _compiler() -> Finding:
    what = "C compiler"
    try:
        return Finding(what=what, works=True, detail=shlex.join(compiler("the counting engines")))
    except MeterUnavailable as lack:
        if shipped_folder().is_dir() and not os.environ.get("CC"):
            return Finding(
                what=what,
                works=True,
                detail=(
                    "none, and what counts needs none: it came compiled; the C++ programs of "
                    "'suite datacenter' and 'bops' need one"
                ),
            )
        return Finding(
            what=what,
            works=False,
            detail=lack.reason,
            remedy=lack.remedy,
            cost=(
                "the counting engines cannot be built; callgrind, where it is installed, "
                "counts instead, more slowly and with two levels of cache; ceilings need no "
                "compiler"
            ),
        )


def _temporary_folder() -> Finding:
    what = "temporary folder"
    try:
        with tempfile.TemporaryFile() as file:
            file.write(b"ridgepoint" * 1000)
            folder = tempfile.gettempdir()
    except OSError as error:
        return Finding(
            what=what,
            works=False,
            detail=reason_of(error),
            remedy="free some space, or set TMPDIR to a writable folder",
            cost="nothing can be counted",
        )
    free = shutil.disk_usage(folder).free
    return Finding(what=what, works=True, detail=f"{folder}, {free / 1e9:.1f} GB free")


def _archive(path: Path | None) -> Finding:
    what, cost = "archive", "no results are kept, and the machine is measured again each time"
    try:
        with Archive(path) as archive:
            kept = archive.count()
            archive.require_writable()
            place = archive.path
    except ArchiveRefused as refusal:
        return Finding(
            what=what, works=False, detail=refusal.reason, remedy=refusal.remedy, cost=cost
        )
    return Finding(what=what, works=True, detail=f"{place}: {kept} records")
