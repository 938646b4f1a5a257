"""Pages for the browser: small ones of known content, large ones, and one with hostile names."""

from __future__ import annotations

from ridgepoint.show.chart import Axis, Chart, Line, Mark
from ridgepoint.show.page.document import (
    Advised,
    Cell,
    Column,
    Control,
    Coverage,
    Doubt,
    Fact,
    Input,
    Option,
    PageDocument,
    PageRecord,
    Row,
    RuledOut,
    SourceLine,
    Subject,
    Table,
    View,
)

HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\">",
    "</script><script>document.title='broken'</script>",
    'it\'s "quoted" & `back`',
    "two\nlines",
    "\u202egnal\u202c txt",
    "مرحبا",
    "=1+1",
    "vector<double>",
    "__proto__",
    "[/bold]",
)
LEVELS = ("L1", "DRAM")
_COLUMNS = (
    Column(key="name", title="name"),
    Column(key="share", title="time", kind="share", help="Share of the program's runtime."),
    Column(key="runtime_s", title="T", unit="s", kind="number", help="Runtime, the median."),
)
_CHANGES = (
    Column(key="name", title="name"),
    *(
        Column(key=f"{name}_change", title=name, kind="change")
        for name in ("T", "W", "Q", "I", "P")
    ),
)
_TICKS = tuple((10.0**power, f"1e{power}") for power in range(-3, 4))


def page_of_names(*names: str, views: int = 1) -> PageDocument:
    """Return a page with a subject of each name; each has half the time of the one before."""
    runtimes = [0.8 / 2**number if number < 50 else 1e-12 for number in range(len(names))]
    keys = [str(number) for number in range(len(names))]
    record = PageRecord(
        key="1", kind="measurement", name=names[0], label=names[-1], note=names[0],
        created="2026-11-21T04:05:06+00:00", host=names[0], report={"names": list(names)},
        facts=(Fact(key="system", name="system", text=names[-1]),),
    )  # fmt: skip
    subjects = tuple(
        _subject(key, name, runtime)
        for key, name, runtime in zip(keys, names, runtimes, strict=True)
    )
    rows = tuple(
        _row(key, name, None if number == len(names) - 1 else runtime)
        for number, (key, name, runtime) in enumerate(zip(keys, names, runtimes, strict=True))
    )
    return PageDocument(
        version="0",
        title=names[0],
        records=(record,),
        views=tuple(
            View(
                key=f"v{number}", kind="roofline", title=f"{names[0]} {number}",
                charts=(_chart(keys, names, runtimes),), controls=(_control(),),
                table=Table(name="parts", columns=_COLUMNS, rows=rows), subjects=subjects,
                coverage=Coverage(share=0.9, text=f"90 % of {names[0]}"), notes=(names[-1],),
            )
            for number in range(views)
        ),
    )  # fmt: skip


def page_of_changes(*rows: tuple[float | None, ...]) -> PageDocument:
    """Return a page whose table has relative changes of five quantities in each row."""
    table = Table(
        name="changes",
        columns=_CHANGES,
        rows=tuple(
            Row(
                cells=(
                    Cell(text=f"row {number}"),
                    *(
                        Cell(text="unknown" if each is None else f"{each:+.1%}", value=each)
                        for each in changes
                    ),
                )
            )
            for number, changes in enumerate(rows)
        ),
    )
    view = View(key="compare", kind="compare", title="Changes", table=table)
    return PageDocument(version="0", title="Changes", views=(view,))


def _control() -> Control:
    options = tuple(Option(value=level, title=level) for level in LEVELS)
    return Control(tag="level", title="Levels", options=options, initial=("DRAM",))


def _subject(key: str, name: str, runtime: float) -> Subject:
    return Subject(
        key=key,
        name=name,
        kind="function",
        share=runtime,
        facts=(
            Fact(
                key="runtime", name="T", text=f"{runtime:.3g} s", how=f"median of {name}",
                inputs=(Input(name="samples of", text=name),),
                samples=(runtime, 1.1 * runtime, 1.2 * runtime), samples_unit="s",
                source="docs/method.md",
            ),
            Fact(key="plain", name="plain", text="unknown: not asked for"),
        ),
        advice=(Advised(seen=f"seen {name}", what=f"do {name}", gain="at most 2x"),),
        ruled_out=(RuledOut(what=f"not {name}", why="because"),),
        cautions=(Doubt(code="doubt", text=f"doubt {name}", matters=True),),
        lines=(SourceLine(file=name, line=3, text=name, facts=(Input(name="flop", text="4"),)),),
    )  # fmt: skip


def _row(key: str, name: str, runtime: float | None) -> Row:
    text = "unknown" if runtime is None else f"{runtime:.3g}"
    return Row(
        subject=key,
        cells=(
            Cell(text=name),
            Cell(text=text, value=runtime),
            Cell(text=text, value=runtime, fact="runtime"),
        ),
    )


def _chart(keys: list[str], names: tuple[str, ...], runtimes: list[float]) -> Chart:
    count = len(keys)
    marks = tuple(
        Mark(
            at=(10 ** (-2 + 4 * (number + 0.5) / count + place / 10), 1 + 100 * runtime),
            ink=number, name=name, summary=f"{name} at {level}", subject=key,
            tags={"level": level},
        )
        for number, (key, name, runtime) in enumerate(zip(keys, names, runtimes, strict=True))
        for place, level in enumerate(LEVELS)
    )  # fmt: skip
    roof = Line(kind="roof", places=((1e-3, 1e-1), (1.0, 100.0), (1e3, 100.0)), name="a roof")
    return Chart(
        title=names[0], subtitle="",
        x=Axis(label="I", limits=(1e-3, 1e3), ticks=_TICKS),
        y=Axis(label="P", limits=(1e-1, 1e3), ticks=_TICKS[2:]),
        lines=(roof,), marks=marks,
    )  # fmt: skip
