"""Groups in any order on the host beside polars, pandas and NumPy, where these are: milliseconds, as a table.

    PYTHONPATH=build/ci/python python runtime/python/benchmark/group_benchmark.py [ELEMENTS]

f32 values, i64 numbers of groups that are drawn independently, each of them the same often. `groups=` knows how many groups there are, `by=` and
the peers find them; polars gives them in any order, the others ascending. The median of rounds in which all take turns, with the
quartiles' distance from it in percent.
"""

import importlib
import importlib.metadata
import os
import sys
import time

import numpy as np

import segfold as sf

ROUNDS = 9


def works(x, numbers, num_groups):
    """Yields the name of a work, and its calls by name."""
    total, spread = sf.standard.sum, sf.standard.mean_variance
    peers = {name: module for name in ("polars", "pandas") if (module := found(name))}
    sums = {
        "`groups=`": lambda: total(x, groups=numbers, num_groups=num_groups),
        "`by=`": lambda: total(x, by=numbers),
        "NumPy `bincount`": lambda: np.bincount(numbers, x, num_groups),
    }
    spreads = {"`groups=`": lambda: spread(x, groups=numbers, num_groups=num_groups), "`by=`": lambda: spread(x, by=numbers)}
    if "polars" in peers:
        polars = peers["polars"]
        table = polars.DataFrame({"g": numbers, "x": x}).lazy().group_by("g")
        column = polars.col("x")
        sums["polars"] = lambda: table.agg(column.sum()).collect()
        spreads["polars"] = lambda: table.agg(column.mean(), column.var(ddof=0).alias("v")).collect()
    if "pandas" in peers:
        frame = peers["pandas"].DataFrame({"g": numbers, "x": x})
        sums["pandas"] = lambda: frame.groupby("g")["x"].sum()
        spreads["pandas"] = lambda: frame.groupby("g")["x"].agg(["mean", "var"])
    yield "`sum`", sums
    yield "`mean_variance`", spreads


def found(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def milliseconds(calls):
    """The median of each call's times, and the distance of its quartiles in percent."""
    times = {name: [] for name in calls}
    for turn in range(ROUNDS + 1):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            if turn:  # the first one compiles
                times[name].append(1e3 * (time.perf_counter() - begin))
    quartiles = {name: np.percentile(all_of, [25, 50, 75]) for name, all_of in times.items()}
    return {name: (q[1], 100 * (q[2] - q[0]) / (2 * q[1])) for name, q in quartiles.items()}


def main(num_elements):
    random = np.random.default_rng(1)
    x = random.standard_normal(num_elements, dtype=np.float32)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "polars", "pandas") if found(name)]
    print(f"{num_elements} elements, {os.cpu_count()} cores, {', '.join(versions)}\n")
    head = None
    for num_groups in (16, 1000, 1_000_000):
        for work, calls in works(x, random.integers(0, num_groups, num_elements), num_groups):
            if head is None:
                head = list(calls)
                print(f"| groups | work | {' | '.join(head)} |\n| ---: | --- |{' ---: |' * len(head)}")
            found_times = milliseconds(calls)
            cells = [f"{found_times[name][0]:.3g} ±{found_times[name][1]:.0f} %" if name in found_times else "–" for name in head]
            print(f"| {num_groups} | {work} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
