"""Prints and writes measured clusters."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ridgepoint.cli.common import console, print_json
from ridgepoint.cli.tables import beside
from ridgepoint.core.documents import to_fields
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.show.data_tables.machine import cluster_tables
from ridgepoint.show.tables import network_table


def show_cluster(cluster: MeasuredCluster, *, as_json: bool) -> None:
    """Print a cluster on standard output, and write its tables."""
    with beside(lambda: cluster_tables(cluster)) as is_shown:
        if as_json:
            print_json(to_fields(cluster))
        elif is_shown:
            console().print(network_table.cluster(cluster))
    sys.stdout.flush()


def write_cluster(cluster: MeasuredCluster, outputs: Sequence[Path]) -> None:
    """Write bandwidth and time over the size of messages to each file."""
    if outputs:
        from ridgepoint.cli.pictures import save_picture
        from ridgepoint.show.charts.network import network_page
        from ridgepoint.show.page.build import page_of
        from ridgepoint.show.page.records import ShownRecord

        shown = ShownRecord(key="measured", value=cluster)
        save_picture(network_page(cluster), outputs, page=lambda: page_of([shown]))
