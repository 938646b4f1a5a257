"""Each kind of instruction against basic operations written by hand from the paper's Table 5.

The bytes are those of GNU as 2.40 for the AT&T text beside them, each line assembled on its own:
``as one.s -o one.o && objcopy -O binary -j .text one.o one.bin && xxd -p one.bin``.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.decode import decode, decode_each
from ridgepoint.meters.tally import Executed, distinct, tally

# text, bytes, basic operations by class
INSTRUCTIONS = [
    ("add %rbx,%rax", "4801d8", {"arithmetic": 1}),
    ("add (%rdi),%rax", "480307", {"arithmetic": 1}),
    ("add (%rdi,%rcx,8),%rax", "480304cf", {"arithmetic": 1, "addressing": 1}),
    ("add %rax,(%rdi,%rcx,8)", "480104cf", {"arithmetic": 1, "addressing": 1}),
    ("incl 4(%rbx,%rdx,4)", "ff449304", {"arithmetic": 1, "addressing": 1}),
    ("decb (%rbx)", "fe0b", {"arithmetic": 1}),
    ("neg %eax", "f7d8", {"arithmetic": 1}),
    ("adc $0,%rdx", "4883d200", {"arithmetic": 1}),
    ("sbb %eax,%eax", "19c0", {"arithmetic": 1}),
    ("imul %rbx,%rax", "480fafc3", {"arithmetic": 1}),
    ("imul %rax,%rax", "480fafc0", {"arithmetic": 1}),
    ("imul $24,(%rdi),%rax", "486b0718", {"arithmetic": 1}),
    ("mul %rcx", "48f7e1", {"arithmetic": 1}),
    ("mulx %rax,%rbx,%rcx", "c4e2e3f6c8", {"arithmetic": 1}),
    ("idivl (%rdi)", "f73f", {"arithmetic": 1}),
    ("div %rcx", "48f7f1", {"arithmetic": 1}),
    ("lock xadd %eax,(%rdi)", "f00fc107", {"arithmetic": 1}),
    ("crc32q %rax,%rbx", "f2480f38f1d8", {"arithmetic": 1}),
    ("and $0xff,%eax", "25ff000000", {"logic": 1}),
    ("or %rbx,%rax", "4809d8", {"logic": 1}),
    ("xor %rbx,%rax", "4831d8", {"logic": 1}),
    ("not %rax", "48f7d0", {"logic": 1}),
    ("shl $3,%rax", "48c1e003", {"logic": 1}),
    ("sar %cl,%eax", "d3f8", {"logic": 1}),
    ("shrx %rax,%rbx,%rcx", "c4e2fbf7cb", {"logic": 1}),
    ("ror $7,%eax", "c1c807", {"logic": 1}),
    ("rorx $7,%eax,%ebx", "c4e37bf0d807", {"logic": 1}),
    ("shld $3,%rax,%rbx", "480fa4c303", {"logic": 1}),
    ("popcnt %rax,%rbx", "f3480fb8d8", {"logic": 1}),
    ("tzcnt (%rdi),%rbx", "f3480fbc1f", {"logic": 1}),
    ("bsr %rax,%rbx", "480fbdd8", {"logic": 1}),
    ("bswap %rax", "480fc8", {"logic": 1}),
    ("bts $3,%rax", "480fbae803", {"logic": 1}),
    ("pext %rax,%rbx,%rcx", "c4e2e2f5c8", {"logic": 1}),
    ("andn %rax,%rbx,%rcx", "c4e2e0f2c8", {"logic": 2}),
    ("bextr %rax,%rbx,%rcx", "c4e2f8f7cb", {"logic": 2}),
    ("blsr %rax,%rbx", "c4e2e0f3c8", {"logic": 1, "arithmetic": 1}),
    ("cmp %rbx,%rax", "4839d8", {"compare": 1}),
    ("cmp %rax,%rax", "4839c0", {"compare": 1}),
    ("cmpb $10,(%rdi,%rcx)", "803c0f0a", {"compare": 1, "addressing": 1}),
    ("cmp %rax,%rsp", "4839c4", {"compare": 1}),
    ("test %rax,%rax", "4885c0", {"compare": 1}),
    ("and %eax,%eax", "21c0", {"compare": 1}),
    ("or %rbx,%rbx", "4809db", {"compare": 1}),
    ("test $4,%al", "a804", {"logic": 1, "compare": 1}),
    ("test %rbx,%rax", "4885d8", {"logic": 1, "compare": 1}),
    ("bt $3,%rax", "480fbae003", {"logic": 1, "compare": 1}),
    ("lock cmpxchg %rbx,(%rdi)", "f0480fb11f", {"compare": 1}),
    ("cmpxchg16b (%rdi)", "480fc70f", {"compare": 2}),
    ("repne scasb", "f2ae", {"compare": 1}),
    ("repe cmpsb", "f3a6", {"compare": 1}),
    ("loop .", "e2fe", {"arithmetic": 1, "compare": 1}),
    ("jrcxz .", "e3fe", {"compare": 1}),
    ("mov (%rdi,%rcx,8),%rax", "488b04cf", {"addressing": 1}),
    ("mov 16(%rdi,%rcx,8),%rax", "488b44cf10", {"addressing": 1}),
    ("mov 0x1000(,%rcx,8),%rax", "488b04cd00100000", {"addressing": 1}),
    ("movzbl (%rdi,%rcx),%eax", "0fb6040f", {"addressing": 1}),
    ("mov %rax,(%rdi,%rcx,8)", "488904cf", {"addressing": 1}),
    ("movups (%rdi,%rcx,8),%xmm0", "0f1004cf", {"addressing": 1}),
    ("cmovl (%rdi,%rcx,4),%eax", "0f4c048f", {"addressing": 1}),
    ("prefetcht0 (%rdi,%rcx,8)", "0f180ccf", {"addressing": 1}),
    ("jmp *0x1000(,%rax,8)", "ff24c500100000", {"addressing": 1}),
    ("xlatb", "d7", {"addressing": 1}),
    ("vpgatherdd %ymm1,(%rdi,%ymm2,4),%ymm3", "c4e275901c97", {"addressing": 8}),
    ("vgatherqpd %xmm1,(%rdi,%xmm2,8),%xmm3", "c4e2f1931cd7", {"addressing": 2}),
    ("lea (%rdi,%rcx,8),%rax", "488d04cf", {"addressing": 1}),
    ("lea 8(%rdi,%rcx,8),%rax", "488d44cf08", {"addressing": 1}),
    ("lea 0(,%rcx,8),%rax", "488d04cd00000000", {"addressing": 1}),
    ("lea 8(%rdi),%rax", "488d4708", {"arithmetic": 1}),
    ("lea -1(%rax),%eax", "8d40ff", {"arithmetic": 1}),
    ("lea (%rdi),%rax", "488d07", {}),
    ("lea 8(%rsp),%rax", "488d442408", {}),
    ("lea 0x100(%rip),%rax", "488d0500010000", {}),
    ("lea -8(%rbp),%rsp", "488d65f8", {}),
    ("add $688,%rsp", "4881c4b0020000", {}),
    ("sub %rax,%rsp", "4829c4", {}),
    ("and $-32,%rsp", "4883e4e0", {}),
    ("xor %eax,%eax", "31c0", {}),
    ("sub %rax,%rax", "4829c0", {}),
    ("mov %rbx,%rax", "4889d8", {}),
    ("mov $5,%eax", "b805000000", {}),
    ("mov 8(%rdi),%rax", "488b4708", {}),
    ("mov %rax,8(%rsp)", "4889442408", {}),
    ("movzbl %al,%eax", "0fb6c0", {}),
    ("movslq %eax,%rbx", "4863d8", {}),
    ("cltq", "4898", {}),
    ("cqto", "4899", {}),
    ("cmove %rbx,%rax", "480f44c3", {}),
    ("setb %al", "0f92c0", {}),
    ("xchg %rax,%rbx", "4893", {}),
    ("je .", "74fe", {}),
    ("jmp .", "ebfe", {}),
    ("call .", "e8fbffffff", {}),
    ("call *%rax", "ffd0", {}),
    ("ret", "c3", {}),
    ("push %rbx", "53", {}),
    ("pop %rbx", "5b", {}),
    ("leave", "c9", {}),
    ("nop", "90", {}),
    ("nopw 0(%rax,%rax,1)", "660f1f0400", {}),
    ("endbr64", "f30f1efa", {}),
    ("syscall", "0f05", {}),
    ("cpuid", "0fa2", {}),
    ("rdtsc", "0f31", {}),
    ("pause", "f390", {}),
    ("mfence", "0faef0", {}),
    ("cld", "fc", {}),
    ("rep movsb", "f3a4", {}),
    ("rep stosq", "f348ab", {}),
    ("lodsb", "ac", {}),
    ("addsd %xmm1,%xmm0", "f20f58c1", {"fp_arithmetic": 1}),
    ("addsd (%rdi,%rcx,8),%xmm0", "f20f5804cf", {"fp_arithmetic": 1, "addressing": 1}),
    ("mulps %xmm1,%xmm0", "0f59c1", {"fp_arithmetic": 4}),
    ("vdivpd (%rdi),%ymm2,%ymm3", "c5ed5e1f", {"fp_arithmetic": 4}),
    ("sqrtsd %xmm1,%xmm0", "f20f51c1", {"fp_arithmetic": 1}),
    ("vfmadd231pd (%rax),%ymm1,%ymm2", "c4e2f5b810", {"fp_arithmetic": 8}),
    ("vfmadd231sd %xmm1,%xmm2,%xmm3", "c4e2e9b9d9", {"fp_arithmetic": 2}),
    ("subps %xmm0,%xmm0", "0f5cc0", {"fp_arithmetic": 4}),
    ("fadd %st(1),%st", "d8c1", {"fp_arithmetic": 1}),
    ("fchs", "d9e0", {"fp_arithmetic": 1}),
    ("fabs", "d9e1", {"fp_arithmetic": 1}),
    ("fscale", "d9fd", {"fp_arithmetic": 1}),
    ("ucomisd (%rax),%xmm0", "660f2e00", {"fp_compare": 1}),
    ("comiss %xmm1,%xmm0", "0f2fc1", {"fp_compare": 1}),
    ("cmppd $1,%xmm1,%xmm0", "660fc2c101", {"fp_compare": 2}),
    ("cmpltss %xmm1,%xmm0", "f30fc2c101", {"fp_compare": 1}),
    ("vcmpltps %ymm1,%ymm2,%ymm3", "c5ecc2d901", {"fp_compare": 8}),
    ("vcmpltps %zmm1,%zmm2,%k1", "62f16c48c2c901", {"fp_compare": 16}),
    ("maxsd %xmm1,%xmm0", "f20f5fc1", {"fp_compare": 1}),
    ("vminps %ymm1,%ymm2,%ymm3", "c5ec5dd9", {"fp_compare": 8}),
    ("fcomip %st(1),%st", "dff1", {"fp_compare": 1}),
    ("fucompp", "dae9", {"fp_compare": 1}),
    ("ftst", "d9e4", {"fp_compare": 1}),
    ("cvtsi2sd %rax,%xmm0", "f2480f2ac0", {}),
    ("cvttsd2si %xmm0,%rax", "f2480f2cc0", {}),
    ("roundsd $1,%xmm1,%xmm0", "660f3a0bc101", {}),
    ("movsd (%rdi),%xmm0", "f20f1007", {}),
    ("unpcklpd %xmm1,%xmm0", "660f14c1", {}),
    ("shufps $1,%xmm1,%xmm0", "0fc6c101", {}),
    ("fldl (%rax)", "dd00", {}),
    ("paddq %xmm1,%xmm0", "660fd4c1", {"arithmetic": 2}),
    ("paddb %xmm1,%xmm0", "660ffcc1", {"arithmetic": 2}),
    ("paddd %mm1,%mm0", "0ffec1", {"arithmetic": 1}),
    ("vpaddd (%rdi,%rcx,4),%ymm1,%ymm2", "c5f5fe148f", {"arithmetic": 4, "addressing": 1}),
    ("psubusb %xmm1,%xmm0", "660fd8c1", {"arithmetic": 2}),
    ("pmuludq %xmm1,%xmm0", "660ff4c1", {"arithmetic": 2}),
    ("pmulld %xmm1,%xmm0", "660f3840c1", {"arithmetic": 2}),
    ("vpmullq %zmm1,%zmm2,%zmm3", "62f2ed4840d9", {"arithmetic": 8}),
    ("pabsd %xmm1,%xmm0", "660f381ec1", {"arithmetic": 2}),
    ("phaddd %xmm1,%xmm0", "660f3802c1", {"arithmetic": 2}),
    ("pavgb %xmm1,%xmm0", "660fe0c1", {"arithmetic": 2}),
    ("pmaddwd %xmm1,%xmm0", "660ff5c1", {"arithmetic": 4}),
    ("psadbw %xmm1,%xmm0", "660ff6c1", {"arithmetic": 4}),
    ("{vex} vpdpbusd %ymm1,%ymm2,%ymm3", "c4e26d50d9", {"arithmetic": 8}),
    ("pcmpeqb %xmm1,%xmm0", "660f74c1", {"compare": 2}),
    ("vpcmpgtq %ymm1,%ymm2,%ymm3", "c4e26d37d9", {"compare": 4}),
    ("vpcmpltud %zmm1,%zmm2,%k1", "62f36d481ec901", {"compare": 8}),
    ("pminub (%rdi),%xmm0", "660fda07", {"compare": 2}),
    ("vpmaxsd %ymm1,%ymm2,%ymm3", "c4e26d3dd9", {"compare": 4}),
    ("pcmpistri $0x1a,%xmm1,%xmm0", "660f3a63c11a", {"compare": 2}),
    ("ptest %xmm0,%xmm0", "660f3817c0", {"compare": 1}),
    ("ptest %xmm1,%xmm0", "660f3817c1", {"logic": 2, "compare": 2}),
    ("vptestmd %zmm1,%zmm2,%k1", "62f26d4827c9", {"logic": 8, "compare": 8}),
    ("pand %xmm1,%xmm0", "660fdbc1", {"logic": 2}),
    ("vporq %zmm1,%zmm2,%zmm3", "62f1ed48ebd9", {"logic": 8}),
    ("pxor %xmm1,%xmm0", "660fefc1", {"logic": 2}),
    ("pandn %xmm1,%xmm0", "660fdfc1", {"logic": 4}),
    ("andpd %xmm1,%xmm0", "660f54c1", {"logic": 2}),
    ("xorps %xmm1,%xmm0", "0f57c1", {"logic": 2}),
    ("psllq $3,%xmm0", "660f73f003", {"logic": 2}),
    ("psrld %xmm1,%xmm0", "660fd2c1", {"logic": 2}),
    ("vpsravd %ymm1,%ymm2,%ymm3", "c4e26d46d9", {"logic": 4}),
    ("vpternlogd $0x96,%zmm1,%zmm2,%zmm3", "62f36d4825d996", {"logic": 8}),
    ("aesenc %xmm1,%xmm0", "660f38dcc1", {"logic": 2}),
    ("kandw %k1,%k2,%k3", "c5ec41d9", {"logic": 1}),
    ("kortestw %k1,%k2", "c5f898d1", {"logic": 1, "compare": 1}),
    ("kaddb %k1,%k2,%k3", "c5ed4ad9", {"arithmetic": 1}),
    ("pxor %xmm0,%xmm0", "660fefc0", {}),
    ("vpxor %xmm1,%xmm1,%xmm0", "c5f1efc1", {}),
    ("xorps %xmm0,%xmm0", "0f57c0", {}),
    ("pcmpeqd %xmm1,%xmm1", "660f76c9", {}),
    ("psubd %xmm0,%xmm0", "660ffac0", {}),
    ("kxnorw %k1,%k1,%k2", "c5f446d1", {}),
    ("psrldq $8,%xmm0", "660f73d808", {}),
    ("pshufb %xmm1,%xmm0", "660f3800c1", {}),
    ("punpcklbw %xmm1,%xmm0", "660f60c1", {}),
    ("packuswb %xmm1,%xmm0", "660f67c1", {}),
    ("pmovmskb %xmm0,%eax", "660fd7c0", {}),
    ("pblendvb %xmm0,%xmm1,%xmm2", "660f3810d1", {}),
    ("vpbroadcastb %xmm0,%ymm1", "c4e27d78c8", {}),
    ("pinsrw $1,%eax,%xmm0", "660fc4c001", {}),
    ("movd %eax,%xmm0", "660f6ec0", {}),
    ("vzeroupper", "c5f877", {}),
    ("kmovw %k1,%eax", "c5f893c1", {}),
]


@pytest.mark.parametrize(
    ("code", "expected"), [row[1:] for row in INSTRUCTIONS], ids=[row[0] for row in INSTRUCTIONS]
)
def test_an_instruction_does_the_basic_operations_of_its_kind(code, expected):
    """Table 5 for what it computes and compares; N-dimensional addressing of one dimension."""
    assert decode(bytes.fromhex(code)).basic_operations == BasicOperations(**expected)


def test_what_differs_in_registers_alone_is_told_apart_among_many():
    """The decoder remembers what it has seen: neither order nor repetition may matter."""
    codes = [bytes.fromhex(row[1]) for row in INSTRUCTIONS]
    expected = [BasicOperations(**row[2]) for row in INSTRUCTIONS]
    text = b"".join(code.ljust(16, b"\x90") for code in (*codes, *reversed(codes)))
    decoded = decode_each(text, range(0, len(text), 16))

    assert [one.basic_operations for one in decoded] == [*expected, *reversed(expected)]


def counted(codes, executions, groups, n_groups):
    """Return the counts of each group of instructions."""
    operations, places = distinct(decode(code) for code in codes)
    times = np.array(executions, dtype=np.int64)
    executed = Executed(operations=operations, operation=places, executions=times, iterations=times)
    return tally(executed, groups=np.array(groups, dtype=np.int64), n_groups=n_groups)


PAPERS_LOOP = {
    "movq $0, (%rax)": ("48c70000000000", 100),
    "addq $8, %rax": ("4883c008", 100),
    "cmpq %rdx, %rax": ("4839d0", 100),
    "jne .L2": ("75f0", 100),
    "movl 664(%rsp), %eax": ("8b842498020000", 1),
    "addq $688, %rsp": ("4881c4b0020000", 1),
}


def test_the_papers_loop_has_201_basic_operations_by_eq_3_and_200_refined():
    """Section 4.2.1: of its 402 instructions 100 branch, 100 store, 1 loads.

    The paper says that the loop has 300, as its source; its own listing has 100 additions, 100
    compares, and one addition after the loop that gives the stack's frame back, which no line of
    the source asks for.
    """
    codes = [bytes.fromhex(code) for code, _ in PAPERS_LOOP.values()]
    (counts,) = counted(codes, [times for _, times in PAPERS_LOOP.values()], [0] * 6, 1)

    assert counts.eq3_bop == 402 - 100 - 1 - 100
    assert counts.basic_operations == BasicOperations(arithmetic=100, compare=100)


@given(
    st.lists(
        st.tuples(st.integers(0, len(INSTRUCTIONS) - 1), st.integers(0, 2**40), st.integers(0, 3)),
        max_size=30,
    )
)
def test_how_instructions_are_grouped_changes_nothing_of_the_whole(rows):
    """Summed one by one in Python's integers; no class is ever negative."""
    which, executions, groups = zip(*rows, strict=True) if rows else ((), (), ())
    codes = [bytes.fromhex(INSTRUCTIONS[index][1]) for index in which]
    parts = [one.basic_operations for one in counted(codes, executions, groups, 4)]
    expected = {}
    for index, times, _ in rows:
        for name, each in INSTRUCTIONS[index][2].items():
            expected[name] = expected.get(name, 0) + each * times

    assert sum(parts, BasicOperations()) == BasicOperations(**expected)
    assert min(part.total for part in parts) >= 0


def test_a_string_comparison_compares_once_per_iteration():
    """Two REPNE SCASB that pass 300 bytes together compare 300 times."""
    operations = [decode(bytes.fromhex("f2ae"))]
    executed = Executed(
        operations=operations,
        operation=np.array([0]),
        executions=np.array([2]),
        iterations=np.array([300]),
    )
    (counts,) = tally(executed, groups=np.array([0]), n_groups=1)

    assert counts.basic_operations == BasicOperations(compare=300)


def test_what_cannot_be_decoded_does_no_basic_operation_that_is_known():
    """It is among the undecoded instructions instead."""
    executed = Executed(
        operations=[None],
        operation=np.array([0]),
        executions=np.array([7]),
        iterations=np.array([7]),
    )
    (counts,) = tally(executed, groups=np.array([0]), n_groups=1)

    assert (counts.basic_operations, counts.undecoded) == (BasicOperations(), 7)
