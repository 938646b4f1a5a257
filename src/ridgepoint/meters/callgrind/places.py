"""Finds the object file of code that callgrind places in none, but that lies in one.

Valgrind knows of an object's ``.text`` section alone. Code that the linker adds (``.init``, and
the stubs of ``.plt.got`` and ``.plt.sec`` through which libraries are called) is written with
its run-time address and the object ``???``, as is code made at run time. Where such code is the
target of a direct call, the call instruction says where in its own object it leads, and the
difference is where that object was loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from iced_x86 import Decoder

from ridgepoint.meters.callgrind.profile import FunctionCosts, Profile
from ridgepoint.meters.decode import MAX_INSTRUCTION_BYTES
from ridgepoint.meters.object_file import CodeStore, ObjectFile

Functions = dict[tuple[str | None, str], FunctionCosts]
"""Costs by object and function."""


def placed(profiles: Sequence[Profile], code: CodeStore) -> tuple[Profile, ...]:
    """Return the profiles with code of the loaded objects ascribed to these.

    The parts of one program, and what it forks, lie at the same places: calls in any of them
    tell of all.
    """
    calls: dict[str, set[tuple[str, int, int]]] = {}
    for profile in profiles:
        calls.setdefault(profile.command, set()).update(profile.calls_out)
    loaded = {command: tuple(_loaded(outwards, code)) for command, outwards in calls.items()}
    return tuple(
        replace(profile, functions=_ascribed(profile.functions, loaded[profile.command]))
        for profile in profiles
    )


def _ascribed(functions: Functions, loaded: Iterable[tuple[int, int, int, str]]) -> Functions:
    ascribed: Functions = {}
    for (path, name), costs in functions.items():
        key, own = (path, name), costs
        if path is None:
            addresses = costs.executions
            for start, end, bias, owner in loaded:
                if all(start <= address < end for address in addresses):
                    moved = {address - bias: n for address, n in addresses.items()}
                    own = FunctionCosts(executions=moved, events=costs.events)
                    key = (owner, f"{min(moved):#018x}")
                    break
        ascribed[key] = own
    return ascribed


def _loaded(
    calls: Iterable[tuple[str, int, int]], code: CodeStore
) -> Iterator[tuple[int, int, int, str]]:
    """Yield first and last address, displacement and path of each segment that is known."""
    displacements: dict[str, set[int]] = {}
    for path, site, target in calls:
        file = code.get(path)
        stated = None if file is None else _target_of(file, site)
        if stated is not None:
            displacements.setdefault(path, set()).add(target - stated)
    for path, displaced in displacements.items():
        file = code.get(path)
        if file is None or len(displaced) != 1:
            continue  # contradictory: loaded twice, or not what it seems
        bias = next(iter(displaced))
        for segment in file.segments:
            start = segment.address + bias
            yield start, start + len(segment.code), bias, path


def _target_of(file: ObjectFile, site: int) -> int | None:
    """Return where a direct call or jump leads, as the file states addresses."""
    segment = file.segment_of(site)
    if segment is None:
        return None
    offset = site - segment.address
    decoder = Decoder(64, segment.code[offset : offset + MAX_INSTRUCTION_BYTES], ip=site)
    instruction = decoder.decode()
    direct = (
        instruction.is_call_near
        or instruction.is_jmp_short_or_near
        or instruction.is_jcc_short_or_near
    )
    return instruction.near_branch_target if direct else None
