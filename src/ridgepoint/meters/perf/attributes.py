"""What perf_event_open is asked for, as a value, and in the kernel's own form."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

_TIMES = 1 | 2  # PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING

# Bits of the flags, from include/uapi/linux/perf_event.h.
_DISABLED = 1 << 0
_INHERIT = 1 << 1
_EXCLUDE_KERNEL = 1 << 5
_EXCLUDE_HYPERVISOR = 1 << 6
_ENABLE_ON_EXEC = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """One event, as it is to be opened.

    Parameters
    ----------
    type : int
        Of the PMU.
    config, config1, config2 : int
    disabled : bool
        Whether it waits until it is enabled; of a group, the leader alone.
    inherit : bool
        Whether threads and children that are made later are counted too.
    enable_on_exec : bool
        Whether it is enabled when its task executes another program.
    user_only : bool
        Leave the kernel and a hypervisor out. PMUs of the whole machine refuse it.
    """

    type: int
    config: int
    config1: int = 0
    config2: int = 0
    disabled: bool = True
    inherit: bool = False
    enable_on_exec: bool = False
    user_only: bool = True

    @property
    def flags(self) -> int:
        """The bits of the kernel's flags."""
        wanted = (
            (self.disabled, _DISABLED),
            (self.inherit, _INHERIT),
            (self.user_only, _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR),
            (self.enable_on_exec, _ENABLE_ON_EXEC),
        )
        return sum(bit for is_wanted, bit in wanted if is_wanted)

    def packed(self) -> PerfEventAttr:
        """Return the structure that the kernel reads."""
        return PerfEventAttr(
            type=self.type,
            size=ctypes.sizeof(PerfEventAttr),
            config=self.config,
            read_format=_TIMES,
            flags=self.flags,
            config1=self.config1,
            config2=self.config2,
        )


class PerfEventAttr(ctypes.Structure):
    """struct perf_event_attr, as long as ``PERF_ATTR_SIZE_VER1``: 72 byte, up to ``config2``.

    Every kernel since 2.6.33 takes it; nothing that came later is asked for.
    """

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("config", ctypes.c_uint64),
        ("sample_period", ctypes.c_uint64),
        ("sample_type", ctypes.c_uint64),
        ("read_format", ctypes.c_uint64),
        ("flags", ctypes.c_uint64),
        ("wakeup_events", ctypes.c_uint32),
        ("bp_type", ctypes.c_uint32),
        ("config1", ctypes.c_uint64),
        ("config2", ctypes.c_uint64),
    )
