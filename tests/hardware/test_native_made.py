"""Code made at run time under the copying engine."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.native import NativeMeter

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

PROGRAM = Path(__file__).parents[1] / "programs" / "sealed.c"
ROUNDS = 1000


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """Return tests/programs/sealed.c, compiled."""
    path = tmp_path_factory.mktemp("made") / "sealed"
    subprocess.run(["cc", "-O2", "-o", path, PROGRAM], check=True)
    return path


def _count(*command):
    """Return what was counted, and what the program wrote."""
    written = []

    def launch(command):
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        written.append(done.stdout)
        return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)

    counted = NativeMeter().count([str(part) for part in command], launch=launch, caches=())
    return counted, written[0]


def test_sealed_code_is_counted_each_time(sealed):
    """One flop in each round of the first function, two of the second, at the same address."""
    counted, written = _count(sealed, ROUNDS, "sealed")

    assert written == f"{ROUNDS} {2 * ROUNDS}\n"
    assert counted.counts.work == {"fp64": 3 * ROUNDS}


def test_code_that_stays_writable_runs_as_it_is(sealed):
    """Nobody tells of what is written behind its first bytes: neither function is counted."""
    counted, written = _count(sealed, ROUNDS, "writable")

    assert written == f"{ROUNDS} {2 * ROUNDS}\n"
    assert counted.counts.work.get("fp64", 0) == 0


IR = """
declare i32 @getppid()
define double @outside(double %x) {
  %y = fadd double %x, 1.0
  %parent = call i32 @getppid()
  %z = fmul double %y, 2.0
  ret double %z
}
define i64 @fib(i64 %n) {
  %c = icmp slt i64 %n, 2
  br i1 %c, label %small, label %sum
small:
  ret i64 %n
sum:
  %a = sub i64 %n, 1
  %b = sub i64 %n, 2
  %x = call i64 @fib(i64 %a)
  %y = call i64 @fib(i64 %b)
  %z = add i64 %x, %y
  ret i64 %z
}
define double @product(double %x, double %y) noinline {
  %p = fmul double %x, %y
  ret double %p
}
define void @daxpy(i64 %n, double %a, ptr %x, ptr %y) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %px = getelementptr double, ptr %x, i64 %i
  %py = getelementptr double, ptr %y, i64 %i
  %vx = load double, ptr %px
  %vy = load double, ptr %py
  %p = fmul double %a, %vx
  %s = fadd double %p, %vy
  store double %s, ptr %py
  %j = add i64 %i, 1
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %out
out:
  ret void
}
"""
LLVM_PROGRAM = f"""
import ctypes, sys
import llvmlite.binding as llvm

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
engine = llvm.create_mcjit_compiler(llvm.parse_assembly({IR!r}), machine)
engine.finalize_object()
daxpy = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p
)(engine.get_function_address("daxpy"))
product = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(
    engine.get_function_address("product")
)
fib = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.get_function_address("fib"))
outside = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(
    engine.get_function_address("outside")
)
n, calls = 100, int(sys.argv[1])
x, y = (ctypes.c_double * n)(*[1.0] * n), (ctypes.c_double * n)()
for _ in range(calls):
    daxpy(n, 2.0, x, y)
    product(2.0, 3.0)
    z = outside(4.0)
print(int(y[n - 1]), fib(15), z)
"""


def test_all_functions_that_a_compiler_makes_at_once_are_counted():
    """Two flop for each element and call, one for each product, two where it calls outside."""
    few, one = _count(sys.executable, "-c", LLVM_PROGRAM, 1)
    many, written = _count(sys.executable, "-c", LLVM_PROGRAM, 1001)

    assert (one, written) == ("2 610 10.0\n", "2002 610 10.0\n")
    more = {kind: n - few.counts.work.get(kind, 0) for kind, n in many.counts.work.items()}
    assert more["fp64"] == 1000 * (2 * 100 + 1 + 2)
