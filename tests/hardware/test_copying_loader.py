"""What the copying engine's preloaded library sees of programs, and what it does where it cannot.

The work of the programs is known; their output and status are those of a plain run.
"""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.native import NativeMeter, arena
from ridgepoint.meters.native.build import native_engine

PROGRAMS = Path(__file__).parents[1] / "programs"
LIMIT_S = 60
EACH, LIBRARYS = 1000, 500  # flop per call
NO_COPY, HAD_THREADS = 1, 9  # Reason

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the program, and the library that it opens."""
    folder = tmp_path_factory.mktemp("loaded")
    program, library = folder / "loaded", folder / "library.so"
    for source, made, options in (
        ("loaded.c", program, ["-pthread"]),
        ("loaded_library.c", library, ["-shared", "-fPIC"]),
    ):
        command = ["gcc", "-O2", *options, PROGRAMS / source, "-o", made, "-ldl"]
        subprocess.run(command, check=True)
    return str(program), str(library)


def flop(*command):
    """Count a program with the copying engine; it has to end well."""

    def launch(command, **options):
        status = subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S, **options
        ).returncode
        return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)

    return NativeMeter().count(list(command), launch=launch, caches=()).counts.work["fp64"]


def loaded(*command, copies, options=0, **changed):
    """Run a program with an arena of which some numbers are changed; return how it ended, too."""
    engine = native_engine()
    with arena.Arena(
        copies=copies, copier=engine.copier, library=engine.library, options=options
    ) as memory:
        with Path(memory.path).open("r+b") as file:
            for name, value in changed.items():
                file.seek(arena.HEADER.fields[name][1])
                file.write(struct.pack("<Q", value))
        own = {"LD_PRELOAD": str(engine.library), "RIDGEPOINT_ARENA": memory.path}
        done = subprocess.run(
            command, env={**os.environ, **own}, capture_output=True, timeout=LIMIT_S, check=False
        )
        return done, memory.read()


def of_kind(contents, kind):
    """Return the events of one kind."""
    return [event for event in contents.events if event.kind == kind]


@pytest.mark.parametrize(
    ("mode", "n", "expected"),
    [("bare", 1, 2), ("spawned", 3, 4), ("closes", 1, 2), ("alive", 30, 30)],
)
def test_what_programs_do_to_themselves_loses_nothing(mode, n, expected, built):
    """They clear the environment of what they begin, and close descriptors that are not theirs."""
    assert flop(built[0], mode, str(n)) == expected * EACH


@pytest.mark.parametrize(("mode", "n"), [("opens", 50), ("keeps", 5)])
def test_libraries_that_come_later_are_counted(mode, n, built):
    """Each time anew, also in namespaces of their own."""
    program, library = built

    assert flop(program, mode, str(n), library) == n * LIBRARYS


def test_what_libraries_do_before_the_program_begins_is_counted(tmp_path):
    """Theirs are the first instructions, and a thread that goes on all the time."""
    library, program = tmp_path / "threads.so", tmp_path / "program"
    command = ["gcc", "-O2", "-pthread", PROGRAMS / "loaded_threads.c"]
    subprocess.run([*command, "-shared", "-fPIC", "-o", library], check=True)
    source = tmp_path / "nothing.c"
    source.write_text("double library_work(void);\nint main(void) { return library_work() > 0; }")
    subprocess.run(["gcc", "-O2", source, library, "-o", program], check=True)

    assert flop(str(program)) == 3 * LIBRARYS


def test_a_program_that_has_threads_before_is_left_alone(tmp_path):
    """One that a library began which came first has no bank: nothing is copied, and it is said."""
    library = tmp_path / "threads.so"
    command = ["gcc", "-O2", "-pthread", PROGRAMS / "loaded_threads.c", "-Wl,-z,initfirst"]
    subprocess.run([*command, "-shared", "-fPIC", "-o", library], check=True)
    source, program = tmp_path / "nothing.c", tmp_path / "program"
    source.write_text("double library_work(void);\nint main(void) { return library_work() > 0; }")
    subprocess.run(["gcc", "-O2", source, library, "-o", program], check=True)
    done, contents = loaded(str(program), copies=tmp_path)

    assert (done.returncode, done.stderr) == (0, b"")
    assert [event.a for event in of_kind(contents, arena.LEFT_ALONE)] in ([HAD_THREADS], [])


def test_what_was_closed_is_dropped(built, tmp_path):
    """Its copy goes with it, and comes again with the same counters."""
    program, library = built
    done, contents = loaded(program, "opens", "20", library, copies=tmp_path)
    (module,) = [one for one in contents.modules if one.path == library]
    came = [one for one in of_kind(contents, arena.LOADED) if one.a == module.number]
    went = [one for one in of_kind(contents, arena.UNLOADED) if one.a == module.number]

    assert done.returncode == 0
    assert (len(came), len(went)) == (20, 20)


def test_waits_do_not_end_early_because_of_samples(built, tmp_path):
    """A timer interrupts the program, but no call that it waits in."""
    done, contents = loaded(built[0], "waits", "300", copies=tmp_path, options=arena.OPTION_SAMPLES)

    assert done.stdout == b"0\n"
    assert sum(bank.in_kernel + bank.in_copy for bank in contents.banks) > 0


def test_a_program_sees_its_own_modules(built, tmp_path):
    """Neither copies nor what was preloaded is among those that it lists."""
    plain = subprocess.run([built[0], "lists", "1"], capture_output=True, check=True)
    done, _ = loaded(built[0], "lists", "1", copies=tmp_path)

    assert done.stdout == plain.stdout


def test_without_banks_the_program_goes_on(built, tmp_path):
    """There are two for thirty threads: the others are told of, and not counted."""
    done, contents = loaded(built[0], "alive", "30", copies=tmp_path, most_banks=2)

    assert (done.returncode, done.stderr) == (0, b"")
    assert contents.threads_without_bank == 29
    assert len(contents.banks) == 2


def test_without_counters_modules_are_left_alone(built, tmp_path):
    """All that do not fit run as they are."""
    done, contents = loaded(built[0], "alive", "3", copies=tmp_path, most_counters=10)

    assert (done.returncode, contents.modules) == (0, ())
    assert len(of_kind(contents, arena.LEFT_ALONE)) >= 3


@pytest.mark.parametrize("damage", ["cut", "emptied", "other", "anchors"])
def test_a_damaged_copy_is_made_anew_or_left_alone(damage, built, tmp_path):
    """Its file is checked, and the code that it replaces compared, before anything is changed."""
    program = built[0]
    _, before = loaded(program, "works", "1", copies=tmp_path)
    (module,) = [one for one in before.modules if one.path == program]
    path = Path(module.copy)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "emptied":
        content.clear()
    elif damage == "other":
        content[24:32] = bytes(8)
    else:
        at, n = struct.unpack_from("<QQ", content, 104 + 3 * 16)
        for anchor in range(n):
            content[at + 24 * anchor + 14] ^= 1
    path.write_bytes(content)
    done, contents = loaded(program, "works", "1", copies=tmp_path)
    left = [one for one in of_kind(contents, arena.LEFT_ALONE) if one.name == program]

    assert (done.returncode, done.stderr) == (0, b"")
    assert bool(left) == (damage == "anchors")


def test_a_folder_that_cannot_be_written_leaves_modules_alone(built, tmp_path):
    """No copy can be made; the program runs as it is."""
    done, contents = loaded(built[0], "works", "1", copies=tmp_path / "missing")

    assert (done.returncode, done.stderr) == (0, b"")
    assert {event.a for event in of_kind(contents, arena.LEFT_ALONE)} == {NO_COPY}


def test_an_arena_that_is_gone_leaves_the_program_alone(built):
    """Also one of another format."""
    engine = native_engine()
    for path in ("/nonexistent", built[0], "/dev/zero"):
        own = {"LD_PRELOAD": str(engine.library), "RIDGEPOINT_ARENA": path}
        done = subprocess.run(
            [built[0], "alive", "2"], env={**os.environ, **own}, capture_output=True, check=False
        )

        assert (done.returncode, done.stderr) == (0, b"")
