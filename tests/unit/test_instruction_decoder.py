"""The decoder of the copying engine against iced-x86, and against what the manuals say."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from instructions_by_iced import (
    CALL,
    CONDITIONAL,
    DTYPE,
    ENDBR,
    INDIRECT_CALL,
    INDIRECT_JUMP,
    JUMP,
    LEA,
    LOOP,
    NEXT,
    NOP,
    PREFETCH,
    REPEATED,
    RETURN,
    SETS_GS,
    STOP,
    SYSCALL,
    TILES,
    XBEGIN,
    NativeDecoder,
    differences,
    executable_sections,
    samples_of_each_code,
)

RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI = (1 << n for n in range(8))
R8, R10, R11 = 1 << 8, 1 << 10, 1 << 11
CF, PF, AF, ZF, SF, OF, DF = (1 << n for n in range(7))
ARITHMETIC = CF | PF | AF | ZF | SF | OF

# Text by objdump -M intel, and what the manuals (Intel SDM volume 2) say.
KNOWN = [
    ("c3", "ret", {"length": 1, "flow": RETURN, "stack_access": 1, "stack_bytes": 8}),
    ("e810000000", "call 0x1015", {"flow": CALL, "target": 0x1015, "immediate_at": 1}),
    ("7ffe", "jg 0x1000", {"flow": CONDITIONAL, "condition": 15, "target": 0x1000}),
    ("0f8400010000", "je 0x1106", {"flow": CONDITIONAL, "condition": 4, "target": 0x1106}),
    ("e2fe", "loop 0x1000", {"flow": LOOP, "read": RCX, "changed": RCX, "target": 0x1000}),
    ("ebfe", "jmp 0x1000", {"flow": JUMP, "target": 0x1000}),
    ("ff25efffffff", "jmp [rip-17]", {"flow": INDIRECT_JUMP, "target": 0xFF5, "base": 16}),
    ("ff142504030201", "call [0x1020304]", {"flow": INDIRECT_CALL, "base": 255, "index": 255}),
    ("c7f810000000", "xbegin 0x1016", {"flow": XBEGIN, "target": 0x1016, "written": 0}),
    ("0f0b", "ud2", {"flow": STOP, "read": 0xFFFF}),
    ("f4", "hlt", {"flow": STOP}),
    ("ff28", "jmp far [rax]", {"flow": STOP}),
    ("0f05", "syscall", {"flow": NEXT, "what": SYSCALL, "written": RCX | R11, "flags_written": 0}),
    ("f348ab", "rep stosq", {"what": REPEATED, "written": 0, "implicit_access": 4,
                             "implicit_bytes": 8, "read": RAX | RCX | RDI, "flags_read": DF}),
    ("f2ae", "repne scasb", {"what": REPEATED, "flags_written": 0, "implicit_access": 2}),
    ("67f3a4", "rep movsb with ecx", {"what": REPEATED, "is_address32": 1}),
    ("a4", "movsb", {"what": 0, "implicit_access": 5, "implicit_bytes": 1}),
    ("31c0", "xor eax,eax", {"read": 0, "written": RAX, "flags_written": ARITHMETIC}),
    ("30c0", "xor al,al", {"read": 0, "written": 0, "changed": RAX}),
    ("30c4", "xor ah,al", {"read": RAX, "written": 0, "changed": RAX}),
    ("4030c4", "xor spl,al", {"read": RAX | RSP, "changed": RSP}),
    ("480f44c3", "cmove rax,rbx", {"written": 0, "changed": RAX, "flags_read": ZF}),
    ("0f44c3", "cmove eax,ebx", {"read": RAX | RBX, "changed": RAX}),
    ("88c3", "mov bl,al", {"read": RAX, "written": 0, "changed": RBX}),
    ("6689c3", "mov bx,ax", {"read": RAX, "written": 0, "changed": RBX}),
    ("89c3", "mov ebx,eax", {"read": RAX, "written": RBX, "changed": RBX}),
    ("f7e3", "mul ebx", {"read": RAX | RBX, "written": RAX | RDX, "flags_written": ARITHMETIC}),
    ("0fa2", "cpuid", {"read": RAX | RCX, "written": RAX | RBX | RCX | RDX}),
    ("0f31", "rdtsc", {"read": 0, "written": RAX | RDX}),
    ("d3e0", "shl eax,cl", {"read": RAX | RCX, "flags_written": 0}),
    ("c1e000", "shl eax,0", {"flags_written": 0}),
    ("c1e005", "shl eax,5", {"flags_written": ARITHMETIC}),
    ("ffc0", "inc eax", {"flags_written": ARITHMETIC & ~CF}),
    ("11d8", "adc eax,ebx", {"flags_read": CF, "flags_written": ARITHMETIC}),
    ("9f", "lahf", {"flags_read": SF | ZF | AF | PF | CF, "changed": RAX, "written": 0}),
    ("90", "nop", {"what": NOP, "read": 0}),
    ("4990", "xchg r8,rax", {"what": 0, "written": R8 | RAX}),
    ("660f1f440000", "nop word [rax+rax+0]", {"what": NOP, "memory_access": 0, "read": 0}),
    ("f30f1efa", "endbr64", {"what": ENDBR}),
    ("0f1808", "prefetcht0 [rax]", {"what": PREFETCH, "reg": 1, "memory_access": 0, "read": RAX}),
    ("8d4304", "lea eax,[rbx+4]", {"what": LEA, "read": RBX, "memory_access": 0}),
    ("50", "push rax", {"uses_stack": 1, "stack_access": 2, "has_memory": 0, "read": RAX | RSP}),
    ("ff30", "push [rax]", {"stack_access": 2, "memory_access": 1, "memory_bytes": 8}),
    ("8f00", "pop [rax]", {"stack_access": 1, "memory_access": 2, "memory_bytes": 8}),
    ("c9", "leave", {"stack_access": 1, "written": RSP | RBP}),
    ("48a1efcdab8967452301", "mov rax,[0x123456789abcdef]",
     {"has_memory": 1, "displacement_bytes": 8, "target": 0x123456789ABCDEF, "base": 255}),
    ("f0480fb10e", "lock cmpxchg [rsi],rcx",
     {"memory_access": 3, "read": RAX | RCX | RSI, "changed": RAX, "written": 0}),
    ("65488b042508000000", "mov rax,gs:[8]", {"segment": 0x65, "displacement": 8, "base": 255}),
    ("8ee8", "mov gs,eax", {"what": SETS_GS}),
    ("8ee0", "mov fs,eax", {"what": 0}),
    ("8ce8", "mov eax,gs", {"what": 0}),
    ("f30faed8", "wrgsbase eax", {"what": SETS_GS}),
    ("0fa9", "pop gs", {"what": SETS_GS}),
    ("678b00", "mov eax,[eax]", {"is_address32": 1, "read": RAX}),
    ("c5f877", "vzeroupper", {"length": 3, "encoding": 1}),
    ("c4e27849c0", "tilerelease", {"what": TILES}),
    ("c4e2784900", "ldtilecfg [rax]", {"what": TILES, "memory_bytes": 64, "memory_access": 1}),
    ("c4e27b4b0408", "tileloadd tmm0,[rax+rcx]", {"read": RAX | RCX, "is_vsib": 0}),
    ("c4e26992040d78563412", "vgatherdps xmm0,[xmm1+0x12345678],xmm2",
     {"is_vsib": 1, "base": 255, "index": 1, "elements": 4, "memory_bytes": 4, "index_bytes": 4,
      "vvvv": 2, "memory_access": 1}),
    ("62f27d4993440801", "vgatherqps ymm0{k1},[rax+zmm1+4]",
     {"elements": 8, "index_bytes": 8, "displacement": 4, "masks_changed": 2, "mask": 1}),
    ("62f1744958c2", "vaddps zmm0{k1},zmm1,zmm2", {"mask": 1, "masked_lanes": 16}),
    ("62f1745958420b", "vaddps zmm0{k1},zmm1,[rdx+44]{1to16}",
     {"displacement": 44, "memory_bytes": 4, "masked_lanes": 16}),
    ("62f17649584201", "vaddss xmm0{k1},xmm1,[rdx+4]", {"masked_lanes": 1, "memory_bytes": 4}),
    ("62f174495842ff", "vaddps zmm0{k1},zmm1,[rdx-64]", {"displacement": -64}),
    ("62f2764952c2", "vdpbf16ps zmm0{k1},zmm1,zmm2", {"masked_lanes": 16}),
    ("62f5744958c2", "vaddph zmm0{k1},zmm1,zmm2", {"masked_lanes": 32}),
    ("62f6764956c2", "vfmaddcph zmm0{k1},zmm1,zmm2", {"masked_lanes": 16}),
    ("62f174486fc2", "(bad): pp of nothing", {"length": 0}),
    ("62f2774868d2", "vp2intersectd k2,zmm1,zmm2", {"masks_changed": 0b1100}),
    ("c5f892c8", "kmovw k1,eax", {"masks_changed": 2, "read": RAX}),
    ("660fe700", "movntdq [rax],xmm0", {"memory_access": 6, "memory_bytes": 16}),
    ("d51100", "rex2 (APX)", {"length": 0}),
    ("62f4fc0801c3", "add rbx,rax of map 4 (APX)", {"length": 0}),
]  # fmt: skip


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> NativeDecoder:
    """Return the decoder, compiled for this module."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler (cc) to compile the decoder with")
    return NativeDecoder(tmp_path_factory.mktemp("decoder"))


