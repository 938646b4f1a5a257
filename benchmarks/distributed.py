"""Distributed programs on several hosts, measured and compared with what the models say of them.

    python benchmarks/distributed.py mlp [-o FILE.json] [--figure FILE.svg]
    python benchmarks/distributed.py matrix [-o FILE.json]
    python benchmarks/distributed.py links [-o FILE.json]

Hosts are network namespaces of this machine with links of a chosen rate; that needs root, iproute2
and Open MPI. Each program measures its own ceilings before and after its steps, since neighbours
on a machine slow both alike. Jobs of all sizes take turns, so that a slow minute is no size's own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "tools"))

from network_hosts import network_hosts, stream_bytes_per_s, why_not

from ridgepoint.core.documents import decode
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.rates import Network
from ridgepoint.core.units import format_si
from ridgepoint.suites.distributed import (
    DistributedRun,
    NodeRates,
    predicted,
    rates_of,
    run_program,
)

_LAYERS = "1024,1024,1024"
_BATCHES = (64, 128, 256, 512, 1024, 2048, 4096)
_RATE = "400mbit"
_PACE = 6e9
"""flop/s of a slow node: of which four do not fill two CPUs, even if all compute at once."""
_PLACES: tuple[dict[str, Any], ...] = (
    {"link": "400mbit", "size": 1536, "pace": None, "nodes": (1, 2)},
    {"link": "5gbit", "size": 1536, "pace": None, "nodes": (1, 2)},
    {"link": "160mbit", "size": 1280, "pace": _PACE, "nodes": (1, 2, 3, 4)},
    {"link": "560mbit", "size": 1280, "pace": _PACE, "nodes": (1, 2, 3, 4)},
    {"link": "1150mbit", "size": 1280, "pace": _PACE, "nodes": (1, 2, 3, 4)},
)


_LINKS_BITS_PER_S = (100e6, 400e6, 1e9, 5e9)
_PAYLOAD = 1448 / 1514
"""Of a frame as tc counts it: less the headers of Ethernet, IP and TCP, and TCP's time stamps."""


