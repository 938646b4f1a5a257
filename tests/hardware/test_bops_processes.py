"""Counts are exact however a program ends, and whoever of its threads and children counts."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.host.run import Run
from ridgepoint.meters.source import compile_as, count, find_clang

try:
    find_clang()
    LACK = None
except MeterUnavailable as error:
    LACK = str(error)
pytestmark = pytest.mark.skipif(LACK is not None, reason=LACK or "")

PROGRAMS = Path(__file__).parents[1] / "programs" / "bops"
WORK = 301  # of work(100) in ends.c


def launch(command, variables):
    """Run a command with variables."""
    done = subprocess.run(command, env={**os.environ, **variables}, check=False)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)


def compiled(*arguments, cxx=False):
    """Do what `ridgepoint cc` does."""
    assert compile_as([str(one) for one in arguments], cxx=cxx, say=print) == 0


def counts(*command):
    """Count a command."""
    return count([str(one) for one in command], launch=launch)


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def ends(request, tmp_path_factory):
    """Compile the program that ends in many ways."""
    program = tmp_path_factory.mktemp("ends") / "ends"
    compiled(PROGRAMS / "ends.c", request.param, "-pthread", "-o", program)
    return program


@pytest.mark.parametrize(
    ("way", "bops", "status", "complete"),
    [
        ("return", 1 + WORK, 0, True),
        ("exit", 1 + WORK, 3, True),
        ("_exit", 1 + WORK, 4, True),
        ("xecv", 1 + WORK, 0, True),
        ("abort", 1 + WORK, 134, False),
        ("kill", 1 + WORK, 137, False),
        ("jump", 1 + 2 * WORK, 0, True),
        ("fork", 1 + 2 * WORK, 0, True),
        ("threads", 1 + 2 * (9 + 8 + 8) + 8 * WORK, 0, True),
        ("one by one", 1 + (201 + 200) + 200 * WORK, 0, True),
    ],
)
def test_no_end_loses_a_count(ends, way, bops, status, complete):
    """What was executed is counted; that a process was ended is said."""
    result = counts(ends, way)

    assert result.operations.total == bops
    assert (result.exit_status, result.complete) == (status, complete)
    assert ("incomplete" in [one.code for one in result.cautions]) == (not complete)


def test_counts_are_the_same_in_every_run(ends):
    """Nothing depends on the order of threads."""
    assert len({counts(ends, "threads").operations for _ in range(5)}) == 1


def test_what_stands_behind_a_call_that_never_returns_is_not_counted(tmp_path):
    """`leave` exits: neither the addition nor the product behind it is executed."""
    source = tmp_path / "leave.c"
    source.write_text(
        "#include <stdlib.h>\n"
        "static int leave(int n) { if (n > 2) exit(0); return n; }\n"  # 1 comparison each
        "int main(void) { int a = leave(1) + 5; return (leave(9) + 7) * a; }\n"  # 1 addition
    )
    compiled(source, "-o", tmp_path / "leave")

    assert counts(tmp_path / "leave").operations.total == 3


def test_threads_that_end_hand_their_counters_on(tmp_path):
    """20000 threads of 10 rounds (11 comparisons, 10 steps), and the loop that starts them."""
    source = tmp_path / "many.c"
    source.write_text(
        "#include <pthread.h>\n"
        "static void *f(void *u) { for (volatile int i = 0; i < 10; i++) ; return u; }\n"
        "int main(void) { pthread_t t; for (int i = 0; i < 20000; i++) {\n"
        "pthread_create(&t, 0, f, 0); pthread_join(t, 0); } return 0; }\n"
    )
    compiled(source, "-O2", "-pthread", "-o", tmp_path / "many")

    assert counts(tmp_path / "many").operations.total == 20_000 * 21 + 20_001 + 20_000


def test_flags_of_distributions_are_taken(tmp_path):
    """Checked functions of the C library and warnings as errors do not mind the detour."""
    (tmp_path / "main.c").write_text('#include <stdio.h>\nint main(void) { return puts("") - 1; }')
    hardened = ("-O2", "-D_FORTIFY_SOURCE=2", "-Wall", "-Wextra", "-Werror", "-flto", "-g")
    compiled(*hardened, tmp_path / "main.c", "-fstack-protector-strong", "-o", tmp_path / "main")

    assert counts(tmp_path / "main").operations.total == 1


LIBRARY = "int twice(int n) { return n * 2; }\nint thrice(int n) { return n * 3; }\n"
STATIC = "static int work(int n) { return n + %d; }\nint %s(int n) { return work(n); }\n"


def test_shared_libraries_count_when_they_are_linked_and_when_they_are_opened(tmp_path):
    """Each module brings its own table."""
    (tmp_path / "lib.c").write_text(LIBRARY)
    (tmp_path / "main.c").write_text(
        "#include <dlfcn.h>\nint twice(int);\n"
        "int main(int argc, char **argv) {\n"
        "void *lib = dlopen(argv[1], RTLD_NOW);\n"  # 1 addressing
        'int (*f)(int) = (int (*)(int))dlsym(lib, "thrice");\n'
        "int r = twice(1) + f(2) + f(3); dlclose(lib); return r == 17 ? 0 : 1; }\n"  # 3, and 3
    )
    compiled("-shared", "-fPIC", "-O2", tmp_path / "lib.c", "-o", tmp_path / "libone.so")
    shutil.copy(tmp_path / "libone.so", tmp_path / "libtwo.so")
    one = ("-L", tmp_path, "-lone", f"-Wl,-rpath,{tmp_path}")
    compiled(tmp_path / "main.c", "-o", tmp_path / "main", *one)

    result = counts(tmp_path / "main", tmp_path / "libtwo.so")

    assert result.exit_status == 0
    assert result.operations.total == 1 + 3 + 3
    assert {one.name: one.operations.total for one in result.functions} == {
        "main": 4,
        "thrice": 2,
        "twice": 1,
    }


def test_static_libraries_and_functions_of_one_name_stay_apart(tmp_path):
    """Two files each have a `work` of their own; one comes out of a library."""
    for name, n in (("first", 1), ("second", 2)):
        (tmp_path / f"{name}.c").write_text(STATIC % (n, name))
        compiled("-c", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.o")
    subprocess.run(["ar", "rc", "libsecond.a", "second.o"], cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(
        "int first(int), second(int); int main(void) { first(1); second(1); return second(2) - 4; }"
    )
    inputs = (tmp_path / "main.c", tmp_path / "first.o", tmp_path / "libsecond.a")
    compiled(*inputs, "-o", tmp_path / "main")

    result = counts(tmp_path / "main")

    # 1 subtraction in main; one addition per call.
    assert sorted((one.name, one.operations.total) for one in result.functions) == [
        ("main", 1),
        ("work", 1),
        ("work", 2),
    ]


def test_a_program_without_counters_is_refused():
    """That nothing was counted is not 0."""
    with pytest.raises(CannotMeasure, match="ridgepoint cc"):
        counts("/bin/true")


def test_inline_assembly_and_assembly_count_nothing_and_are_told(tmp_path, capsys):
    """Their operations are not in the source's language."""
    (tmp_path / "main.c").write_text(
        'int f(void); int main(void) { __asm__("nop"); return f() + 1; }'
    )
    (tmp_path / "f.s").write_text(".globl f\nf: mov $-1, %eax\nret\n")
    compiled(tmp_path / "main.c", tmp_path / "f.s", "-o", tmp_path / "main")

    result = counts(tmp_path / "main")

    assert "f.s is assembly" in capsys.readouterr().out
    assert result.operations.total == 1
    assert [one.code for one in result.cautions] == ["inline-assembly"]
