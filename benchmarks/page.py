"""How long a page of many points takes to open in Chromium, and to answer its reader.

    python benchmarks/page.py [POINTS] [--rounds ROUNDS]

Each point is a function with a row of the table and figures of its own. Opening is from the
browser's first step to the frame after the one in which the page is drawn; an answer is from the
event to the frame after the next. Both are the median and the longest of the rounds; two frames
take up to 33 ms, whatever the page does. The CPU time is that of the page's main thread, the median
of the rounds: on a busy machine it says more. The goals, of 10,000 points: 2 s and 100 ms. It needs
Chromium with its driver (Debian: chromium, chromium-driver) and selenium (PyPI).
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from selenium import webdriver

from ridgepoint.core.units import format_si
from ridgepoint.show.chart import Axis, Chart, Line, Mark
from ridgepoint.show.page.assemble import page_html
from ridgepoint.show.page.document import (
    Cell,
    Column,
    Fact,
    Input,
    PageDocument,
    Row,
    Subject,
    Table,
    View,
)

Times = tuple[float, float]
"""On the clock and on the processor, s."""
OPEN_GOAL_S, ANSWER_GOAL_S = 2.0, 0.1
PEAK, BANDWIDTH = 1e11, 4e10
COLUMNS = (
    Column(key="name", title="name"),
    Column(key="share", title="time", kind="share"),
    Column(key="runtime_s", title="T", unit="s", kind="number"),
    Column(key="work_flop", title="W", unit="flop", kind="number"),
    Column(key="performance_per_s", title="P", unit="flop/s", kind="number"),
    Column(key="intensity_dram", title="I DRAM", unit="flop/byte", kind="number"),
)
FRAMES = """
const done = arguments[arguments.length - 1];
const from = %s;
%s
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
"""
SEARCH = """
const field = document.querySelector('input[type=search]');
field.value = arguments[0];
field.dispatchEvent(new Event('input'));
"""
ANSWERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "filter by a value": (SEARCH, ("time > 0.02%", "I > 1", "T > 1 ms and P < 1G", "")),
    "filter by a word": (SEARCH, ("function 7", "kernel", "nothing", "")),
    "runtime shown": (
        "const field = document.querySelector('input[id$=runtime]');"
        "field.value = arguments[0]; field.dispatchEvent(new Event('input'));",
        ("50", "80", "20", "100"),
    ),
    "sort": ("document.querySelectorAll('thead button')[arguments[0]].click();", ("1", "2", "4")),
    "select a row": ("document.querySelectorAll('button.pick')[arguments[0]].click();", ("1", "2")),
    "point at a row": (
        "document.querySelectorAll('button.pick')[arguments[0]]"
        ".dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));",
        ("1", "2", "3"),
    ),
}


def document(points: int) -> PageDocument:
    """Return a page of so many functions below a roofline."""
    seeded = random.Random(1)
    parts = [seeded.paretovariate(1.2) for _ in range(points)]
    total = sum(parts)
    marks, subjects, rows = [], [], []
    for number, part in enumerate(sorted(parts, reverse=True)):
        share, intensity = part / total, 10 ** seeded.uniform(-2, 2.5)
        roof = min(PEAK, BANDWIDTH * intensity)
        performance = roof * seeded.betavariate(2, 5)
        key, name = str(number), f"{seeded.choice(('kernel', 'function', 'loop'))} {number}"
        figures = (share * 100, share * 100 * performance, performance, intensity)
        units = ("s", "flop", "flop/s", "flop/byte")
        texts = [format_si(value, unit) for value, unit in zip(figures, units, strict=True)]
        subjects.append(_subject(key, name, share, texts))
        marks.append(_mark(key, name, intensity, performance, share))
        values = zip(texts, figures, ("T", "W", "P", "I"), strict=True)
        cells = (Cell(text=text, value=value, fact=fact) for text, value, fact in values)
        first = (Cell(text=name), Cell(text=f"{share:.3%}", value=share))
        rows.append(Row(subject=key, cells=(*first, *cells)))
    chart = _chart(tuple(marks))
    table = Table(name="functions", columns=COLUMNS, rows=tuple(rows))
    view = View(
        key="roofline", kind="roofline", title="Roofline", charts=(chart,), table=table,
        subjects=tuple(subjects),
    )  # fmt: skip
    return PageDocument(version="0", title=f"{points} points", views=(view,))


def _subject(key: str, name: str, share: float, texts: list[str]) -> Subject:
    facts = tuple(
        Fact(
            key=fact, name=fact, text=text, source="docs/method.md",
            how=f"{fact} of {name}: {text}, as {' and '.join(texts)} say.",
            inputs=(Input(name="T", text=texts[0]), Input(name="W", text=texts[1])),
        )
        for fact, text in zip(("T", "W", "P", "I"), texts, strict=True)
    )  # fmt: skip
    return Subject(key=key, name=name, kind="function", share=share, facts=facts)


def _mark(key: str, name: str, intensity: float, performance: float, share: float) -> Mark:
    return Mark(
        at=(intensity, performance), size=max(0.5, 10 * share**0.5), ink=0, face="pale",
        y_interval=(0.9 * performance, 1.1 * performance), subject=key, name=name,
        summary=f"{performance:.3g} flop/s at {intensity:.3g} flop/byte",
    )  # fmt: skip


def _chart(marks: tuple[Mark, ...]) -> Chart:
    def axis(label: str, low: int, high: int) -> Axis:
        ticks = tuple((10.0**power, f"1e{power}") for power in range(low, high + 1))
        return Axis(label=label, limits=(10.0**low, 10.0**high), ticks=ticks)

    ridge = PEAK / BANDWIDTH
    roof = Line(kind="roof", places=((1e-3, 1e-3 * BANDWIDTH), (ridge, PEAK), (1e3, PEAK)))
    return Chart(
        title="Roofline", subtitle="", x=axis("I [flop/byte]", -3, 3),
        y=axis("P [flop/s]", 6, 12), lines=(roof,), marks=marks,
    )  # fmt: skip


def browser() -> webdriver.Chrome:
    """Start Chromium without a window."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        sys.exit("no browser is installed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class Watch:
    """Times what a page does: on the clock, and on the processor of its main thread."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self._driver = driver
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

    def __call__(self, code: str, *arguments: str, since: str = "performance.now()") -> Times:
        """Return what running a piece of JavaScript takes until the frame after the next."""
        began_s = self._cpu_s() if since != "0" else 0.0
        wall_ms = self._driver.execute_async_script(FRAMES % (since, code), *arguments)
        return wall_ms / 1000, self._cpu_s() - began_s

    def _cpu_s(self) -> float:
        metrics = self._driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def row(name: str, times: list[Times], goal_s: float | None) -> str:
    """Return a line of the table."""
    walls, cpus = zip(*times, strict=True)
    columns = (statistics.median(walls), max(walls), statistics.median(cpus), goal_s)
    texts = ("" if value is None else f"{1000 * value:8.0f} ms" for value in columns)
    return f"{name:20}{''.join(texts)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time a page of many points in Chromium.")
    parser.add_argument("points", nargs="?", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    html = page_html(document(arguments.points))
    packed = len(gzip.compress(html, mtime=0))
    bare = len(page_html(document(1)))
    print(
        f"{arguments.points} points: {len(html) / 1e6:.2f} MB, {packed / 1e6:.2f} MB packed;"
        f" {bare / 1e3:.0f} kB of one point"
    )
    print(f"{'':20}{'median':>11}{'longest':>11}{'CPU time':>11}{'goal':>11}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_bytes(html)
        driver = browser()
        try:
            times = rounds(driver, path.as_uri(), arguments.rounds)
        finally:
            driver.quit()
    for name, taken in times.items():
        goal_s = OPEN_GOAL_S if name == "open" else ANSWER_GOAL_S if "filter" in name else None
        print(row(name, taken, goal_s))


def rounds(driver: webdriver.Chrome, address: str, count: int) -> dict[str, list[Times]]:
    """Return what opening a page and each of its answers take, for each round and value."""
    watch = Watch(driver)
    times: dict[str, list[Times]] = {name: [] for name in ("open", *ANSWERS)}
    for _ in range(count):
        driver.get("about:blank")
        driver.get(address)
        times["open"].append(watch("", since="0"))
        for name, (code, values) in ANSWERS.items():
            times[name] += [watch(code, value) for value in values]
    return times


if __name__ == "__main__":
    main()
