"""Copies hold every instruction of their modules, as another decoder sees them, and count right."""

import bisect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.native.build import native_engine

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import copies

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

ODD_FORMS = Path(__file__).parents[1] / "programs" / "native" / "odd_forms.S"
IN_MAIN = 5949
"""Instructions that odd_forms executes in main, by single steps; one of REP is one."""

LOOPS = """
__attribute__((noipa)) void scale(int n, double *x) {
    for (int i = 0; i < n; i++) x[i] = x[i] * 1.5 + 1.0;
}
__attribute__((noipa)) double raise(int n, double *x) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.5) x[i] = x[i] * x[i] + 1.0;
        if (x[i] > most) most = x[i];
    }
    return most;
}
__attribute__((noipa)) int longest(const char *text) {
    int best = 0;
    for (int i = 0; text[i];) {
        int j = i;
        while (text[j] && text[j] != ' ') j++;
        if (j - i > best) best = j - i;
        i = text[j] ? j + 1 : j;
    }
    return best;
}
int main(void) {
    static double x[1003];
    for (int k = 0; k < 100; k++) { scale(1003, x); raise(1003, x); }
    return longest("a few words of unequal length") - 7;
}
"""
RUNNING = sorted({
    line.split()[-1]
    for line in Path("/proc/self/maps").read_text().splitlines()
    if re.search(r" r-xp .*/(libc|ld-linux-x86-64|libm|libstdc\+\+)[-.].*so", line)
})  # fmt: skip


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a function that copies a module with options."""
    engine = native_engine()

    def copy(path, *options):
        made = tmp_path_factory.mktemp("copies") / "one.copy"
        subprocess.run([engine.copier, path, made, *options], check=True)
        return copies.CopyFile(made)

    return copy


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Return compiled programs: odd forms of instructions, and loops with and without vectors."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "loops.c").write_text(LOOPS)
    made = {}
    for name, source, options in (
        ("odd forms", ODD_FORMS, []),
        ("loops", folder / "loops.c", ["-O2"]),
        ("wide loops", folder / "loops.c", ["-O3", "-mavx512f", "-mavx512vl", "-mavx512dq"]),
        ("plain loops", folder / "loops.c", ["-O0"]),
    ):
        made[name] = folder / name.replace(" ", "_")
        subprocess.run(["cc", *options, source, "-o", made[name]], check=True)
    return made


@pytest.mark.parametrize("options", [[], ["--recording"], ["--both"]])
@pytest.mark.parametrize("name", ["odd forms", "loops", "wide loops", "plain loops"])
def test_every_instruction_of_a_program_is_in_its_copy(copied, programs, name, options):
    """Beside them there is only what counts and records, and branches lead to the same places."""
    copy = copied(programs[name], *options)
    found = copies.compare(copy, copies.Image(programs[name]))

    assert found.wrong == []
    assert found.n_instructions == copy.n_instructions * (2 if "--both" in options else 1)


@pytest.mark.parametrize("options", [[], ["--recording"]])
@pytest.mark.parametrize("path", RUNNING)
def test_every_instruction_of_a_library_is_in_its_copy(copied, path, options):
    """The libraries that this process runs with: hundreds of thousands of instructions."""
    found = copies.compare(copied(path, *options), copies.Image(Path(path)))

    assert found.wrong == []
    assert found.n_instructions > 10_000


def test_rows_are_counted_once(copied, programs):
    """A row has a counter, or that of another, or a sum of rows with counters."""
    copy = copied(programs["loops"])
    sources = {abs(term) - 1 for _, term in copy.sums} | {r.shares - 1 for r in copy.rows} - {-1}
    without = {row for row, _ in copy.sums} | {n for n, r in enumerate(copy.rows) if r.shares}

    assert not sources & without
    assert without


def test_recording_rows_are_the_counting_rows_once_more(copied, programs):
    """So what a block did is the sum of both; only the recording one has accesses."""
    copy = copied(programs["wide loops"], "--both")
    half = copy.first_recording

    assert len(copy.rows) == 2 * half
    for counting, recording in zip(copy.rows[:half], copy.rows[half:], strict=True):
        assert (counting.address, counting.kind) == (recording.address, recording.kind)
    assert not any(row.n_accesses for row in copy.rows[:half])
    assert any(row.n_accesses for row in copy.rows[half:])


def test_loops_are_left_for_the_same_instruction_of_the_recording_code(copied, programs):
    """Behind sums comes a jump to the copy of the loop's head."""
    copy = copied(programs["loops"], "--both")
    address = dict(copy.places)
    begin = min(at for at, _ in copy.places[copy.n_instructions :])

    heads = sorted(address)
    assert copy.turns
    for to, head in copy.turns:
        targets = (
            at + 5 + int.from_bytes(copy.code[at + 1 : at + 5], "little", signed=True)
            for at in range(to, to + 300)
            if copy.code[at] == 0xE9
        )
        target = next(one for one in targets if one in address)
        assert target >= begin
        assert address[target] == address[heads[bisect.bisect_right(heads, head) - 1]]


def count(path):
    """Return what the functions of a program counted; its status has to be 0."""

    def launch(command, **options):
        done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
        return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)

    counted = NativeMeter().count([str(path)], launch=launch, caches=())
    return {function.name: function.counts for function in counted.functions}


def test_odd_forms_do_what_they_do(programs):
    """They check themselves; and each instruction is counted, in loops of any kind."""
    assert count(programs["odd forms"])["main"].instructions == IN_MAIN


@pytest.mark.parametrize("name", ["loops", "plain loops"])
def test_loops_count_their_operations(programs, name):
    """The product and the sum of 1003 elements, 100 times, in registers or not."""
    parts = count(programs[name])["scale"].flop

    assert sum(part.flop for part in parts) == 2 * 1003 * 100