@pytest.mark.parametrize(("code", "text", "wanted"), KNOWN, ids=[text for _, text, _ in KNOWN])
def test_it_says_what_the_manual_says(
    native: NativeDecoder, code: str, text: str, wanted: dict[str, int]
) -> None:
    """Instructions whose description is known."""
    (found,) = native.decode_at(bytes.fromhex(code), np.array([0]), 0x1000)

    assert {name: int(found[name]) for name in wanted} == wanted


def test_it_agrees_on_every_instruction_that_iced_knows(native: NativeDecoder) -> None:
    """Samples of each, with prefixes, registers and addresses as chance has them."""
    samples = samples_of_each_code(8, seed=18)

    assert not _differences(native, samples)


def test_it_agrees_on_any_bytes(native: NativeDecoder) -> None:
    """What is no code may be met between functions."""
    random = np.random.default_rng(18).integers(0, 256, 16 * 20_000, dtype=np.uint8)

    assert not _differences(native, random.tobytes())


def test_code_that_ends_early_is_no_instruction(native: NativeDecoder) -> None:
    """A byte behind the end is never read: the answer would change."""
    whole = [bytes.fromhex(code) for code, _, wanted in KNOWN if wanted.get("length") != 0]
    cut = [(code, n) for code in whole for n in range(len(code))]

    for code, n in cut:
        (found,) = native.decode_at(code[:n], np.array([0]))
        longer = native.decode_at(code[:n] + b"\x90" * 15, np.array([0]))
        assert found["length"] == 0 or found["length"] == longer["length"][0], code[:n].hex()


