"""Samples taken apart, put into files and functions, and made into times: no clock, no process."""

import errno
import shutil
import struct
import subprocess

import pytest

from ridgepoint.core.counts import Counts, FunctionCounts
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.host.run import Run
from ridgepoint.meters.code_made import parse_code_made, read_code_made
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.sampling import Sampler
from ridgepoint.meters.sampling.address_space import Place, places
from ridgepoint.meters.sampling.event import attribute, refusal
from ridgepoint.meters.sampling.names import Names
from ridgepoint.meters.sampling.recorder import Recording
from ridgepoint.meters.sampling.records import (
    Ended,
    Executed,
    Forked,
    Lost,
    Mapped,
    Sample,
    records,
)
from ridgepoint.meters.sampling.shares import Shares, interval
from ridgepoint.meters.symbols import Symbols, read_symbols

# Records as linux/perf_event.h lays them out: type, misc, size; behind all but samples the pid and
# tid of the writer, and the time.


def record(kind, body, *, misc=0, trailer=b""):
    """Return a record of bytes."""
    return struct.pack("<IHH", kind, misc, 8 + len(body) + len(trailer)) + body + trailer


def behind(time_ns, pid=7):
    """Return what stands behind a record."""
    return struct.pack("<IIQ", pid, pid, time_ns)


def sample(time_ns, address, pid=7):
    """Return a sample's record."""
    return record(9, struct.pack("<QIIQ", address, pid, pid, time_ns))


def mapped(time_ns, address, size, offset, name, pid=7):
    """Return the record of a mapping: PROT_READ | PROT_EXEC, of a device that does not matter."""
    body = struct.pack("<IIQQQIIQQII", pid, pid, address, size, offset, 8, 1, 99, 0, 5, 2)
    padded = name + b"\0" * (8 - len(name) % 8)
    return record(10, body + padded, trailer=behind(time_ns, pid))


def executed(time_ns, pid=7):
    """Return the record of an exec."""
    body = struct.pack("<II", pid, pid) + b"prog\0\0\0\0"
    return record(3, body, misc=1 << 13, trailer=behind(time_ns, pid))


def forked(time_ns, pid, parent):
    """Return the record of a fork."""
    return record(7, struct.pack("<IIIIQ", pid, parent, pid, parent, time_ns), trailer=behind(5))


LOST = record(2, struct.pack("<QQ", 1, 12), trailer=behind(9))


def test_every_record_that_matters_is_read():
    """And a name that a thread takes, and a thread's start, are passed over."""
    end = record(4, struct.pack("<IIIIQ", 7, 1, 7, 1, 8), trailer=behind(8))
    name = record(3, struct.pack("<II", 7, 7) + b"x\0\0\0\0\0\0\0", trailer=behind(8))
    thread = record(7, struct.pack("<IIIIQ", 7, 7, 8, 7, 8), trailer=behind(8))
    data = b"".join(
        (
            *(executed(1), mapped(2, 4096, 8192, 512, b"/bin/a"), end, name, thread),
            *(sample(3, 5000), forked(4, 9, 7), LOST),
        )
    )

    assert list(records(data)) == [
        Executed(1, 7),
        Mapped(2, 7, 4096, 8192, 512, "/bin/a"),
        Ended(8, 7, 7),
        Sample(3, 7, 5000, 7),
        Forked(4, 9, 7),
        Lost(9, 12),
    ]


@pytest.mark.parametrize("data", [sample(1, 2)[:-1], b"\0" * 8, b"\1\2\3"])
def test_damaged_records_are_refused(data):
    """One that is cut, one of no size, and half a head."""
    with pytest.raises(CannotMeasure, match="damaged"):
        list(records(data))


def test_records_of_several_cpus_come_in_the_order_of_their_times():
    """A program that moves from one to another leaves its mappings on the first."""
    seen = Recording(
        {(1, 0): [sample(3, 5000)], (0, 0): [mapped(2, 4096, 8192, 0, b"/a"), sample(4, 1)]}
    )

    assert [one.time_ns for one in seen.records()] == [2, 3, 4]


def where(*data):
    """Return the places of the samples among records."""
    return [place for _, place in places(records(b"".join(data)))]


def test_a_sample_is_at_an_offset_of_its_file():
    """0x5000 is 0x1000 behind the beginning, which is 0x200 into the file."""
    assert where(mapped(1, 0x4000, 0x2000, 0x200, b"/bin/a"), sample(2, 0x5000)) == [
        Place("/bin/a", 0x1200)
    ]


