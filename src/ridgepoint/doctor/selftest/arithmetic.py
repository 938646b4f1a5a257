"""Built-in programs that work in registers: loops of arithmetic, n passes each."""

from __future__ import annotations

from ridgepoint.doctor.selftest.assembly import DATA, Loop
from ridgepoint.doctor.selftest.program import FRAME, Expected, Program, frame_read_bytes, framed


def arithmetic(n: int = 50_000) -> tuple[Program, ...]:
    """Return the programs of arithmetic.

    Parameters
    ----------
    n : int
        Passes of each loop.

    Notes
    -----
    A loop of a body of k instructions executes 1 + n (k + 2) and branches n times. With the
    frame, and of memory the frame's alone:

    ============  ===  ==============================  =============
    program         k  flop                            precision
    ============  ===  ==============================  =============
    fma             8  8 instructions x 4 lanes x 2 n  fp64, 256 bit
    add             4  4 instructions x 4 lanes x n    fp32, 128 bit
    multiply        4  4 n                             fp64, scalar
    integers        6  0
    ============  ===  ==============================  =============
    """
    return (
        _loop(
            "fma",
            "8 chains of 256-bit fp64 multiply-adds",
            f"vmovapd ymm0, [{DATA}]",
            tuple(f"vfmadd231pd ymm{k}, ymm0, ymm0" for k in range(1, 9)),
            n=n,
            flop_per_pass={"fp64": 8 * 4 * 2},
            needs=("avx", "fma"),
        ),
        _loop(
            "add",
            "4 chains of 128-bit fp32 additions, SSE",
            f"movaps xmm0, [{DATA + 32}]",
            tuple(f"addps xmm{k}, xmm0" for k in range(1, 5)),
            n=n,
            flop_per_pass={"fp32": 4 * 4},
        ),
        _loop(
            "multiply",
            "4 chains of scalar fp64 multiplications",
            f"vmovsd xmm0, [{DATA}]",
            tuple(f"vmulsd xmm{k}, xmm{k}, xmm0" for k in range(1, 5)),
            n=n,
            flop_per_pass={"fp64": 4},
            needs=("avx",),
        ),
        _loop(
            "integers",
            "scalar and 256-bit integers: no flop",
            f"vmovapd ymm0, [{DATA}]",
            (
                "imul eax, eax, 1664525",
                "add eax, 1013904223",
                "lea rbx, [rbx+rbx*2]",
                "xor rbx, rax",
                "vpaddq ymm1, ymm1, ymm0",
                "vpxor ymm2, ymm2, ymm0",
            ),
            n=n,
            flop_per_pass={},
            needs=("avx2",),
        ),
    )


def _loop(
    name: str,
    does: str,
    constants: str,
    body: tuple[str, ...],
    *,
    n: int,
    flop_per_pass: dict[str, int],
    needs: tuple[str, ...] = (),
) -> Program:
    code = framed(constants, Loop("ecx", n, body))
    return Program(
        name=name,
        does=does,
        code=code,
        needs=needs,
        expected=Expected(
            work={precision: flop * n for precision, flop in flop_per_pass.items()},
            instructions=FRAME + 1 + n * (len(body) + 2),
            branches=n,
            loads=1,
            stores=0,
            dram_read_bytes=frame_read_bytes(code),
        ),
    )
