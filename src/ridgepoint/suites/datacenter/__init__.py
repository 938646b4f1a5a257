"""Datacenter workloads as real programs: described, compiled, and run with seeded data.

They measure nothing themselves: each is a C++ program whose measured part is the region
`REGION`, to be timed, counted and bounded like any other program.
"""

from ridgepoint.suites.datacenter.build import (
    build,
    compile_flags,
    compiler_command,
    host_flags,
    require_buildable,
)
from ridgepoint.suites.datacenter.programs import (
    REGION,
    VARIANTS,
    WORKLOADS,
    Variant,
    Workload,
    arguments,
    find,
    program_folder,
)
from ridgepoint.suites.datacenter.running import command, generate

__all__ = [
    "REGION",
    "VARIANTS",
    "WORKLOADS",
    "Variant",
    "Workload",
    "arguments",
    "build",
    "command",
    "compile_flags",
    "compiler_command",
    "find",
    "generate",
    "host_flags",
    "program_folder",
    "require_buildable",
]