def test_a_mapping_over_another_leaves_what_is_around_it():
    """A file over the middle of another: before, in it, behind."""
    seen = where(
        mapped(1, 0x4000, 0x3000, 0, b"/a"),
        mapped(2, 0x5000, 0x1000, 0x700, b"/b"),
        *(sample(3, address) for address in (0x4FFF, 0x5000, 0x6000, 0x7000)),
    )

    assert seen == [
        Place("/a", 0xFFF),
        Place("/b", 0x700),
        Place("/a", 0x2000),
        Place(None, 0x7000, 7),
    ]


def test_a_child_has_what_its_parent_had_until_it_executes():
    """And what it maps is not in its parent."""
    seen = where(
        mapped(1, 0x4000, 0x1000, 0, b"/a"),
        forked(2, 8, 7),
        sample(6, 0x4001, 8),
        executed(7, 8),
        mapped(8, 0x4000, 0x1000, 0, b"/b", 8),
        sample(9, 0x4002, 8),
        sample(10, 0x4003, 7),
    )

    assert seen == [Place("/a", 1), Place("/b", 2), Place("/a", 3)]


def test_code_made_at_run_time_and_the_kernels_own_are_in_no_file():
    """The former is of one process; the latter one whole."""
    seen = where(
        mapped(1, 0x4000, 0x1000, 0, b"//anon"),
        mapped(1, 0x8000, 0x1000, 0, b"[vdso]"),
        sample(2, 0x4010),
        sample(3, 0x8010),
    )

    assert seen == [Place(None, 0x4010, 7), Place("[vdso]", 0)]


def test_the_clock_is_asked_for_as_the_kernel_reads_it():
    """Software, cpu-clock; asleep, inherited, user mode, from exec on; 96 byte."""
    asked = attribute(1000)
    kind, size, config, period, sampled, _, bits = struct.unpack_from("<IIQQQQQ", asked)

    assert (kind, size, len(asked), config, period, sampled) == (1, 96, 96, 0, 1000, 1 | 2 | 4)
    assert bits & (1 << 0 | 1 << 1 | 1 << 5 | 1 << 12) == 1 << 0 | 1 << 1 | 1 << 5 | 1 << 12
    assert struct.unpack_from("<i", asked, 92) == (1,)  # CLOCK_MONOTONIC


@pytest.mark.parametrize(
    ("number", "paranoid", "said"),
    [
        (errno.EACCES, 3, "sysctl kernel.perf_event_paranoid=2"),
        (errno.EPERM, 2, "seccomp"),
        (errno.ENOSYS, None, "without --functions"),
        (errno.EMFILE, 2, "ulimit -n"),
    ],
)
def test_a_refusal_says_what_to_do(number, paranoid, said):
    """By errno, and by what the system is set to."""
    assert said in str(refusal(number, paranoid=paranoid))


# Names.

SYMBOLS = Symbols(
    segments=((0x1000, 0x500, 0x401000),),
    begins=[0x401000, 0x401100],
    ends=[0x401080, 0x401200],
    names=(("first",), ("puts", "_IO_puts")),
)


def counted(*names, path="/bin/a"):
    """Return functions of a counted run that did nothing."""
    nothing = Counts(instructions=1, branches=0, loads=0, stores=0, load_bytes=0, store_bytes=0)
    return [FunctionCounts(name=name, object=path, counts=nothing) for name in names]


@pytest.fixture
def names(monkeypatch):
    """Return names of an object file with two symbols, for counted functions of some names."""
    monkeypatch.setattr("ridgepoint.meters.sampling.names.read_symbols", lambda path: SYMBOLS)
    return lambda *known: Names(counted(*known))


def test_an_alias_that_was_counted_is_the_name(names):
    """Else the plainest."""
    place = Place("/bin/a", 0x1110)

    assert names("_IO_puts").of(place) == ("/bin/a", "_IO_puts")
    assert names("other").of(place) == ("/bin/a", "puts")


