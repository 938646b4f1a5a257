"""What the doctor says of the processor: which it is, what theory knows of it, its units."""

from __future__ import annotations

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.identity import Identity
from ridgepoint.doctor.finding import Finding
from ridgepoint.host import System
from ridgepoint.host.tiles import why_no_tiles
from ridgepoint.published.processors import processors
from ridgepoint.published.theory_choice import theory_choices
from ridgepoint.published.theory_file import user_folder


def identity_of(system: System) -> Identity:
    """Return which CPU this is."""
    # Imported here: it loads LLVM.
    from ridgepoint.kernels.jit import Compiler

    return system.identity(called=Compiler().microarchitecture)


def processor(system: System) -> Finding:
    """Find out which CPU this is, by its number and its features."""
    what = "processor"
    identity = identity_of(system)
    detail = "; ".join((f"{system.cpu}: {identity}", *identity.reasons))
    return Finding(what=what, works=True, detail=detail)


def theory(system: System) -> Finding:
    """Find out what documents say of this CPU, or of all that it may be."""
    what, cost = "theory", "ceilings are shown without a per cent of theory"
    identity = identity_of(system)
    try:
        choices = theory_choices(identity, cpu=system.cpu)
    except InvalidDocument as refusal:
        detail = f"{refusal.what}: {refusal.reason}"
        return Finding(what=what, works=False, detail=detail, remedy=refusal.remedy, cost=cost)
    known = choices.common
    if known is not None and known.figures:
        open_to = any(choice.figures.keys() != known.figures.keys() for choice in choices.each)
        more = "; more if the measured multiply-adds tell which CPU it is" * open_to
        detail = f"{known.name}: {len(known.figures)} figures{more}"
        return Finding(what=what, works=True, detail=detail)
    if identity.inferred:
        return Finding(
            what=what,
            works=False,
            detail="no theoretical figure holds for every CPU that this may be",
            remedy="nothing needs to be done: ceilings are measured nevertheless",
            cost=cost,
        )
    name = identity.names[0] if identity.names else None
    return Finding(
        what=what,
        works=False,
        detail=f"no file describes {name or 'this CPU'}",
        remedy=f"write {name or 'NAME'}.toml in {user_folder()} (docs/theory.md)",
        cost=cost,
    )


def tiles(system: System) -> Finding:
    """Find out whether products of tiles can be measured, by asking the kernel."""
    what, cost = "AMX", "there are no AMX ceilings: a program that uses AMX may lie above its roof"
    if "amx_tile" not in system.flags:
        if not _should_have_tiles(identity_of(system)):
            return Finding(what=what, works=True, detail="this CPU has no AMX: nothing is missing")
        return Finding(
            what=what,
            works=False,
            detail="CPUs of this kind have AMX, but the kernel or the hypervisor does not show it",
            remedy="run Linux 5.16 or later, on a virtual machine that has AMX",
            cost=cost,
        )
    refusal = why_no_tiles()
    if refusal is not None:
        return Finding(
            what=what,
            works=False,
            detail=refusal,
            remedy="run Linux 5.16 or later, and allow arch_prctl in the container's profile",
            cost=cost,
        )
    kinds = [kind for kind in ("bf16", "int8", "fp16") if f"amx_{kind}" in system.flags]
    detail = f"ceilings of {', '.join(kinds)} with tiles; a program's own tiles are counted by size"
    return Finding(what=what, works=True, detail=detail)


def _should_have_tiles(identity: Identity) -> bool:
    """Return whether CPUs of this kind have AMX; one that was inferred has what it shows."""
    kinds = {processor.name for processor in processors() if "amx_tile" in processor.features}
    return not identity.inferred and not kinds.isdisjoint(identity.names)
