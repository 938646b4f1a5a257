"""Keep pytest from importing modules that need a library which only its users have."""

collect_ignore_glob = ["ridgepoint/profiling/operators/pytorch/*.py"]