def test_code_without_a_symbol_belongs_to_the_function_that_was_seen_to_begin_before_it(names):
    """0x401090 and 0x4010b0; before the first nothing is known."""
    known = names("0x0000000000401090", "0x00000000004010b0")

    assert known.of(Place("/bin/a", 0x1095)) == ("/bin/a", "0x0000000000401090")
    assert known.of(Place("/bin/a", 0x10FF)) == ("/bin/a", "0x00000000004010b0")
    assert known.of(Place("/bin/a", 0x1085)) == ("/bin/a", None)
    assert known.of(Place("/bin/a", 0x9000)) == ("/bin/a", None)


def test_compilers_at_run_time_name_their_code():
    """Lines of perf-PID.map: hexadecimal beginning and size, then a name with blanks."""
    made = parse_code_made("4000 20 add twice\n4100 10 mul\nnonsense\n4000 30 sub\n")
    names = Names([], {7: made})

    assert names.of(Place(None, 0x4025, 7)) == (None, "sub")
    assert names.of(Place(None, 0x410F, 7)) == (None, "mul")
    assert names.of(Place(None, 0x4110, 7)) == (None, None)
    assert names.of(Place(None, 0x4025, 8)) == (None, None)


def test_only_what_a_compiler_wrote_since_is_of_this_process(monkeypatch, tmp_path):
    """Another process may have had the number before."""
    monkeypatch.setattr("ridgepoint.meters.code_made._MAPS", tmp_path)
    (tmp_path / "perf-7.map").write_text("4000 20 add\n")
    written_s = (tmp_path / "perf-7.map").stat().st_mtime

    assert read_code_made([7, 8], since_s=written_s)[7].names == (("add",),)
    assert read_code_made([7, 8], since_s=written_s + 1) == {}


@pytest.mark.parametrize(
    "mangled", ["_ZN3foo3barEid", "_ZNSt6vectorIdSaIdEE6resizeEm", "_Znonsense"]
)
def test_names_of_cpp_read_as_binutils_writes_them(mangled):
    """c++filt is the judge; what is none stays as it is."""
    if shutil.which("c++filt") is None:
        pytest.skip("c++filt is not installed")
    said = subprocess.run(["c++filt", mangled], capture_output=True, text=True, check=True)

    assert demangled(mangled) == said.stdout.strip()


def test_symbols_are_those_that_nm_lists():
    """Of the interpreter's C library, at every tenth address."""
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    path = "/lib/x86_64-linux-gnu/libm.so.6"
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True)
    if listed.returncode:
        pytest.skip(f"nm cannot read {path}")
    symbols = read_symbols(path)
    functions = [line.split() for line in listed.stdout.splitlines() if " T " in line]

    assert len(functions) > 100
    assert all(
        name.partition("@")[0] in {one.partition("@")[0] for one in symbols.names_at(int(at, 16))}
        for at, _, name in functions
    )


def test_a_file_that_is_no_object_file_has_no_symbols(tmp_path):
    """Nor one that is gone."""
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n")

    assert read_symbols(str(text)) == read_symbols(str(tmp_path / "gone")) == Symbols()


# Times.

A, B = Place("/bin/a", 1), Place("/bin/a", 2)


def at(place, *times_ms):
    """Return samples of a place at some times."""
    return [(Sample(round(time * 1e6), 7, 0), place) for time in times_ms]


def test_the_time_of_one_thread_is_its_samples():
    """300 and 100 of 1 ms."""
    shares = Shares(period_s=1e-3)
    shares.add([*at(A, *range(300)), *at(B, *range(300, 400))])

    assert shares.of[A].wall_s == pytest.approx(0.3)
    assert shares.of[B].wall_s == pytest.approx(0.1)


def test_a_moment_is_divided_among_the_threads_that_run_then():
    """200 ms together, then 200 ms of one alone: 300 and 100 of 400."""
    shares = Shares(period_s=1e-3)
    times = sorted([*at(A, *range(400)), *at(B, *range(200))], key=lambda one: one[0].time_ns)
    shares.add(times)

    assert shares.of[A].wall_s == pytest.approx(0.3)
    assert shares.of[B].wall_s == pytest.approx(0.1)
    assert (shares.of[A].samples, shares.of[B].samples) == (400, 200)


def test_waiting_is_nobodys_time():
    """100 ms at the ends of a second."""
    shares = Shares(period_s=1e-3)
    shares.add([*at(A, *range(50)), *at(A, *range(950, 1000))])

    assert shares.of[A].wall_s == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("samples", "low", "high"),
    # Brown, Cai, DasGupta 2001, Statistical Science 16(2), formula (4), by hand.
    [(0, 0.0, 0.2775), (5, 0.2366, 0.7634), (10, 0.7225, 1.0)],
)
def test_the_interval_of_a_share_is_wilsons(samples, low, high):
    """Of ten."""
    assert interval(samples, 10) == pytest.approx((low, high), abs=1e-4)


