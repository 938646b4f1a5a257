"""The GPU's kernels: their source does what is claimed, by brute force and by a compiler.

Without a GPU, the same source is compiled as C++ and run on the CPU, thread after thread; and by
clang for a GPU, whose assembly is counted.
"""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from ridgepoint.ceilings.gpu.kernels import FORMATS, SOURCE, Chain, Product, Stream, pass_bytes

# CUDA's names, for a CPU that is all threads in turn.
ON_CPU = r"""
#include <cmath>
#define __global__
#define __launch_bounds__(...)
#define __restrict__ __restrict
struct Place { unsigned x; };
static Place threadIdx, blockIdx, blockDim, gridDim;
struct alignas(16) uint4 { unsigned x, y, z, w; };
using std::fma;
"""
CALLS = r"""
template <class Kernel> static void all_threads(unsigned blocks, unsigned threads, Kernel kernel)
{
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
            kernel();
}
#define STREAM(name) \
    extern "C" void run_##name(unsigned b, unsigned t, uint4* from, uint4* to, long long passes, \
                               unsigned never) \
    { all_threads(b, t, [&] { name(from, to, passes, never); }); }
STREAM(stream_load) STREAM(stream_store) STREAM(stream_copy)
#define CHAIN(name, type) \
    extern "C" void run_##name(unsigned b, unsigned t, type* from, type* to, long long passes, \
                               type factor, type term) \
    { all_threads(b, t, [&] { name(from, to, passes, factor, term); }); }
CHAIN(chain_fp64, double) CHAIN(chain_fp32, float)
extern "C" void run_fill(unsigned b, unsigned t, unsigned long long* to, long long passes,
                         unsigned long long keep, unsigned long long set)
{ all_threads(b, t, [&] { fill(to, passes, keep, set); }); }
"""
BLOCKS, THREADS, PASSES = 3, 256, 5
NEVER = 0x5BD1E995

FOR_A_GPU = r"""
#define __global__ __attribute__((global))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict
struct Place { unsigned x; };
#define threadIdx (Place{(unsigned)__nvvm_read_ptx_sreg_tid_x()})
#define blockIdx (Place{(unsigned)__nvvm_read_ptx_sreg_ctaid_x()})
#define blockDim (Place{(unsigned)__nvvm_read_ptx_sreg_ntid_x()})
#define gridDim (Place{(unsigned)__nvvm_read_ptx_sreg_nctaid_x()})
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
#define clock64 __nvvm_read_ptx_sreg_clock64
#define fma __builtin_fma
#define fmaf __builtin_fmaf
"""
CLANGS = ("clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14")


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory):
    """Give the kernels as functions of the CPU."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ to compile the kernels for the CPU")
    folder = tmp_path_factory.mktemp("kernels")
    source, library = folder / "kernels.cpp", folder / "kernels.so"
    # The clock is the GPU's own: it has nothing to do on a CPU.
    of_cpu, _, _ = SOURCE.partition('extern "C" __global__ void clock_rate')
    source.write_text(ON_CPU + of_cpu + CALLS)
    subprocess.run(
        [compiler, "-std=c++14", "-O1", "-shared", "-fPIC", "-o", library, source], check=True
    )
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module")
def assembly(tmp_path_factory):
    """Give the kernels' assembly for a GPU, by name."""
    compiler = next(filter(None, map(shutil.which, CLANGS)), None)
    if compiler is None:
        pytest.skip("no clang to compile the kernels for a GPU")
    folder = tmp_path_factory.mktemp("kernels")
    source, listing = folder / "kernels.cu", folder / "kernels.ptx"
    source.write_text(FOR_A_GPU + SOURCE)
    options = "-x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -O3 -S"
    done = subprocess.run(
        [compiler, *options.split(), "-fno-unroll-loops", "-w", "-o", listing, source],
        capture_output=True,
        text=True,
    )
    if "unknown target" in done.stderr or "No available targets" in done.stderr:
        pytest.skip("this clang does not compile for GPUs")
    assert done.returncode == 0, done.stderr
    pieces = re.split(r"\.visible \.entry (\w+)\(", listing.read_text())
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def address(array):
    """Return where an array lies, for ctypes."""
    return ctypes.c_void_p(array.ctypes.data)


def stream_buffers():
    """Return two buffers of exactly what all threads go through, and guards behind them."""
    words = BLOCKS * THREADS * 4 * PASSES
    source = np.arange(1, 4 * words + 1, dtype=np.uint32)
    target = np.zeros(4 * words + 64, dtype=np.uint32)
    return source, target, 4 * words


def run_stream(on_cpu, name, source, target):
    """Run one stream on all threads."""
    function = getattr(on_cpu, f"run_stream_{name}")
    function(BLOCKS, THREADS, address(source), address(target), ctypes.c_longlong(PASSES), NEVER)


def test_copy_copies_all_and_nothing_more(on_cpu):
    """Every word once; the guards behind stay as they were."""
    source, target, n = stream_buffers()
    run_stream(on_cpu, "copy", source, target)

    assert (target[:n] == source).all()
    assert (target[n:] == 0).all()
    assert Stream(operation="copy").work(blocks=BLOCKS, passes=PASSES) == 2 * source.nbytes


