"""Write the filter of system calls that Docker applies to a container, as bubblewrap takes it.

    /usr/bin/python3 seccomp_filter.py PROFILE.json FILTER.bpf [--forbid NAME]...

PROFILE.json is Docker's ``profiles/seccomp/default.json``. Its rules are chosen as Docker chooses
them for a container without added capabilities on x86-64 and a kernel of today; ``--forbid`` takes
the rules of system calls away. Needs Debian's package python3-seccomp, so its Python runs this.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import seccomp  # Debian's python3-seccomp, the binding of libseccomp

# What "docker run" leaves a container, and so what stands in the "caps" of its profile:
# https://docs.docker.com/engine/containers/run/#runtime-privilege-and-linux-capabilities
CAPABILITIES = frozenset(
    (
        *("CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"),
        *("CAP_KILL", "CAP_MKNOD", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP"),
        *("CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT"),
    )
)
ARCHITECTURES = frozenset(("amd64", "x86", "x32"))
_COMPARISONS = {
    "SCMP_CMP_NE": seccomp.NE,
    "SCMP_CMP_LT": seccomp.LT,
    "SCMP_CMP_LE": seccomp.LE,
    "SCMP_CMP_EQ": seccomp.EQ,
    "SCMP_CMP_GE": seccomp.GE,
    "SCMP_CMP_GT": seccomp.GT,
    "SCMP_CMP_MASKED_EQ": seccomp.MASKED_EQ,
}


def applies(rule: dict[str, Any]) -> bool:
    """Return whether Docker applies a rule to such a container; kernels here are recent enough."""
    wanted, unwanted = rule.get("includes") or {}, rule.get("excludes") or {}
    return (
        (not wanted.get("caps") or set(wanted["caps"]) <= CAPABILITIES)
        and (not wanted.get("arches") or bool(ARCHITECTURES & set(wanted["arches"])))
        and not CAPABILITIES & set(unwanted.get("caps") or ())
        and not ARCHITECTURES & set(unwanted.get("arches") or ())
    )


def compare(argument: dict[str, Any]) -> Any:
    """Return the comparison of an argument; of a masked one the profile says the mask first."""
    operation = _COMPARISONS[argument["op"]]
    if argument["op"] == "SCMP_CMP_MASKED_EQ":
        mask, value = argument["value"], argument.get("valueTwo", 0)
        return seccomp.Arg(argument["index"], operation, mask, value)
    return seccomp.Arg(argument["index"], operation, argument["value"])


def action(name: str, error: int) -> Any:
    """Return what a rule does."""
    return seccomp.ALLOW if name == "SCMP_ACT_ALLOW" else seccomp.ERRNO(error)


def main() -> None:
    """Write the filter."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile", type=Path)
    parser.add_argument("filter", type=Path)
    parser.add_argument("--forbid", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    profile = json.loads(options.profile.read_text())
    refusal = profile.get("defaultErrnoRet", 1)  # EPERM
    made = seccomp.SyscallFilter(action(profile["defaultAction"], refusal))
    for architecture in (seccomp.Arch.X86, seccomp.Arch.X32):
        made.add_arch(architecture)
    for rule in filter(applies, profile["syscalls"]):
        arguments = [compare(argument) for argument in rule.get("args") or ()]
        chosen = action(rule["action"], rule.get("errnoRet", refusal))
        for name in rule["names"]:
            # libseccomp does not know every name, and refuses a rule that says the default.
            known = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) != -1
            if known and name not in options.forbid and chosen != made_default(profile, refusal):
                made.add_rule(chosen, name, *arguments)
    with options.filter.open("wb") as file:
        made.export_bpf(file)


def made_default(profile: dict[str, Any], refusal: int) -> Any:
    """Return what the filter does to calls that no rule names."""
    return action(profile["defaultAction"], refusal)


if __name__ == "__main__":
    main()