class Kernel:
    """Stands in for what records: each run leaves the same bytes."""

    def __init__(self, data):
        self.data = data

    def __call__(self, *, period_ns):
        """Begin to record."""
        self.seen = Recording({(0, 0): [self.data]})
        self.period_ns = period_ns
        return self

    def __enter__(self):
        return self.seen

    def __exit__(self, *exception):
        return None


def sampled_of(monkeypatch, data, *, run, functions=(), cpu_s=1.0):
    """Return what a sampler says of one run."""
    monkeypatch.setattr("ridgepoint.meters.sampling.recording", Kernel(data))
    sampler = Sampler(cpu_s=0.1)
    sampler.sample(lambda: run)
    timed = Timed(runtime_s=Estimate([9.0]), cpu_s=Estimate([cpu_s]))
    return sampler.sampled(functions, timed)


def thousand(path=b"/bin/a"):
    """Return a thousand samples, one in 0.973001 ms."""
    return mapped(0, 0x4000, 0x1000, 0, path) + b"".join(
        sample(1 + n * 973_001, 0x4001) for n in range(1000)
    )


def seconds(wall_s, user_s):
    """Return a run of that long."""
    return Run(exit_status=0, wall_s=wall_s, cpu_s=user_s, system_s=0.0)


def test_the_time_is_of_the_cpu_time_that_nobody_sampled(monkeypatch):
    """0.973 s of samples in 0.973 s of CPU time are all of it: 0.5 s, where sampling doubled it."""
    found = sampled_of(monkeypatch, thousand(), run=seconds(1.9, 0.973001), cpu_s=0.5)
    (only,) = found.functions

    assert (only.name, only.object, only.samples) == (None, "/bin/a", 1000)
    assert (only.runtime_s.median, only.cpu_s) == pytest.approx((0.5, 0.5))
    assert only.runtime_s.low == pytest.approx(0.5 * 0.99617, rel=1e-4)  # 1 / (1 + 1.96² / 1000)
    assert found.cautions == ()


def test_the_error_of_the_clock_is_in_the_interval(monkeypatch):
    """Samples stand for 0.973 s, and the kernel accounts 1.04: 6.4 % apart."""
    (only,) = sampled_of(monkeypatch, thousand(), run=seconds(1.9, 1.04)).functions

    assert only.runtime_s.high == pytest.approx(only.runtime_s.median * 1.0644, rel=1e-3)


def test_cpu_time_that_no_sample_saw_is_a_caution(monkeypatch):
    """The kernel accounted twice as much: of threads that live for less than a period."""
    found = sampled_of(monkeypatch, thousand(), run=seconds(2.0, 2.0))

    assert [one.code for one in found.cautions] == ["samples-missing"]


def test_lost_records_are_a_caution(monkeypatch):
    """12 of 1012."""
    found = sampled_of(monkeypatch, thousand() + LOST, run=seconds(1.0, 0.98))

    assert [one.code for one in found.cautions] == ["samples-lost"]
    assert "12 records" in found.cautions[0].seen


def test_code_that_the_counted_run_never_entered_is_a_caution(monkeypatch):
    """The engine's processor has no AVX-512, the host may."""
    found = sampled_of(
        monkeypatch, thousand(), run=seconds(1.0, 0.98), functions=counted("f", path="/bin/b")
    )

    assert [one.code for one in found.cautions] == ["other-code"]
    assert "100% of the sampled time" in found.cautions[0].seen


def test_a_run_without_samples_has_no_functions(monkeypatch):
    """It is over before the first."""
    found = sampled_of(monkeypatch, b"", run=seconds(0.001, 0.0005))

    assert (found.samples, found.functions, found.cautions) == (0, (), ())


def test_long_programs_are_sampled_less_often(monkeypatch):
    """An hour of CPU time in 60000 samples."""
    monkeypatch.setattr("ridgepoint.meters.sampling.recording", kernel := Kernel(b""))
    Sampler(cpu_s=3600.0).sample(lambda: seconds(1.0, 1.0))

    assert kernel.period_ns == pytest.approx(6e7)
