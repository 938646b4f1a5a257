"""Each instruction against a count written by hand from the manuals.

The bytes are those of GNU as 2.40 for the AT&T text beside them, each line assembled on its own:
``as one.s -o one.o && objcopy -O binary -j .text one.o one.bin && xxd -p one.bin``.
"""

import re

import pytest
from iced_x86 import Decoder

from ridgepoint.kernels.tiles import WHOLE, TileConfiguration
from ridgepoint.meters.decode import classify, decode, decode_each, decode_with_tiles

# text, bytes, flop (None: not countable), precision, width in bits (0: scalar), fused
ARITHMETIC = [
    ("addsd %xmm1,%xmm0", "f20f58c1", 1, "fp64", 0, False),
    ("subss (%rax),%xmm0", "f30f5c00", 1, "fp32", 0, False),
    ("mulpd %xmm1,%xmm0", "660f59c1", 2, "fp64", 128, False),
    ("vaddps %ymm1,%ymm2,%ymm3", "c5ec58d9", 8, "fp32", 256, False),
    ("vdivpd (%rdi),%ymm2,%ymm3", "c5ed5e1f", 4, "fp64", 256, False),
    ("sqrtsd %xmm1,%xmm0", "f20f51c1", 1, "fp64", 0, False),
    ("vsqrtps %zmm1,%zmm2", "62f17c4851d1", 16, "fp32", 512, False),
    ("rcpps %xmm1,%xmm0", "0f53c1", 4, "fp32", 128, False),
    ("rsqrtss %xmm1,%xmm0", "f30f52c1", 1, "fp32", 0, False),
    ("vrcp14pd %zmm1,%zmm2", "62f2fd484cd1", 8, "fp64", 512, False),
    ("vrsqrt14sd %xmm1,%xmm2,%xmm3", "62f2ed084fd9", 1, "fp64", 0, False),
    ("vrcp28ps %zmm1,%zmm2", "62f27d48cad1", 16, "fp32", 512, False),
    ("vexp2pd %zmm1,%zmm2", "62f2fd48c8d1", 8, "fp64", 512, False),
    ("haddpd %xmm1,%xmm0", "660f7cc1", 2, "fp64", 128, False),
    ("vhsubps %ymm1,%ymm2,%ymm3", "c5ef7dd9", 8, "fp32", 256, False),
    ("vaddsubps %ymm1,%ymm2,%ymm3", "c5efd0d9", 8, "fp32", 256, False),
    ("vfmadd231pd (%rax),%ymm1,%ymm2", "c4e2f5b810", 8, "fp64", 256, True),
    ("vfnmsub132ss %xmm1,%xmm2,%xmm3", "c4e2699fd9", 2, "fp32", 0, True),
    ("vfmaddsub213ps %xmm1,%xmm2,%xmm3", "c4e269a6d9", 8, "fp32", 128, True),
    ("vfmsubadd231pd %zmm1,%zmm2,%zmm3", "62f2ed48b7d9", 16, "fp64", 512, True),
    ("vfmaddpd %ymm1,%ymm2,%ymm3,%ymm4", "c4e3e569e120", 8, "fp64", 256, True),
    ("vfnmaddsd (%rax),%xmm2,%xmm3,%xmm4", "c4e3e17b2020", 2, "fp64", 0, True),
    ("v4fmaddps (%rax),%zmm4,%zmm1", "62f25f489a08", 128, "fp32", 512, True),
    ("v4fnmaddss (%rax),%xmm4,%xmm1", "62f25f08ab08", 8, "fp32", 0, True),
    ("dpps $0xff,%xmm1,%xmm0", "660f3a40c1ff", 7, "fp32", 128, False),
    ("dpps $0x71,%xmm1,%xmm0", "660f3a40c171", 5, "fp32", 128, False),
    ("dpps $0x0f,%xmm1,%xmm0", "660f3a40c10f", 0, "fp32", 128, False),
    ("vdpps $0xf1,%ymm1,%ymm2,%ymm3", "c4e36d40d9f1", 14, "fp32", 256, False),
    ("vdpps $0x31,%ymm1,%ymm2,%ymm3", "c4e36d40d931", 6, "fp32", 256, False),
    ("dppd $0x31,%xmm1,%xmm0", "660f3a41c131", 3, "fp64", 128, False),
    ("dppd $0xd1,%xmm1,%xmm0", "660f3a41c1d1", 1, "fp64", 128, False),
    ("vdpbf16ps %zmm1,%zmm2,%zmm3", "62f26e4852d9", 64, "bf16", 512, True),
    ("vdpbf16ps %xmm1,%xmm2,%xmm3", "62f26e0852d9", 16, "bf16", 128, True),
    ("vaddph %zmm1,%zmm2,%zmm3", "62f56c4858d9", 32, "fp16", 512, False),
    ("vmulsh %xmm1,%xmm2,%xmm3", "62f56e0859d9", 1, "fp16", 0, False),
    ("vfmadd231ph %ymm1,%ymm2,%ymm3", "62f66d28b8d9", 32, "fp16", 256, True),
    ("vrcpph %xmm1,%xmm2", "62f67d084cd1", 8, "fp16", 128, False),
    ("vfmulcph %zmm1,%zmm2,%zmm3", "62f66e48d6d9", 96, "fp16", 512, False),
    ("vfcmulcsh %xmm1,%xmm2,%xmm3", "62f66f08d7d9", 6, "fp16", 0, False),
    ("vfmaddcph %ymm1,%ymm2,%ymm3", "62f66e2856d9", 64, "fp16", 256, True),
    ("vfcmaddcsh %xmm1,%xmm2,%xmm3", "62f66f0857d9", 8, "fp16", 0, True),
    ("vaddpd %zmm1,%zmm2,%zmm3{%k1}", "62f1ed4958d9", 8, "fp64", 512, False),
    ("vfmadd213ps (%rax){1to16},%zmm2,%zmm3{%k2}{z}", "62f26ddaa818", 32, "fp32", 512, True),
    ("fadd %st(1),%st", "d8c1", 1, "fp80", 0, False),
    ("faddp", "dec1", 1, "fp80", 0, False),
    ("fmull (%rax)", "dc08", 1, "fp80", 0, False),
    ("fidivl (%rax)", "da30", 1, "fp80", 0, False),
    ("fisubrs (%rax)", "de28", 1, "fp80", 0, False),
    ("fsqrt", "d9fa", 1, "fp80", 0, False),
    ("fprem", "d9f8", 1, "fp80", 0, False),
    ("fsin", "d9fe", 1, "fp80", 0, False),
    ("fyl2x", "d9f1", 1, "fp80", 0, False),
    ("fpatan", "d9f3", 1, "fp80", 0, False),
    ("fchs", "d9e0", 0, None, 0, False),
    ("fabs", "d9e1", 0, None, 0, False),
    ("fucomip %st(1),%st", "dfe9", 0, None, 0, False),
    ("frndint", "d9fc", 0, None, 0, False),
    ("fscale", "d9fd", 0, None, 0, False),
    ("fldt (%rax)", "db28", 0, None, 0, False),
    ("fstpl (%rax)", "dd18", 0, None, 0, False),
    ("cmppd $1,%xmm1,%xmm0", "660fc2c101", 0, None, 0, False),
    ("vcmpltps %zmm1,%zmm2,%k1", "62f16c48c2c901", 0, None, 0, False),
    ("vminpd %ymm1,%ymm2,%ymm3", "c5ed5dd9", 0, None, 0, False),
    ("maxss %xmm1,%xmm0", "f30f5fc1", 0, None, 0, False),
    ("ucomisd (%rax),%xmm0", "660f2e00", 0, None, 0, False),
    ("xorps %xmm1,%xmm0", "0f57c1", 0, None, 0, False),
    ("vandpd (%rax),%ymm1,%ymm2", "c5f55410", 0, None, 0, False),
    ("roundsd $1,%xmm1,%xmm0", "660f3a0bc101", 0, None, 0, False),
    ("vrndscaleps $1,%zmm1,%zmm2", "62f37d4808d101", 0, None, 0, False),
    ("vscalefpd %zmm1,%zmm2,%zmm3", "62f2ed482cd9", 0, None, 0, False),
    ("vgetmantps $1,%zmm1,%zmm2", "62f37d4826d101", 0, None, 0, False),
    ("vrangepd $1,%zmm1,%zmm2,%zmm3", "62f3ed4850d901", 0, None, 0, False),
    ("vreduceps $1,%zmm1,%zmm2", "62f37d4856d101", 0, None, 0, False),
    ("vfixupimmpd $1,%zmm1,%zmm2,%zmm3", "62f3ed4854d901", 0, None, 0, False),
    ("cvtsi2sd %eax,%xmm0", "f20f2ac0", 0, None, 0, False),
    ("vcvtpd2ps %ymm1,%xmm2", "c5fd5ad1", 0, None, 0, False),
    ("vshufps $1,%ymm1,%ymm2,%ymm3", "c5ecc6d901", 0, None, 0, False),
    ("paddd %xmm1,%xmm0", "660ffec1", 0, None, 0, False),
    ("vpmaddwd %ymm1,%ymm2,%ymm3", "c5edf5d9", 0, None, 0, False),
    ("imul %rbx,%rax", "480fafc3", 0, None, 0, False),
    ("psubsw %xmm1,%xmm0", "660fe9c1", 0, None, 0, False),
    ("tdpbf16ps %tmm1,%tmm2,%tmm3", "c4e2725cda", None, None, 0, False),
    ("tdpbssd %tmm1,%tmm2,%tmm3", "c4e2735eda", None, None, 0, False),
    ("pfadd %mm1,%mm2", "0f0fd19e", None, None, 0, False),
]