def test_store_stores_all_and_never_zeros(on_cpu):
    """16 byte at a time, of which none is all zeros; the guards stay."""
    source, target, n = stream_buffers()
    run_stream(on_cpu, "store", source, target)

    assert target[:n].reshape(-1, 4).any(axis=1).all()
    assert (target[n:] == 0).all()
    assert Stream(operation="store").work(blocks=BLOCKS, passes=PASSES) == source.nbytes


def silent_threads(on_cpu, word):
    """Return which threads store nothing if one word of 16 byte differs from all others.

    Of zeros a thread's sum is what it began with, and is stored; one word of ones changes it.
    """
    source, target, _ = stream_buffers()
    source[:] = 0
    source[4 * word : 4 * word + 4] = 0xFFFFFFFF ^ NEVER
    run_stream(on_cpu, "load", source, target)
    return np.flatnonzero(~target.reshape(-1, 4)[: BLOCKS * THREADS].any(axis=1))


@pytest.mark.parametrize("word", [0, 1, 767, 768, 5000, 9999, 15359])
def test_load_reads_every_word_in_one_thread(on_cpu, word):
    """Thread t reads words t, t + 768, t + 2 x 768, ...: neighbours are read together."""
    assert silent_threads(on_cpu, word).tolist() == [word % (BLOCKS * THREADS)]
    assert Stream(operation="load").work(blocks=BLOCKS, passes=PASSES) == 15360 * 16


@pytest.mark.parametrize(("precision", "number"), [("fp64", np.float64), ("fp32", np.float32)])
def test_chains_end_where_they_must(on_cpu, precision, number):
    """The sum of 8 fixed points of x / 2 + 3 / 4: 8 x 1.5, for any beginning."""
    start = np.linspace(1, 2, BLOCKS * THREADS, dtype=number)
    end = np.zeros_like(start)
    kind = {"fp64": ctypes.c_double, "fp32": ctypes.c_float}[precision]
    run = getattr(on_cpu, f"run_chain_{precision}")
    run(BLOCKS, THREADS, address(start), address(end), ctypes.c_longlong(9), kind(0.5), kind(0.75))

    assert end == pytest.approx(np.full_like(end, 12.0), rel=1e-6)


@pytest.mark.parametrize("precision", FORMATS)
def test_filled_memory_holds_numbers_from_1_to_2(on_cpu, precision):
    """Of every format, all different enough to be data; never zeros."""
    words = np.zeros(BLOCKS * THREADS * PASSES, dtype=np.uint64)
    form = FORMATS[precision]
    on_cpu.run_fill(
        BLOCKS,
        THREADS,
        address(words),
        ctypes.c_longlong(PASSES),
        ctypes.c_ulonglong(form.keep),
        ctypes.c_ulonglong(form.set),
    )
    bf16 = (words.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    numbers = {
        "fp64": words.view(np.float64),
        "fp32": words.view(np.float32),
        "fp16": words.view(np.float16),
        "bf16": bf16,
    }[precision].astype(float)

    assert (numbers >= 1).all()
    assert (numbers < 2).all()
    assert numbers.mean() == pytest.approx(1.5, abs=0.02)
    assert numbers.nbytes // 8 == words.nbytes // form.item_bytes


@pytest.mark.parametrize(("name", "operation"), [("fp64", "fma.rn.f64"), ("fp32", "fma.rn.f32")])
def test_assembly_holds_every_multiply_add(assembly, name, operation):
    """8 chains x 16 steps in a pass, none folded: 2 flop x 128 x threads x passes are claimed."""
    assert assembly[f"chain_{name}"].count(operation) == 128
    assert Chain(precision=name).work(blocks=1, passes=1) == 2 * 128 * 256


@pytest.mark.parametrize(
    ("name", "loaded", "stored"), [("load", 64, 0), ("store", 0, 64), ("copy", 64, 64)]
)
def test_assembly_moves_the_bytes_that_are_claimed(assembly, name, loaded, stored):
    """In a pass each thread moves 4 words of 16 byte; a load's one store is never reached."""
    text = assembly[f"stream_{name}"]
    sizes = {"v4.u32": 16, "u64": 8}
    moved = {
        kind: [sizes[size] for size in re.findall(rf"{kind}\.global(?:\.nc)?\.(v4\.u32|u64)", text)]
        for kind in ("ld", "st")
    }

    assert sum(moved["ld"]) == loaded
    assert sum(moved["st"]) == (stored or 16)


def test_clock_is_read_on_both_sides_of_the_chain(assembly):
    """Cycles and nanoseconds, before and after, in this order."""
    found = re.findall(r"clock64|globaltimer|fma\.rn\.f32", assembly["clock_rate"])

    assert found == ["globaltimer", "clock64", "fma.rn.f32", "clock64", "globaltimer"]


def test_work_of_a_product_is_that_of_the_triple_loop():
    """Counted by brute force: for each row, column and inner index, a product and a sum."""
    n = 3
    done = sum(2 for _ in range(n) for _ in range(n) for _ in range(n))

    assert Product(precision="bf16").work(size=n) == done
    assert Product(precision="tf32").needed_bytes(size=n) == 3 * 4 * n * n


def test_a_pass_is_what_a_block_goes_through():
    """256 threads x 4 words x 16 byte."""
    assert pass_bytes() == 256 * 4 * 16
