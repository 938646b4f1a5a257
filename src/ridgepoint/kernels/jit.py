"""LLVM IR to machine code: in memory, for exactly this CPU, or for others to be read.

The only import of llvmlite.
"""

from __future__ import annotations

import ctypes
import io
from dataclasses import dataclass

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ridgepoint.core.errors import CannotMeasure

try:
    import llvmlite.binding as llvm
except OSError as error:  # its library cannot be loaded: no memory for it, or another system's
    raise CannotMeasure(
        "cannot compile kernels",
        reason=f"LLVM's library cannot be loaded ({str(error).split(':', 1)[0].lower()})",
        remedy="allow more memory (ulimit -v, the container's limit), or install llvmlite again",
    ) from error

_VSCALE_IR = """
declare i64 @llvm.vscale.i64()
define i64 @vscale() #0 {
  %scale = call i64 @llvm.vscale.i64()
  ret i64 %scale
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A compiled function.

    Parameters
    ----------
    architecture : str
        As LLVM names it: ``x86_64``, ``aarch64``, ``riscv64``.
    machine_code : bytes
    assembly : str
        LLVM's own listing of the module; empty where the machine code itself is decoded.
    """

    architecture: str
    machine_code: bytes
    assembly: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Code):
    """A compiled function in this process: its machine code will be executed.

    Parameters
    ----------
    address : int
        Where the machine code stands.
    """

    address: int


class Compiler:
    """Compiles IR and keeps the code alive as long as it lives itself.

    Parameters
    ----------
    lists : bool
        Whether to have LLVM's listing where the machine code itself can be decoded, too.
    """

    def __init__(self, *, lists: bool = False) -> None:
        self._lists = lists
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()  # for kernels that hold assembly
        self._features = llvm.get_host_cpu_features()
        self._cpu = str(llvm.get_host_cpu_name())
        self._engines: list[llvm.ExecutionEngine] = []
        self._functions: dict[tuple[str, str, int], Function] = {}
        self._triple = str(llvm.get_default_triple())
        self._vector_bits: int | None = None

    @property
    def architecture(self) -> str:
        """The architecture of this CPU, as LLVM names it."""
        return _architecture(self._triple)

    @property
    def vector_bits(self) -> int:
        """Length of the registers of SVE, or of RISC-V's V; 0: there are none."""
        if self._vector_bits is None:
            unit = {"aarch64": ("sve", 128), "riscv64": ("v", 64)}.get(self.architecture)
            self._vector_bits = unit[1] * self._vscale() if unit and self.has(unit[0]) else 0
        return self._vector_bits

    def has(self, feature: str) -> bool:
        """Return whether LLVM finds a feature, by its LLVM name, on this CPU."""
        return bool(self._features.get(feature, False))

    @property
    def microarchitecture(self) -> str | None:
        """LLVM's name of this CPU's microarchitecture; None where it only knows the family."""
        return None if self._cpu in {"generic", "generic-rv64", "x86-64", "i686"} else self._cpu

    def compile(self, ir: str, name: str, *, width_bits: int = 0) -> Function:
        """Compile a module of LLVM IR text and return one of its functions.

        The same text is compiled once: what was checked is what runs.

        Parameters
        ----------
        ir : str
            Its function attributes #0 are added here.
        name : str
        width_bits : int
            The widest vector that it has; 0: none.

        Raises
        ------
        CannotMeasure
            If LLVM refuses the module.
        """
        key = (ir, name, width_bits)
        if key not in self._functions:
            self._functions[key] = self._compiled(ir, name, width_bits)
        return self._functions[key]

    def _compiled(self, ir: str, name: str, width_bits: int) -> Function:
        machine = _machine(self._triple, self._cpu, self._features.flatten())
        module = _module(ir, name, machine, width_bits)
        # Compiled once: what is executed is what is looked at. Machine code of x86-64 is decoded,
        # and a listing would take as long again.
        elf = machine.emit_object(module)
        is_listed = self._lists or self.architecture != "x86_64"
        code = _code(elf, name, machine, module if is_listed else None)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(elf))
        engine.finalize_object()
        self._engines.append(engine)
        address = engine.get_function_address(name)
        return Function(
            address=address,
            architecture=code.architecture,
            machine_code=ctypes.string_at(address, len(code.machine_code)),
            assembly=code.assembly,
        )

    def _vscale(self) -> int:
        """Return by how much registers of vectors are longer than the architecture asks for."""
        function = self.compile(_VSCALE_IR, "vscale")
        return int(ctypes.CFUNCTYPE(ctypes.c_int64)(function.address)())


