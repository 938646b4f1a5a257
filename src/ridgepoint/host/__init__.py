"""What this host is, as its kernel tells it: processor, caches, topology, limits, activity."""

from ridgepoint.host.activity import Activity, of_activity
from ridgepoint.host.caches import data_caches
from ridgepoint.host.files import parse_cpu_list
from ridgepoint.host.system import System, fingerprint, hostname, kernel, usable_cpus
from ridgepoint.host.topology import Topology

__all__ = [
    "Activity",
    "System",
    "Topology",
    "data_caches",
    "fingerprint",
    "hostname",
    "kernel",
    "of_activity",
    "parse_cpu_list",
    "usable_cpus",
]
