"""What the decoder says of registers, flags and memory, against what this CPU does."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from iced_x86 import (
    Decoder,
    FlowControl,
    Instruction,
    Mnemonic,
    OpKind,
    Register,
    RegisterExt,
    RflagsBits,
)
from instructions_by_iced import NATIVE, samples_of_each_code

from ridgepoint.meters.native.instruction_table import main as write_table

pytestmark = pytest.mark.hardware

PROGRAM = Path(__file__).parents[1] / "programs" / "execute_samples.c"
_NAMES = {value: name for name, value in vars(Mnemonic).items() if isinstance(value, int)}
_FLAGS = (
    RflagsBits.CF,
    RflagsBits.PF,
    RflagsBits.AF,
    RflagsBits.ZF,
    RflagsBits.SF,
    RflagsBits.OF,
    RflagsBits.DF,
)
# What another execution need not repeat, what changes more than registers and memory of ours, and
# what waits.
_NOT_EXECUTED = re.compile(
    r"RDRAND|RDSEED|RDTSCP?|RDPID|RDPMC|RDPRU|RDPKRU|CPUID|XGETBV|(RD|WR)(FS|GS)BASE|WRPKRU|XSETBV"
    r"|S[GIL]DT|STR|SMSW|LAR|LSL|VER[RW]|L[FGS]S|POPFQ?|XRSTOR\w*|XSAVE\w*|F(LDENV|RSTOR|NSTENV)"
    r"|FN?SAVE|FX(SAVE|RSTOR)(64)?|V?LDMXCSR|(LD|ST)TILECFG|TILE\w*|TDP\w*|TCMM\w*|STUI|CLUI|TESTUI"
    r"|SENDUIPI|UMWAIT|TPAUSE|UMONITOR|MONITORX?|MWAITX?|PCONFIG|ENCLU|GETSEC|VMFUNC|XBEGIN|XEND"
    r"|WRU?SS[DQ]|RDSSP[DQ]|INCSSP[DQ]|SAVEPREVSSP|RSTORSSP|SETSSBSY|ENQCMDS?|LEAVE|ENTER|PUSHFQ?"
)


def _is_executable(instruction: Instruction) -> bool:
    """Whether it goes on behind itself, and twice the same way."""
    name = _NAMES[instruction.mnemonic]
    registers = [
        instruction.op_register(operand)
        for operand in range(instruction.op_count)
        if instruction.op_kind(operand) == OpKind.REGISTER
    ]
    in_memory = len(registers) < instruction.op_count
    return not (
        instruction.is_invalid
        or instruction.flow_control != FlowControl.NEXT
        or _NOT_EXECUTED.fullmatch(name)
        or instruction.segment_prefix in (Register.FS, Register.GS)
        or any(RegisterExt.is_segment_register(register) for register in registers)
        # Bits of memory are counted from the operand on, however far away.
        or (in_memory and registers and re.fullmatch("BT[CRS]?", name))
        # The address is made of what RSP is afterwards.
        or (name == "POP" and instruction.memory_base == Register.RSP)
    )


def _undefined(instruction: Instruction) -> int:
    bits = instruction.rflags_undefined
    return sum(1 << n for n, flag in enumerate(_FLAGS) if bits & flag)


def _records(per_code: int, seed: int) -> bytes:
    samples = samples_of_each_code(per_code, seed)
    records = []
    for at in range(0, len(samples), 16):
        instruction = Decoder(64, samples[at : at + 15]).decode()
        if _is_executable(instruction):
            code = samples[at : at + instruction.len].ljust(15, b"\x90")
            records.append(code + bytes((_undefined(instruction),)))
    return b"".join(records)


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that executes samples and judges the decoder."""
    if "avx512bw" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this CPU has no AVX-512, whose registers are compared too")
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("executed")
    write_table([str(folder / "instruction_table.h")])
    program = folder / "execute_samples"
    sources = [PROGRAM, *sorted(NATIVE.glob("instruction*.c"))]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{NATIVE}"]
    subprocess.run([compiler, *flags, *map(str, sources), "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize("seed", [1, 2])
def test_the_cpu_does_what_is_said(executor: Path, seed: int) -> None:
    """Nothing else changes, and nothing that is said to be unread changes what is overwritten."""
    records = _records(8, seed)
    run = subprocess.run([executor], input=records, stdout=subprocess.PIPE, timeout=120)
    *complaints, last = run.stdout.decode().splitlines()
    n_executed = int(last.split()[0])

    assert not complaints
    assert run.returncode == 0
    assert n_executed > 10_000
