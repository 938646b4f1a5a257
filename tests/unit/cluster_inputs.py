"""A small measured cluster, literally: three nodes, the link of the last one slow."""

from dataclasses import replace

from core_inputs import MACHINE

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.links import Link, Links, Reach
from ridgepoint.core.measured_cluster import (
    Exchange,
    MeasuredCluster,
    Node,
    Standing,
)

HOSTS = ("ada", "bob", "cyd")

CLUSTER = MeasuredCluster(
    name="ada and 2 more",
    nodes=tuple(Node(host=host, ranks=2, machine=replace(MACHINE, name=host)) for host in HOSTS),
    slowest_node=replace(MACHINE, name="ada and 2 more", fingerprint=None),
    standings=(
        Standing(
            resource="fp64",
            name="fma",
            unit="flop/s",
            threads=1,
            nodes=3,
            median=10e9,
            slowest="bob",
            slowest_rate=Estimate([5e9] * 8),
            fastest="ada",
            fastest_rate=Estimate([10e9] * 8),
        ),
    ),
    network=(
        Exchange(
            pattern="ping-pong",
            ranks=2,
            nodes=2,
            size_bytes=0,
            time_s=Estimate([20e-6] * 8),
            hosts=("ada", "bob"),
        ),
        Exchange(
            pattern="stream",
            ranks=2,
            nodes=2,
            size_bytes=1000,
            time_s=Estimate([1e-5] * 8),
            hosts=("ada", "bob"),
        ),
        Exchange(
            pattern="all pairs", ranks=3, nodes=3, size_bytes=1000, time_s=Estimate([2e-5] * 8)
        ),
        Exchange(
            pattern="all pairs", ranks=6, nodes=3, size_bytes=1000, time_s=Estimate([2e-5] * 8)
        ),
        Exchange(
            pattern="all-reduce", ranks=6, nodes=3, size_bytes=6000, time_s=Estimate([1e-3] * 8)
        ),
        Exchange(
            pattern="ping-pong",
            ranks=2,
            nodes=1,
            size_bytes=0,
            time_s=Estimate([1e-6] * 8),
            hosts=("ada", "ada"),
        ),
    ),
    links=Links(
        measured=6,
        directed=6,
        slowest=tuple(
            Link(sender=a, receiver=b, rate=Estimate([rate] * 8))
            for a, b, rate in (
                ("cyd", "ada", 11e6),
                ("cyd", "bob", 12e6),
                ("ada", "bob", 118e6),
                ("ada", "cyd", 119e6),
                ("bob", "cyd", 120e6),
                ("bob", "ada", 121e6),
            )
        ),
        reaches=(
            Reach(host="ada", sends=(118e6, 119e6), receives=(11e6, 121e6)),
            Reach(host="bob", sends=(120e6, 121e6), receives=(12e6, 118e6)),
            Reach(host="cyd", sends=(11e6, 12e6), receives=(119e6, 120e6)),
        ),
    ),
    mpi="Open MPI v5.0.11, started by mpirun of Open MPI",
    call_s=4e-7,
    created="2026-01-02T03:04:05+00:00",
    elapsed_s=42.0,
)
"""Ranks of a node together: 1000 byte in 20 us from each of 2 are 100 MB/s of a node."""
