"""A workload in PySpark, in a process of its own.

It prints a line of JSON about its start, one about each run, and one about what came out of it.
Its only imports are of the standard library and PySpark: it runs in a child, by its path.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from typing import Any

_PARTITION_BYTES = 1 << 26
_MOST_IN_ORDER = 10_000_000
"""Records whose order is compared one by one."""
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_MASK = (1 << 64) - 1


def main() -> None:
    """Start Spark, then run a workload as often as asked for, and print what came out of it."""
    asked = _arguments()
    begun = time.perf_counter()
    spark = _session(asked)
    started_s = time.perf_counter() - begun
    _print(
        started_s=started_s,
        spark=spark.version,
        java=spark.sparkContext._jvm.System.getProperty("java.version"),
    )
    run, check = _WORKLOADS[asked.workload](spark, asked)
    run()  # the first run compiles
    deadline = time.perf_counter() + asked.limit_s
    for number in range(asked.repeat):
        if number and time.perf_counter() > deadline:
            break
        begun = time.perf_counter()
        run()
        _print(seconds=time.perf_counter() - begun)
    _print(result=check())
    spark.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=sorted(_WORKLOADS))
    parser.add_argument("--input", required=True)
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--memory-mib", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--limit-s", type=float, required=True)
    parser.add_argument("--pattern", default="")
    return parser.parse_args()


def _print(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def _session(asked: argparse.Namespace) -> Any:
    from pyspark.sql import SparkSession

    partitions = max(asked.threads, asked.bytes // _PARTITION_BYTES)
    spark = (
        SparkSession.builder.master(f"local[{asked.threads}]")
        .appName("ridgepoint")
        .config("spark.driver.memory", f"{asked.memory_mib}m")
        .config("spark.sql.shuffle.partitions", partitions)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


Job = tuple[Callable[[], Any], Callable[[], dict[str, Any]]]
"""What is timed, and what yields the results that are compared."""


def _sort(spark: Any, asked: argparse.Namespace) -> Job:
    from pyspark.sql.functions import col, trim

    ordered = (
        spark.read.text(asked.input).select(trim(col("value")).cast("long").alias("n")).sort("n")
    )

    def check() -> dict[str, Any]:
        records = ordered.count()
        if records > _MOST_IN_ORDER:
            return {"records": records}
        checksum, first, last = 0, None, None
        for row in ordered.toLocalIterator():
            value = row.n
            first, last = value if first is None else first, value
            checksum = (
                ((checksum ^ (value & _MASK)) * 0x9E3779B97F4A7C15) + (checksum >> 32)
            ) & _MASK
        return {"records": records, "first": first, "last": last, "checksum": checksum}

    # All of it is sorted, and nothing written, as in the C++ program.
    return lambda: ordered.write.format("noop").mode("overwrite").save(), check


def _grep(spark: Any, asked: argparse.Namespace) -> Job:
    from pyspark.sql.functions import coalesce, expr, lit

    lines = spark.read.text(asked.input)
    # A look ahead counts occurrences that overlap, as the C++ program does.
    wanted = "(?=" + re.sub(r"([^A-Za-z0-9_ ])", r"\\\1", asked.pattern) + ")"
    quoted = wanted.replace("\\", "\\\\").replace("'", "\\'")

    def run() -> dict[str, Any]:
        found = lines.select(coalesce(expr(f"sum(regexp_count(value, '{quoted}'))"), lit(0)))
        return {"matches": found.first()[0]}

    return run, run


def _wordcount(spark: Any, asked: argparse.Namespace) -> Job:
    from pyspark.sql.functions import coalesce, col, count, explode, lit, split, sum, translate
    from pyspark.sql.functions import max as most_of

    lowered = translate(col("value"), _UPPER, _LOWER)  # letters of ASCII alone
    words = (
        spark.read.text(asked.input)
        .select(explode(split(lowered, "[^a-z0-9]+")).alias("word"))
        .where("word != ''")
    )
    counts = words.groupBy("word").agg(count("*").alias("n"))

    def run() -> dict[str, Any]:
        found = counts.select(
            coalesce(sum("n"), lit(0)), count("*"), coalesce(most_of("n"), lit(0))
        ).first()
        return {"words": found[0], "distinct": found[1], "most": found[2]}

    return run, run


_WORKLOADS: dict[str, Callable[[Any, argparse.Namespace], Job]] = {
    "sort": _sort,
    "grep": _grep,
    "wordcount": _wordcount,
}

if __name__ == "__main__":
    main()