# text, bytes, bytes read (None: no load), bytes written (None: no store), branch, non-temporal
MEMORY = [
    ("movsd (%rax),%xmm0", "f20f1000", 8, None, False, False),
    ("movsd %xmm0,(%rax)", "f20f1100", None, 8, False, False),
    ("vmovups (%rax),%zmm1", "62f17c481008", 64, None, False, False),
    ("vmovupd %ymm1,(%rax)", "c5fd1108", None, 32, False, False),
    ("vmovntpd %ymm1,(%rax)", "c5fd2b08", None, 32, False, True),
    ("movnti %rax,(%rbx)", "480fc303", None, 8, False, True),
    ("maskmovdqu %xmm1,%xmm2", "660ff7d1", None, 16, False, True),
    ("movntdqa (%rax),%xmm1", "660f382a08", 16, None, False, False),
    ("add %rax,(%rbx)", "480103", 8, 8, False, False),
    ("add (%rbx),%al", "0203", 1, None, False, False),
    ("lock cmpxchg %rbx,(%rax)", "f0480fb118", 8, 8, False, False),
    ("xchg %eax,(%rbx)", "8703", 4, 4, False, False),
    ("cmovne (%rax),%rbx", "480f4518", 8, None, False, False),
    ("lea 8(%rax),%rbx", "488d5808", None, None, False, False),
    ("nopw (%rax,%rax,1)", "660f1f0400", None, None, False, False),
    ("prefetcht0 (%rax)", "0f1808", None, None, False, False),
    ("clflush (%rax)", "0fae38", None, None, False, False),
    ("endbr64", "f30f1efa", None, None, False, False),
    ("push %rbp", "55", None, 8, False, False),
    ("pop %rbp", "5d", 8, None, False, False),
    ("push 8(%rax)", "ff7008", 8, 8, False, False),
    ("call *8(%rax)", "ff5008", 8, 8, True, False),
    ("call .", "e8fbffffff", None, 8, True, False),
    ("ret", "c3", 8, None, True, False),
    ("leave", "c9", 8, None, False, False),
    ("jne .", "75fe", None, None, True, False),
    ("jmp *(%rax)", "ff20", 8, None, True, False),
    ("loop .", "e2fe", None, None, True, False),
    ("syscall", "0f05", None, None, False, False),
    ("ud2", "0f0b", None, None, False, False),
    ("rep movsb", "f3a4", 1, 1, False, False),
    ("rep stosq", "f348ab", None, 8, False, False),
    ("repz cmpsb", "f3a6", 2, None, False, False),
    ("fxsave (%rax)", "0fae00", None, 512, False, False),
    ("xsavec (%rax)", "0fc720", None, 576, False, False),
    ("fnstcw (%rax)", "d938", None, 2, False, False),
    ("movhpd (%rax),%xmm1", "660f1608", 8, None, False, False),
    ("vbroadcastsd (%rax),%ymm1", "c4e27d1908", 8, None, False, False),
    ("vbroadcastf128 (%rax),%ymm1", "c4e27d1a08", 16, None, False, False),
    ("vextractf128 $1,%ymm1,(%rax)", "c4e37d190801", None, 16, False, False),
    ("vmaskmovpd (%rax),%ymm1,%ymm2", "c4e2752d10", 32, None, False, False),
    ("vaddpd (%rax){1to8},%zmm1,%zmm2", "62f1f5585810", 8, None, False, False),
    ("vgatherdps %ymm1,(%rax,%ymm2,4),%ymm3", "c4e275921c90", 32, None, False, False),
    ("vgatherqps %xmm1,(%rax,%xmm2,4),%xmm3", "c4e271931c90", 8, None, False, False),
    ("vgatherqps %xmm1,(%rax,%ymm2,4),%xmm3", "c4e275931c90", 16, None, False, False),
    ("vgatherdpd %ymm1,(%rax,%xmm2,8),%ymm3", "c4e2f5921cd0", 32, None, False, False),
    ("vpgatherqq (%rax,%zmm2,8),%zmm3{%k1}", "62f2fd49911cd0", 64, None, False, False),
    ("vgatherdpd (%rax,%ymm2,8),%zmm3{%k1}", "62f2fd49921cd0", 64, None, False, False),
    ("vscatterdps %zmm3,(%rax,%zmm2,4){%k1}", "62f27d49a21c90", None, 64, False, False),
    ("vgatherpf0dps (%rax,%zmm2,4){%k1}", "62f27d49c60c90", None, None, False, False),
    ("kmovw %eax,%k1", "c5f892c8", None, None, False, False),
    ("kmovq (%rax),%k1", "c4e1f89008", 8, None, False, False),
    ("mov %fs:0x28,%rax", "64488b042528000000", 8, None, False, False),
    ("clzero", "0f01fc", None, 64, False, True),
]


