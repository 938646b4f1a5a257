"""Amdahl's, Gustafson's and Gunther's laws, and where the scaling model is one of them.

- Cores of one node, without overlap, are Amdahl's law: the time in memory does not shrink.
- Along lines of one efficiency they are Gustafson's direction: x must grow with q.
- An exchange that grows like p - 1 over one link is Gunther's law without contention.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, positive
from ridgepoint.core.rates import ideal_machine
from ridgepoint.models.scaling import Problem, Scaling


def amdahl(processors: npt.ArrayLike, *, serial: npt.ArrayLike) -> Amount:
    """Return the speed-up of a problem of fixed size.

    Parameters
    ----------
    processors : array_like
        N, > 0.
    serial : array_like
        Share of one processor's time that does not shrink, in [0, 1].

    Notes
    -----
    ``S = 1/(f + (1 - f)/N)``: `usl` with contention f.

    Examples
    --------
    >>> round(amdahl(64, serial=1 / 21), 9)
    16.0
    """
    return usl(processors, contention=_share("serial", serial), coherence=0.0)


def gustafson(processors: npt.ArrayLike, *, serial: npt.ArrayLike) -> Amount:
    """Return the scaled speed-up of a problem whose parallel part grows with the processors.

    Parameters
    ----------
    processors : array_like
        N, > 0.
    serial : array_like
        Share of the time on N processors that is serial, in [0, 1].

    Notes
    -----
    ``S = N - f (N - 1)``.

    Examples
    --------
    >>> gustafson(64, serial=0.5)
    32.5
    """
    n = positive("processors", processors)
    return plain(n - _share("serial", serial) * (n - 1))


def usl(
    processors: npt.ArrayLike, *, contention: npt.ArrayLike, coherence: npt.ArrayLike
) -> Amount:
    """Return the speed-up by Gunther's universal scalability law.

    Parameters
    ----------
    processors : array_like
        N, > 0.
    contention : array_like
        sigma: serialised share of the time, in [0, 1].
    coherence : array_like
        kappa: time for each pair to agree, over the total time on one processor, >= 0.

    Notes
    -----
    ``S = N/(1 + sigma (N - 1) + kappa N (N - 1))``, which is highest at
    ``sqrt((1 - sigma)/kappa)``.

    References
    ----------
    .. [1] N. J. Gunther, "A General Theory of Computational Scalability Based on Rational
       Functions", :arxiv:`0808.1431`.
    """
    n = positive("processors", processors)
    sigma, kappa = _share("contention", contention), np.asarray(coherence, dtype=np.float64)
    if not (np.isfinite(kappa) & (kappa >= 0)).all():
        raise ValueError(f"coherence must be finite and >= 0, got {coherence!r}")
    return plain(n / (1 + sigma * (n - 1) + kappa * n * (n - 1)))


def usl_scaling(*, contention: float, coherence: float, alone_s: float = 1.0) -> Scaling:
    """Return Gunther's law as a case of the scaling model: nodes are the processors.

    Parameters
    ----------
    contention, coherence : float
        As in `usl`; without coherence it is Amdahl's law.
    alone_s : float
        Time on one processor, in seconds.

    Notes
    -----
    Cores compute at 1 operation/s and share one link of 1 byte/s, so the exchanged bytes equal
    their time: ``sigma (p - 1)/p + kappa (p - 1)`` of one processor's.
    """
    usl(1, contention=contention, coherence=coherence)  # refuses impossible values
    return Scaling(
        problem=Problem(
            name="universal scalability law" if coherence else "Amdahl's law",
            operations=positive("alone_s", alone_s),
            exchanged_bytes=lambda p: alone_s * (contention * (p - 1) / p + coherence * (p - 1)),
        ),
        machine=ideal_machine(core_rate=1.0, link_bytes_per_s=1.0, cores=1),
    )


def serial_share(intensity: npt.ArrayLike) -> Amount:
    """Return Amdahl's f of the cores of one node, from x; without overlap.

    Parameters
    ----------
    intensity : array_like
        x, the problem's operational intensity over the machine's: `Scaling.intensity`.

    Examples
    --------
    >>> round(1 / serial_share(20))  # the speed-up of infinitely many cores
    21
    """
    return plain(1 / (1 + positive("intensity", intensity)))


def needed_intensity(cores: npt.ArrayLike, *, efficiency: npt.ArrayLike) -> Amount:
    """Return the least x at which q cores of one node keep a parallel efficiency; no overlap.

    Parameters
    ----------
    cores : array_like
        q, > 1/efficiency: fewer cores always keep it.
    efficiency : array_like
        Parallel efficiency against one core, below 1.

    Examples
    --------
    >>> needed_intensity(8, efficiency=0.5)
    6.0
    """
    q, eta = positive("cores", cores), _share("efficiency", efficiency)
    if not (eta < 1).all():
        raise ValueError(f"efficiency must be below 1, got {efficiency!r}")
    return plain(np.maximum((eta * q - 1) / (1 - eta), 0.0))


def most_cores(intensity: npt.ArrayLike, *, efficiency: npt.ArrayLike) -> Amount:
    """Return the most cores of one node that keep a parallel efficiency; no overlap.

    Parameters
    ----------
    intensity : array_like
        x: `Scaling.intensity`.
    efficiency : array_like
        Parallel efficiency against one core, in (0, 1].

    Examples
    --------
    >>> most_cores(20, efficiency=0.5)
    22.0
    """
    x, eta = positive("intensity", intensity), _share("efficiency", efficiency)
    return plain((1 + x) / positive("efficiency", eta) - x)


def _share(name: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
    array = np.asarray(value, dtype=np.float64)
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"{name} must be in [0, 1], got {value!r}")
    return array