def links(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure links of known rates as ``ridgepoint machine`` does; print and return rows."""
    rows = []
    print("link [bit/s]  carries [B/s]  plain stream   measured  95 %              off")
    for bits_per_s in _LINKS_BITS_PER_S:
        carries = bits_per_s / 8 * _PAYLOAD
        for _ in range(options.rounds):
            with network_hosts(2, f"{bits_per_s:.0f}bit") as launcher:
                plain = stream_bytes_per_s(int(min(2 * carries, 500e6)))
                cluster = _measured_cluster(launcher)
            assert cluster.links is not None  # of two hosts
            for link in cluster.links.slowest:
                rate = link.rate
                low, high = (math.nan if end is None else end for end in (rate.low, rate.high))
                print(
                    f"{format_si(bits_per_s, ''):>12}  {format_si(carries, ''):>13}"
                    f"  {format_si(plain, ''):>12}  {format_si(rate.median, ''):>9}"
                    f"  {format_si(low, '')} to {format_si(high, '')}"
                    f"  {rate.median / carries - 1:+5.1%}",
                    flush=True,
                )
                rows.append(
                    {
                        "link_bits_per_s": bits_per_s, "carries_bytes_per_s": carries,
                        "stream_bytes_per_s": plain, "measured_bytes_per_s": rate.median,
                    }
                )  # fmt: skip
    return rows


def _measured_cluster(launcher: str) -> MeasuredCluster:
    """Return what ``ridgepoint machine`` measures from within an MPI job of two ranks."""
    words = [*launcher.format(ranks=2).split(), sys.executable, "-m", "ridgepoint"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*words, "machine", "--quick", "--json"],
            env={**os.environ, "RIDGEPOINT_ARCHIVE": f"{folder}/archive.sqlite3"},
            stdout=subprocess.PIPE,
            check=True,
            timeout=200,
        )
    return decode(done.stdout, MeasuredCluster, origin="the output")


def mlp(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure training steps on two hosts over batch sizes; print and return a row for each."""
    own = ("--layers", _LAYERS, "--pin", "--ceilings", "--steps", "5", "--nap", "1e-4")
    runs: dict[int, list[DistributedRun]] = {batch: [] for batch in _BATCHES}
    with network_hosts(2, _RATE) as launcher:
        stream = stream_bytes_per_s()
        for _ in range(options.rounds):
            for batch, found in runs.items():
                found.append(run_program("mlp", 2, size=batch, options=own, launcher=launcher))
    rates = rates_of(run for found in runs.values() for run in found)
    print(f"layers {_LAYERS}; 2 hosts of one core each, link {_RATE}")
    print(f"a plain stream between them carries {format_si(stream, 'B/s')}; {_told(rates)}")
    rows = [_mlp_row(batch, found) for batch, found in runs.items()]
    print(
        "batch  measured  quartiles              compute   network   no overlap  off   full overlap"
    )
    for row in rows:
        print(
            f"{row['batch']:5d}  {_ms(row['step_s'])}  {_ms(row['q1_s'])} to {_ms(row['q3_s'])}"
            f"  {_ms(row['compute_s'])}  {_ms(row['network_s'])}  {_ms(row['no_overlap_s'])}"
            f"   {row['off']:+4.0%}  {_ms(row['full_overlap_s'])}"
        )
    expected, seen = _predicted_crossing(runs, rates), _measured_crossing(rows)
    print(
        f"computing takes as long as the network at batch {seen:.0f}; ceilings say {expected:.0f}"
    )
    facts = {"crossing": {"measured": seen, "predicted": expected}, "stream_bytes_per_s": stream}
    for path in options.figure:
        _draw(runs, rates, path)
    return [{**row, **facts} for row in rows]


def _draw(runs: dict[int, list[DistributedRun]], rates: NodeRates, path: Path) -> None:
    from ridgepoint.demands.training import TrainingStep
    from ridgepoint.show.draw_mpl import save
    from training_steps import steps_chart

    step = TrainingStep(layers=tuple(int(size) for size in _LAYERS.split(",")))
    measured = {
        name: {batch: _samples(found, name) for batch, found in runs.items()}
        for name in ("step", "compute", "network")
    }
    save(steps_chart(step, rates, nodes=2, measured=measured), path)


def _samples(runs: Sequence[DistributedRun], name: str) -> list[float]:
    """Return the seconds of all steps, or of a part of them."""
    return [one for run in runs for one in (run.steps_s if name == "step" else run.parts_s[name])]


def _mlp_row(batch: int, runs: Sequence[DistributedRun]) -> dict[str, Any]:
    rates = rates_of(runs)
    step = Estimate(_samples(runs, "step"))
    bounds = {name: _bound(runs[0], rates, name) for name in ("none", "full")}
    return {
        "batch": batch,
        "step_s": step.median,
        "q1_s": step.q1,
        "q3_s": step.q3,
        "n": step.n,
        **{
            f"{part}_s": Estimate(_samples(runs, part)).median
            for part in ("compute", "network", "update")
        },
        "no_overlap_s": bounds["none"],
        "full_overlap_s": bounds["full"],
        "off": step.median / bounds["none"] - 1,
        "flop_per_s": rates.flop_per_s,
        "link_bytes_per_s": rates.link_bytes_per_s,
    }


def _predicted_crossing(runs: dict[int, list[DistributedRun]], rates: NodeRates) -> float:
    """Return the batch of each node whose computing takes as long as its all-reduce."""
    one = next(iter(runs.values()))[0]
    exchanged, link = one.exchanged_bytes, rates.link_bytes_per_s
    assert exchanged is not None
    assert link is not None
    flop_per_sample = one.work["fp32"] / one.sizes["batch"]
    return exchanged / one.ranks / link * rates.flop_per_s / flop_per_sample


def _measured_crossing(rows: Sequence[dict[str, Any]]) -> float:
    """Return the batch where the measured parts are equal, between two that were measured."""
    ratios = [(row["batch"], math.log(row["compute_s"] / row["network_s"])) for row in rows]
    for (low, before), (high, after) in pairwise(ratios):
        if before < 0 <= after:
            share = -before / (after - before)
            return float(low * (high / low) ** share)
    return math.nan


def matrix(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Multiply matrices on more and more nodes that share one link; print and return rows."""
    rows = []
    for place in _PLACES:
        if options.link in (None, place["link"]):
            rows += _one_link(options, **place)
    return rows


def _one_link(
    options: argparse.Namespace, *, link: str, size: int, pace: float | None, nodes: tuple[int, ...]
) -> list[dict[str, Any]]:
    runs: dict[int, list[DistributedRun]] = {count: [] for count in nodes}
    own = ["--grid", "rows", "--ceilings", "--steps", "3"]
    # Ranks that wait must not spin: slow nodes share CPUs, and all share them with neighbours.
    own += ["--nap", "1e-4", *(["--pin"] if pace is None else ["--pace", str(pace)])]
    with network_hosts(max(nodes), link, shared=True) as launcher:
        for _ in range(options.rounds):
            for count, found in runs.items():
                run = run_program(
                    "matrix-product", count, size=size, options=own, launcher=launcher
                )
                found.append(run)
    rates = _on_shared_link([run for found in runs.values() for run in found])
    steps = {count: Estimate(_samples(found, "step")) for count, found in runs.items()}
    times = {
        count: _bound(found[0], rates, "none", network="shared") for count, found in runs.items()
    }
    best, expected = (min(each, key=each.__getitem__) for each in (
        {count: step.median for count, step in steps.items()}, times,
    ))  # fmt: skip
    node = "nodes of 1 core" if pace is None else f"nodes of {format_si(pace, 'flop/s')} at most"
    print(f"n = {size}, one {link} link for all, {node}; {_told(rates)}")
    print("nodes  measured  quartiles              no overlap  off")
    for count in nodes:
        step = steps[count]
        print(
            f"{count:5d}  {_ms(step.median)}  {_ms(step.q1)} to {_ms(step.q3)}"
            f"  {_ms(times[count])}   {step.median / times[count] - 1:+4.0%}"
        )
    print(f"fastest on {best}; predicted {expected}\n", flush=True)
    return [
        {
            "link": link, "size": size, "pace": pace, "nodes": count,
            "step_s": steps[count].median, "no_overlap_s": times[count],
            "best": best, "predicted_best": expected,
        }
        for count in nodes
    ]  # fmt: skip


def _on_shared_link(runs: Sequence[DistributedRun]) -> NodeRates:
    """Return the rates; of a link that all ranks use at once each sees its share."""
    rates = rates_of(runs)
    whole = [
        run.ranks * rate
        for run in runs
        for rate in (run.ceilings.link_bytes_per_s if run.ceilings else ())
    ]
    return NodeRates(
        precision=rates.precision,
        flop_per_s=rates.flop_per_s,
        memory_bytes_per_s=rates.memory_bytes_per_s,
        link_bytes_per_s=Estimate(whole).median,
    )


def _bound(
    run: DistributedRun, rates: NodeRates, overlap: str, *, network: Network = "parallel"
) -> float:
    found = predicted(run, rates, overlap="full" if overlap == "full" else "none", network=network)
    assert found is not None  # the ring's bytes and the panels' are known
    return float(found.time_s)


def _told(rates: NodeRates) -> str:
    link = "unknown" if rates.link_bytes_per_s is None else format_si(rates.link_bytes_per_s, "B/s")
    peak = format_si(rates.flop_per_s, "flop/s")
    return f"BLAS reaches {peak} on a node in {rates.precision}, MPI {link} over the link"


def _ms(time_s: float) -> str:
    return f"{time_s * 1e3:7.1f} ms"


_PARTS: dict[str, Callable[[argparse.Namespace], list[dict[str, Any]]]] = {
    "mlp": mlp,
    "matrix": matrix,
    "links": links,
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("part", choices=_PARTS)
    parser.add_argument("--rounds", type=int, default=3)
    links = [place["link"] for place in _PLACES]
    parser.add_argument("--link", choices=links, help="of matrix: over this link alone")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")
    parser.add_argument(
        "--figure", type=Path, metavar="FILE.svg", action="append", default=[], help="of mlp"
    )
    options = parser.parse_args()
    # However it is asked to stop, it takes its hosts away first.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    reason = why_not()
    if reason is not None:
        sys.exit(f"cannot measure on several hosts: {reason}")
    rows = _PARTS[options.part](options)
    if options.output is not None:
        options.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