@pytest.mark.parametrize(
    ("text", "code", "flop", "precision", "width_bits", "fma"),
    ARITHMETIC,
    ids=[row[0] for row in ARITHMETIC],
)
def test_flop_are_those_of_the_manual(*, text, code, flop, precision, width_bits, fma):
    """Flop, precision, width and fusion are as written by hand."""
    operation = decode(bytes.fromhex(code))

    assert operation is not None
    assert operation.flop == flop
    assert operation.precision == precision
    assert operation.width_bits == width_bits
    assert operation.fma is fma
    assert operation.length == len(code) // 2


# Sums have 6 rows of 40 byte, factors from the left 6 of 12, from the right 3 of 40.
SMALL = TileConfiguration(rows=(0, 3, 6, 6, 0, 0, 0, 0), row_bytes=(0, 40, 12, 40, 0, 0, 0, 0))
ODD = TileConfiguration(rows=(0, 3, 6, 5, 0, 0, 0, 0), row_bytes=(0, 40, 12, 40, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("text", "code", "tiles", "flop", "precision"),
    [
        ("tdpbf16ps %tmm1,%tmm2,%tmm3", "c4e2725cda", WHOLE, 16 * 16 * 32 * 2, "bf16"),
        ("tdpfp16ps %tmm1,%tmm2,%tmm3", "c4e2735cda", WHOLE, 16 * 16 * 32 * 2, "fp16"),
        # 6 x 10 sums of 3 pairs: a multiplication and an addition each
        ("tdpbf16ps %tmm1,%tmm2,%tmm3", "c4e2725cda", SMALL, 6 * 10 * (3 * 2) * 2, "bf16"),
        ("tdpbf16ps %tmm1,%tmm2,%tmm3", "c4e2725cda", ODD, None, None),
        ("tdpbssd %tmm1,%tmm2,%tmm3", "c4e2735eda", WHOLE, 0, None),
        ("tdpbssd %tmm1,%tmm2,%tmm3", "c4e2735eda", ODD, None, None),
        # GNU as 2.40 does not know it: the bytes are those of the manual.
        ("tcmmrlfp16ps %tmm1,%tmm2,%tmm3", "c4e2706cda", WHOLE, None, None),
        ("tdpbf16ps %tmm1,%tmm2,%tmm3", "c4e2725cda", None, None, None),
    ],
)
def test_products_of_tiles_are_weighed_by_their_configuration(text, code, tiles, flop, precision):
    """Rows, sums in a row and factors of each sum; unknown where tiles do not match, or are not."""
    instruction = Decoder(64, bytes.fromhex(code)).decode()
    operation = classify(instruction, tiles)

    assert operation.mnemonic.lower() == text.split()[0]
    assert (operation.flop, operation.precision) == (flop, precision)


@pytest.mark.parametrize(
    ("text", "arithmetic"),
    [
        ("sqrtsd %xmm1,%xmm0", "sqrt"),
        ("vsqrtps %zmm1,%zmm2", "sqrt"),
        ("rcpps %xmm1,%xmm0", "other"),
        ("vhsubps %ymm1,%ymm2,%ymm3", "add"),
        ("vaddsubps %ymm1,%ymm2,%ymm3", "add"),
        ("vfmaddsub213ps %xmm1,%xmm2,%xmm3", "fma"),
        ("vfnmaddsd (%rax),%xmm2,%xmm3,%xmm4", "fma"),
        ("v4fnmaddss (%rax),%xmm4,%xmm1", "other"),
        ("dpps $0xff,%xmm1,%xmm0", "dot"),
        ("vdpbf16ps %zmm1,%zmm2,%zmm3", "dot"),
        ("vmulsh %xmm1,%xmm2,%xmm3", "mul"),
        ("vfmaddcph %ymm1,%ymm2,%ymm3", "other"),
        ("faddp", "add"),
        ("fmull (%rax)", "mul"),
        ("fidivl (%rax)", "div"),
        ("fisubrs (%rax)", "add"),
        ("fsqrt", "sqrt"),
        ("fsin", "other"),
    ],
)
def test_what_is_done_to_the_lanes_is_told(text, arithmetic):
    """Subtractions are additions; approximations and complex products are neither."""
    (code,) = [row[1] for row in ARITHMETIC if row[0] == text]

    assert decode(bytes.fromhex(code)).arithmetic == arithmetic


@pytest.mark.parametrize(
    ("text", "code", "read", "written", "branch", "non_temporal"),
    MEMORY,
    ids=[row[0] for row in MEMORY],
)
def test_memory_accesses_are_those_of_the_manual(
    *, text, code, read, written, branch, non_temporal
):
    """Loads, stores, their bytes and branches are as written by hand."""
    operation = decode(bytes.fromhex(code))

    assert operation is not None
    assert (operation.is_load, operation.load_bytes) == (read is not None, read or 0)
    assert (operation.is_store, operation.store_bytes) == (written is not None, written or 0)
    assert operation.is_branch is branch
    assert operation.non_temporal is non_temporal


@pytest.mark.parametrize("row", ARITHMETIC + MEMORY, ids=[row[0] for row in ARITHMETIC + MEMORY])
def test_avx512_is_told_from_the_rest(row):
    """An instruction needs AVX-512 if it is written with zmm, a mask, or an EVEX prefix."""
    text, code = row[:2]
    opmask = re.search(r"%k[0-7]", text) is not None

    assert decode(bytes.fromhex(code)).needs_avx512 is (code.startswith("62") or opmask)


def test_a_mask_is_noticed_and_its_lanes_count():
    """A masked addition counts every lane and says that a mask was there."""
    masked = decode(bytes.fromhex("62f1ed4958d9"))  # vaddpd %zmm1,%zmm2,%zmm3{%k1}
    plain = decode(bytes.fromhex("62f1ed4858d9"))  # vaddpd %zmm1,%zmm2,%zmm3

    assert (masked.flop, masked.masked) == (8, True)
    assert (plain.flop, plain.masked) == (8, False)


def test_an_immediate_seen_once_is_not_taken_for_another():
    """Two dot products that differ in their immediate alone keep their own counts."""
    codes = ["660f3a40c1ff", "660f3a40c131", "660f3a40c1ff", "660f3a40c111"]

    assert [decode(bytes.fromhex(code)).flop for code in codes] == [7, 3, 7, 1]


@pytest.mark.parametrize("order", [(0, 3, 6, 9), (9, 6, 3, 0)])
def test_a_register_is_not_taken_for_memory(order):
    """One form and length of instruction may have a register or memory: each keeps its own."""
    # or %rcx,(%rbx); or %rcx,%rbx; xor (%rbx),%rcx; xor %rbx,%rcx
    code = bytes.fromhex("48090b4809cb48330b4833cb")

    operations = dict(zip(order, decode_each(code, order), strict=True))
    assert [operations[at].load_bytes for at in (0, 3, 6, 9)] == [8, 0, 8, 0]
    assert [operations[at].store_bytes for at in (0, 3, 6, 9)] == [8, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "code", "repeats"),
    [
        ("rep movsb", "f3a4", True),
        ("rep stosq", "f348ab", True),
        ("repz cmpsb", "f3a6", True),
        ("repnz scasb", "f2ae", True),
        ("cs movsb", "2ea4", False),
        ("stosq", "48ab", False),
        ("movsd (%rax),%xmm0", "f20f1000", False),
        ("popcnt %rax,%rbx", "f3480fb8d8", False),
        ("repz ret", "f3c3", False),
        ("pause", "f390", False),
    ],
)
def test_instructions_that_repeat_themselves_are_told(*, text, code, repeats):
    """String instructions under REP; the same prefix elsewhere is part of another instruction."""
    assert decode(bytes.fromhex(code)).repeats is repeats


