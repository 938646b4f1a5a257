"""Machines: published ones by name, measured ones from a file.

The published machines are documents of this package, one file each, kept by hand: every figure
names the paper and the table or equation from which it comes, and what a paper does not give
is left out.
"""

from __future__ import annotations

from pathlib import Path

from ridgepoint.core.documents import decode, kind_of
from ridgepoint.core.errors import InvalidDocument, reason_of
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.published.documents import published_name
from ridgepoint.published.machine_names import MACHINES, names

__all__ = ["load", "names", "open_machine", "opened"]


def load(name: str) -> Machine:
    """Return a published machine.

    Parameters
    ----------
    name : str
        One of `names`; upper and lower case are alike.

    Raises
    ------
    RidgepointError
        If the library has no such machine; the message lists those it has.

    Examples
    --------
    >>> load("e5645").rate("bop")
    86400000000.0
    """
    remedy = "the path of a machine's JSON file"
    known = published_name(name, names(), what="load the machine", remedy=remedy)
    file = MACHINES / f"{known}.json"
    return decode(file.read_bytes(), Machine, origin=f"the library's {known}")


def open_machine(text: str) -> Machine:
    """Return the machine that a user names: by a file, or by its name in the library.

    Of a measured cluster it is the machine of the slowest node, with its link to the others.

    Parameters
    ----------
    text : str
        As for `opened`.

    Raises
    ------
    RidgepointError
        If the library has no machine of this name.
    InvalidDocument
        If the file cannot be read, or does not hold a machine.
    """
    machine = opened(text)
    return machine.slowest() if isinstance(machine, MeasuredCluster) else machine


def opened(text: str) -> Machine | MeasuredCluster:
    """Return the machine or the measured cluster that a user names.

    Parameters
    ----------
    text : str
        A path, if it exists or looks like one (ends in ``.json`` or holds a ``/``); else a
        name of `names`.

    Raises
    ------
    RidgepointError
        If the library has no machine of this name.
    InvalidDocument
        If the file cannot be read, or holds neither.
    """
    path = Path(text)
    looks_like_a_path = "/" in text or text.lower().endswith(".json")
    try:
        # A folder that happens to be called like a published machine does not hide it.
        if (
            not looks_like_a_path
            and not path.is_file()
            and (text.lower() in names() or not path.exists())
        ):
            return load(text)
        document = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise InvalidDocument(
            f"cannot read {text!r} as a machine",
            reason=reason_of(error),
            remedy="give a file written by 'ridgepoint machine --json', or a published machine: "
            + ", ".join(names()),
        ) from error
    if kind_of(document) == "cluster":
        return decode(document, MeasuredCluster, origin=text)
    return decode(document, Machine, origin=text)