def test_no_instruction_is_longer_than_15_bytes(native: NativeDecoder) -> None:
    """More prefixes than fit make none."""
    lengths = [
        int(native.decode_at(b"\x66" * n + b"\x90", np.array([0]))["length"][0]) for n in (14, 15)
    ]

    assert lengths == [15, 0]


def test_it_agrees_on_the_c_library(native: NativeDecoder) -> None:
    """Some of the code that every program runs."""
    library = Path("/proc/self/maps").read_text().split("libc.so")[0].split()[-1] + "libc.so.6"
    for code, address in executable_sections(Path(library)):
        part = code[:60_000]
        assert not differences(native.decode_all(part, address), part, address)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["numpy", "scipy", "llvmlite"])
def test_it_agrees_on_whole_libraries(native: NativeDecoder, package: str) -> None:
    """OpenBLAS and the rest of NumPy, SciPy and LLVM: at most 40,000 instructions of each."""
    folder = Path(pytest.importorskip(package).__file__).parents[0]
    libraries = [*folder.rglob("*.so*"), *folder.parent.glob(f"{package}.libs/*.so*")]
    for library in libraries:
        for code, address in executable_sections(library):
            found = native.decode_all(code, address)
            begin = len(found) // 3 if len(found) > 40_000 else 0
            assert not differences(found[begin : begin + 40_000], code, address), library


def _differences(native: NativeDecoder, samples: bytes) -> list[str]:
    return differences(
        native.decode_at(samples, np.arange(0, len(samples), 16)), samples, stride=16
    )


assert DTYPE.itemsize % 8 == 0