@pytest.mark.parametrize("code", [b"", b"\x06", bytes.fromhex("62f1ed48"), b"\xc5\xed"])
def test_what_is_no_instruction_is_none(code):
    """Invalid and cut-off bytes give None, never an instruction without flop."""
    assert decode(code) is None


def test_many_offsets_are_decoded_in_their_order():
    """Offsets may come in any order; one outside the code gives None."""
    code = bytes.fromhex("f20f58c1" + "c3" + "c5ec58d9")  # addsd; ret; vaddps

    decoded = list(decode_each(code, (5, 0, 4, 9, -1)))
    assert [operation and operation.mnemonic for operation in decoded] == [
        "VADDPS",
        "ADDSD",
        "RET",
        None,
        None,
    ]


TILES = TileConfiguration(rows=(3, 5, 7, 1, 0, 0, 0, 0), row_bytes=(16, 24, 32, 64, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("code", "load_bytes", "store_bytes"),
    [
        ("c4e27b4b1401", 224, 0),  # tileloadd (%rcx,%rax),%tmm2
        ("c4e2794b0c01", 120, 0),  # tileloaddt1 (%rcx,%rax),%tmm1
        ("c4e27a4b1c01", 0, 64),  # tilestored %tmm3,(%rcx,%rax)
    ],
)
def test_tiles_are_moved_whole_where_their_size_is_known(code, load_bytes, store_bytes):
    """Rows times bytes of a row; where it is not, nothing is known."""
    known = decode_with_tiles(bytes.fromhex(code), TILES)

    assert (known.load_bytes, known.store_bytes, known.flop) == (load_bytes, store_bytes, 0)
    assert (known.is_load, known.is_store) == (load_bytes > 0, store_bytes > 0)
    assert decode(bytes.fromhex(code)).flop is None
