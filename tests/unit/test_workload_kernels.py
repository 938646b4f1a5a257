"""Code of hand-written workloads: for vectors of every width, and for other processors."""

import re
from types import SimpleNamespace

import pytest

from ridgepoint.kernels.jit import emit
from ridgepoint.suites.kernels import all_workloads, find, native

HANDWRITTEN = tuple(one for one in all_workloads() if one.is_handwritten)
BY_NAME = pytest.mark.parametrize("workload", HANDWRITTEN, ids=lambda one: one.name)


@pytest.fixture
def with_vectors(monkeypatch):
    """Compile for a CPU whose widest vectors have so many bits; LLVM takes longer ones apart."""

    def choose(width_bits):
        isa = SimpleNamespace(vector_widths=(width_bits,) if width_bits else ())
        monkeypatch.setattr(native, "Isa", lambda **_: isa)

    return choose


@pytest.fixture
def sources(monkeypatch):
    """Collect the IR that workloads have compiled, by the name of its function."""
    compiler, seen = native._compiler(), {}

    class Listening:
        architecture, vector_bits, has = compiler.architecture, 0, compiler.has

        def compile(self, ir, name, *, width_bits):
            seen[name] = ir
            return compiler.compile(ir, name, width_bits=width_bits)

    monkeypatch.setattr(native, "_compiler", Listening)
    return seen


@BY_NAME
@pytest.mark.parametrize("width_bits", [0, 128, 256, 512])
def test_results_are_right_with_vectors_of_every_width(workload, width_bits, with_vectors):
    """None is a multiple of all of them unrolled."""
    with_vectors(width_bits)

    workload.check(64 if workload.family == "fft" else 71)


@BY_NAME
@pytest.mark.parametrize(
    ("triple", "cpu", "features"),
    [
        ("aarch64-linux-gnu", "neoverse-n1", ""),
        ("aarch64-linux-gnu", "neoverse-v1", ""),
        ("riscv64-linux-gnu", "generic-rv64", "+m,+d"),
        ("x86_64-linux-gnu", "x86-64", ""),
    ],
)
def test_other_processors_have_code_for_it(workload, triple, cpu, features, sources, with_vectors):
    """Vectors of 128 bit; no function of a library, such as fma() where nothing is fused."""
    with_vectors(0 if triple.startswith("riscv") else 128)
    workload.prepare(64)
    ((name, ir),) = sources.items()
    code = emit(ir, name, triple=triple, cpu=cpu, features=features, width_bits=128)

    assert code.machine_code
    assert re.search(r"\b(fmaf?|memcpy|memset|__\w+)\b", code.assembly) is None


def test_multiply_adds_are_two_instructions_where_they_are_not_fused(sources, with_vectors):
    """By SSE2, as many flop, in twice as many instructions."""
    with_vectors(128)
    find("daxpy.llvm").prepare(64)
    listings = [
        emit(
            sources["daxpy.loop"], "daxpy.loop", triple="x86_64-linux-gnu", cpu="x86-64",
            features=features, width_bits=128,
        ).assembly
        for features in ("", "+fma")
    ]  # fmt: skip
    counts = [[one.count(name) for name in ("mulpd", "addpd", "vfmadd")] for one in listings]

    assert counts == [[4, 4, 0], [0, 0, 5]]
