"""What a pipeline's figures are: frozen values in base units, computed and not drawn."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.show.charts.plane import Coordinates, Plane


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDot:
    """A stage on the roofline.

    Parameters
    ----------
    number : int
        From 1, in the order of the pipeline: its colour and its label.
    name : str
    summary : str
        Its share of the time and its place, in figures.
    at : tuple of float or None
        Intensity and performance; None: it has no place there (no work).
    attainable : float
        Height of its roof, flop/s.
    share : float
        Of the time: the area of its disc.
    is_infinite : bool
        No traffic: drawn at the right edge.
    """

    number: int
    name: str
    summary: str
    at: Coordinates | None
    attainable: float
    share: float
    is_infinite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeMark:
    """A composite intensity, at the height of the roof that its roofline efficiency stands for."""

    label: str
    at: Coordinates


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRoofline(Plane):
    """Stages and composites under one roof.

    Parameters
    ----------
    peak, bandwidth : float
        flop/s and byte/s.
    stages : tuple of StageDot
    composites : tuple of CompositeMark
    whole : tuple of float
        The pipeline as it runs: intensity by Eq. (8), performance.
    notes : tuple of str
    """

    peak: float
    bandwidth: float
    stages: tuple[StageDot, ...]
    composites: tuple[CompositeMark, ...]
    whole: Coordinates
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a bar.

    Parameters
    ----------
    number : int
        Of the stage; 0: the host.
    name : str
    seconds : float
    """

    number: int
    name: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBar:
    """Seconds, one part after the other.

    Parameters
    ----------
    label : str
    pieces : tuple of Piece
    """

    label: str
    pieces: tuple[Piece, ...]

    @property
    def seconds(self) -> float:
        """All of it."""
        return sum(piece.seconds for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFigure:
    """Where the time goes.

    Parameters
    ----------
    title : str
    bars : tuple of TimeBar
    """

    title: str
    bars: tuple[TimeBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A number with its interval.

    Parameters
    ----------
    label, text : str
        What it is of, and the number as text.
    value : float
    low, high : float or None
        None: no interval.
    least : float or None
        A mark within it; None: none.
    """

    label: str
    text: str
    value: float
    low: float | None = None
    high: float | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BarsFigure:
    """Numbers beside each other.

    Parameters
    ----------
    title, subtitle, x_label : str
    bars : tuple of Bar
    origin : float
        Where bars begin.
    mark_label : str
        What the marks within are; empty: there are none.
    """

    title: str
    subtitle: str
    x_label: str
    bars: tuple[Bar, ...]
    origin: float = 0.0
    mark_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineFigure:
    """The roofline of a pipeline, and where its time goes."""

    roofline: PipelineRoofline
    time: TimeFigure
