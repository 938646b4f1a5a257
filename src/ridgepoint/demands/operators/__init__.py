"""What operators of array libraries ask for at least, by rules on shapes and types."""

from __future__ import annotations

from collections.abc import Callable

from ridgepoint.core.operators import Asked, Call

Rule = Callable[[Call], Asked]
"""States what a call asks for; raises `NoRule` where it cannot tell."""


class NoRule(Exception):
    """A rule cannot tell what a call asks for; the message says why, as a clause."""


def asked_of(call: Call) -> Asked:
    """Return what a call asks for at least.

    Parameters
    ----------
    call : Call

    Returns
    -------
    Asked
        All unknown, with the reason, where there is no rule or the rule cannot tell.
    """
    rule = _rules(call.name.partition(".")[0]).get(call.name)
    if rule is None:
        return _unknown(f"no rule says what {call.name} asks for")
    try:
        return rule(call)
    except NoRule as error:
        return _unknown(str(error))


def _rules(library: str) -> dict[str, Rule]:
    return {}


def _unknown(why: str) -> Asked:
    return Asked(
        kind="unknown",
        work=None,
        read_bytes=None,
        write_bytes=None,
        workspace_bytes=None,
        unknown=why,
    )