def emit(
    ir: str, name: str, *, triple: str, cpu: str, features: str = "", width_bits: int = 0
) -> Code:
    """Compile a module for another CPU, to be read and not executed.

    Parameters
    ----------
    ir, name, width_bits
        As for `Compiler.compile`.
    triple, cpu, features : str
        As LLVM names them, for example ``aarch64-linux-gnu``, ``neoverse-v1`` and ``+bf16``.

    Raises
    ------
    CannotMeasure
        If LLVM refuses the module.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = _machine(triple, cpu, features)
    module = _module(ir, name, machine, width_bits)
    return _code(machine.emit_object(module), name, machine, module)


def _architecture(triple: str) -> str:
    return triple.split("-", 1)[0]


def _machine(triple: str, cpu: str, features: str) -> llvm.TargetMachine:
    # No passes over the IR: what a kernel spells out is what the code generator sees.
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=2)


def _module(ir: str, name: str, machine: llvm.TargetMachine, width_bits: int) -> llvm.ModuleRef:
    """Return a module of IR text, for a target."""
    try:
        module = llvm.parse_assembly(f"{ir}\n{_attributes(machine.triple, width_bits)}")
        module.verify()
    except RuntimeError as error:
        raise CannotMeasure(
            f"cannot compile the kernel {name!r}",
            reason=f"LLVM refuses it ({str(error).strip().splitlines()[0]})",
            remedy="report this with the output of 'ridgepoint doctor'",
        ) from error
    # The JIT fills this in too late for the object and the listing to see it.
    module.data_layout = str(machine.target_data)
    module.triple = machine.triple
    return module


def _attributes(triple: str, width_bits: int) -> str:
    """Return the function attributes that keep a vector type whole.

    LLVM halves 512-bit vectors on x86 CPUs whose tuning prefers 256 bit unless it is told, and
    takes SVE's registers, or RISC-V's, for vectors of a fixed length only where it knows that
    they are as long. Tuning for A64FX adds prefetches.
    """
    architecture = _architecture(triple)
    if architecture == "x86_64":
        extra = f'"min-legal-vector-width"="{max(width_bits, 128)}"'
    else:
        unit = {"aarch64": 128, "riscv64": 64}.get(architecture, 0)
        scale = width_bits // unit if unit else 0
        # Vectors of 128 bit are NEON's on AArch64, whatever the length of SVE's.
        scaled = scale > 1 or (architecture == "riscv64" and scale)
        extra = '"tune-cpu"="generic"' + (f" vscale_range({scale},{scale})" if scaled else "")
    return f"attributes #0 = {{ nounwind {extra} }}"


def _code(
    object_file: bytes, name: str, machine: llvm.TargetMachine, module: llvm.ModuleRef | None
) -> Code:
    """Return the code of one of an ELF object file's functions; its listing, if it has a module."""
    elf = ELFFile(io.BytesIO(object_file))
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)  # every object file that LLVM writes has one
    symbols = table.get_symbol_by_name(name)
    assert symbols  # LLVM has just compiled it
    begin, size = int(symbols[0]["st_value"]), int(symbols[0]["st_size"])
    text = elf.get_section(symbols[0]["st_shndx"]).data()
    return Code(
        architecture=_architecture(machine.triple),
        machine_code=text[begin : begin + size],
        assembly="" if module is None else str(machine.emit_assembly(module)),
    )
