"""A continuum imaging pipeline to measure: real, but small enough to be known in full.

A seeded sky (`sky`) is seen by a model array on the rotating earth (`telescope`), gridded and
transformed by ducc0 (`gridder`), deconvolved by `clean` or `msmfs` and restored (`restore`), in
the major cycles of the SKA's reference library (`continuum`). `stages` divides it into parts
that can be measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ridgepoint.core.lazily import offered

# Imported when first used: they need ducc0 and SciPy, which the suite's other parts do without.
_HOMES = {
    "Minor": "suites.imaging.clean",
    "NufftGridder": "suites.imaging.nufft",
    "Plan": "suites.imaging.continuum",
    "image": "suites.imaging.continuum",
    "scene": "suites.imaging.stages",
}

if TYPE_CHECKING:
    from ridgepoint.suites.imaging.clean import Minor as Minor
    from ridgepoint.suites.imaging.continuum import Plan as Plan
    from ridgepoint.suites.imaging.continuum import image as image
    from ridgepoint.suites.imaging.nufft import NufftGridder as NufftGridder
    from ridgepoint.suites.imaging.stages import scene as scene

__all__ = [*_HOMES]  # noqa: PLE0604 - every name of the table is a string
__getattr__ = offered(__name__, _HOMES)
