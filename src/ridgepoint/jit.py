"""LLVM IR to machine code in memory, for exactly this CPU: the only import of llvmlite."""

from __future__ import annotations

import ctypes
import io
from dataclasses import dataclass

import llvmlite.binding as llvm
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ridgepoint.errors import CannotMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A compiled function in this process.

    Parameters
    ----------
    address : int
    machine_code : bytes
        What stands at that address and will be executed.
    assembly : str
        LLVM's own listing of the module.
    """

    address: int
    machine_code: bytes
    assembly: str


class Compiler:
    """Compiles IR and keeps the code alive as long as it lives itself."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._features = llvm.get_host_cpu_features()
        self._cpu = str(llvm.get_host_cpu_name())
        self._engines: list[llvm.ExecutionEngine] = []
        self._target = llvm.Target.from_default_triple()

    def has(self, feature: str) -> bool:
        """Return whether LLVM finds a feature, by its LLVM name, on this CPU."""
        return bool(self._features.get(feature, False))

    @property
    def microarchitecture(self) -> str | None:
        """LLVM's name of this CPU's microarchitecture; None where it only knows the family."""
        return None if self._cpu in {"generic", "x86-64", "i686"} else self._cpu

    def compile(self, ir: str, name: str, *, width_bits: int = 0) -> Function:
        """Compile a module of LLVM IR text and return one of its functions.

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
        # No passes over the IR: what a kernel spells out is what the code generator sees.
        machine = self._target.create_target_machine(
            cpu=self._cpu, features=self._features.flatten(), opt=2
        )
        try:
            module = llvm.parse_assembly(f"{ir}\n{_attributes(width_bits)}")
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
        assembly = machine.emit_assembly(module)
        size = _symbol_size(machine.emit_object(module), name)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        self._engines.append(engine)
        address = engine.get_function_address(name)
        return Function(
            address=address, machine_code=ctypes.string_at(address, size), assembly=assembly
        )


def _attributes(width_bits: int) -> str:
    """Return the function attributes that keep a vector type whole.

    LLVM halves 512-bit vectors on CPUs whose tuning prefers 256 bit unless it is told.
    """
    return f'attributes #0 = {{ nounwind "min-legal-vector-width"="{max(width_bits, 128)}" }}'


def _symbol_size(object_file: bytes, name: str) -> int:
    """Return the size in bytes of a function in an ELF object file."""
    table = ELFFile(io.BytesIO(object_file)).get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)  # every object file that LLVM writes has one
    symbols = table.get_symbol_by_name(name)
    assert symbols  # LLVM has just compiled it
    return int(symbols[0]["st_size"])
