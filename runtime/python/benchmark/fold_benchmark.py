"""How fast segments of an array of the host are folded from Python: by segfold, and by what people use instead.

    python fold_benchmark.py [--elements N] [--rounds R] [--backend B] [--layouts A,B] [--operators A,B] [--cccl FOLDER]

For every layout and operator, each library folds the same f32 column (2^24 elements) once a round, one after the other, after one
fold that is not timed. Before each call all cores read twice as many bytes as the last cache holds, so that columns come from memory: a
processor shared by many may keep 2^24 elements in its last cache, and then nothing tells how fast its memory is. Printed are the medians of the rounds (7), their spread (the middle half of them, as a part of the median), GB/s
of the compulsory bytes (the column, offsets of 32 bits and results, each once), the share of the rate at which all cores read the
column in the same rounds, and how many times as long as segfold's plan each takes. Results are compared with sums in f64; a
difference ends with exit code 1. Thrust on OpenMP and the reading of all cores are compiled from host_peers.cpp with the headers of
CCCL (those of a CUDA toolkit in $SEGFOLD_TOOLKIT or /usr/local/cuda, if --cccl names none). What is not installed is said, and left out.
"""

import argparse
import ctypes
import functools
import importlib.util
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads of OpenMP would take cores from the next contestant

import numpy as np

import segfold as sf


def cut(lengths, num_elements):
    """Offsets of segments of these lengths, as many as ``num_elements`` fill; none is empty."""
    ends = np.cumsum(lengths)
    return np.concatenate([[0], ends[ends < num_elements], [num_elements]]).astype(np.int64)


def layouts(num_elements, seed=7):
    """Offsets by the name of the layout. All lengths are above 0, because ``reduceat`` cannot fold empty segments."""
    generator = np.random.default_rng(seed)
    half = num_elements // 2
    return {
        **{f"uniform {length}": lambda length=length: cut(np.full(num_elements // length + 1, length), num_elements)
           for length in (4, 32, 1024)},
        "geometric 4": lambda: cut(generator.geometric(1 / 4, num_elements // 2), num_elements),
        "geometric 32": lambda: cut(generator.geometric(1 / 32, num_elements // 16), num_elements),
        "zipf 1.9": lambda: cut(np.minimum(generator.zipf(1.9, num_elements), half), num_elements),
        "giant": lambda: cut(np.concatenate([np.full(half // 8, 4), [half], np.full(half // 8 + 1, 4)]), num_elements),
    }  # fmt: skip


class Problem:
    """A column and its segments, in every form that a library needs. Forms are made before the clock starts."""

    def __init__(self, x, offsets):
        self.x, self.wide_offsets = x, offsets
        self.offsets = offsets.astype(np.int32) if offsets[-1] <= np.iinfo(np.int32).max else offsets
        self.begins = offsets[:-1].copy()
        self.lengths = np.diff(offsets)

    @functools.cached_property
    def keys(self):
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    def bytes_moved(self, num_results):
        return self.x.nbytes + self.offsets.nbytes + 4 * num_results * len(self.lengths)


# The contestants. Each function takes a Problem and returns the timed call, which returns a tuple of arrays.


def segfold_call(problem, operator, backend):
    op = getattr(sf.standard, operator)

    def call():
        found = op(problem.x, offsets=problem.offsets, backend=backend)
        return tuple(found) if isinstance(found, tuple) else (found,)

    return call


def segfold_plan(problem, operator, backend):
    plan = sf.plan(getattr(sf.standard, operator), problem.x, offsets=problem.offsets, backend=backend)
    out = tuple(np.empty(len(problem.lengths), np.float32) for _ in plan.operator.results)

    def call():
        plan(problem.x, offsets=problem.offsets, out=out)
        return out

    return call


def numpy_call(problem, operator):
    x, begins, lengths = problem.x, problem.begins, problem.lengths.astype(np.float32)

    def total():
        return (np.add.reduceat(x, begins),)

    def mean_variance():
        mean = np.add.reduceat(x, begins) / lengths
        off = x - np.repeat(mean, problem.lengths)
        return mean, np.add.reduceat(off * off, begins) / lengths

    return {"sum": total, "mean_variance": mean_variance}[operator]


def torch_call(problem, operator):
    import torch

    x, offsets = torch.from_numpy(problem.x), torch.from_numpy(problem.wide_offsets)
    lengths = torch.from_numpy(problem.lengths)

    def total():
        return (torch.segment_reduce(x, "sum", offsets=offsets, axis=0).numpy(),)

    def mean_variance():
        mean = torch.segment_reduce(x, "mean", offsets=offsets, axis=0)
        off = x - mean.repeat_interleave(lengths, output_size=len(x))
        return mean.numpy(), torch.segment_reduce(off * off, "mean", offsets=offsets, axis=0).numpy()

    return {"sum": total, "mean_variance": mean_variance}[operator]


def numba_call(problem, operator):
    loop = numba_loops()[operator]
    return lambda: loop(problem.x, problem.offsets)


@functools.lru_cache(maxsize=None)
def numba_loops():
    """A parallel loop over segments. The first call, which is not timed, compiles it."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def total(x, offsets):
        sums = np.empty(len(offsets) - 1, np.float32)
        for s in numba.prange(len(offsets) - 1):
            value = np.float32(0)
            for i in range(offsets[s], offsets[s + 1]):
                value += x[i]
            sums[s] = value
        return (sums,)

    @numba.njit(parallel=True, fastmath=True)
    def mean_variance(x, offsets):
        means, variances = np.empty(len(offsets) - 1, np.float32), np.empty(len(offsets) - 1, np.float32)
        for s in numba.prange(len(offsets) - 1):
            begin, end = offsets[s], offsets[s + 1]
            value = np.float32(0)
            for i in range(begin, end):
                value += x[i]
            mean = value / np.float32(end - begin)
            squares = np.float32(0)
            for i in range(begin, end):
                squares += (x[i] - mean) * (x[i] - mean)
            means[s], variances[s] = mean, squares / np.float32(end - begin)
        return means, variances

    return {"sum": total, "mean_variance": mean_variance}


def polars_call(problem, operator):
    import polars

    frame = polars.DataFrame({"key": problem.keys, "x": problem.x}).with_columns(polars.col("key").set_sorted())
    x = polars.col("x")
    wanted = {"sum": [x.sum()], "mean_variance": [x.mean(), x.var(ddof=0).alias("variance")]}[operator]

    def call():
        found = frame.group_by("key", maintain_order=True).agg(wanted)
        return tuple(found[name].to_numpy() for name in found.columns[1:])

    return call


@functools.lru_cache(maxsize=None)
def host_peers(cccl):
    """Compiles host_peers.cpp. Returns ``(library, "")``, or ``(None, reason)`` if that fails."""
    toolkit = pathlib.Path(os.environ.get("SEGFOLD_TOOLKIT") or "/usr/local/cuda") / "include"
    folders = [pathlib.Path(cccl)] if cccl else [toolkit / "cccl", toolkit]
    found = [folder for folder in folders if (folder / "thrust" / "version.h").is_file()]
    if not found:
        return None, f"{folders[0]} has no thrust/version.h; --cccl names the folder that holds the headers of CCCL"
    source = pathlib.Path(__file__).with_name("host_peers.cpp")
    command = [*shlex.split(os.environ.get("CXX") or "g++"), "-std=c++17", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/host_peers.so"
        try:
            subprocess.run([*command, "-w", "-isystem", found[0], "-o", file, source], check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            return None, f"host_peers.cpp does not compile: {said.strip().splitlines()[0]}"
        library = ctypes.CDLL(file)
    library.read_by_all.restype = ctypes.c_float
    return library, ""


def thrust_call(problem, operator, library):
    x, keys = problem.x, problem.keys
    out = tuple(np.empty(len(problem.lengths), np.float32) for _ in range(1 if operator == "sum" else 2))
    fold = {"sum": library.thrust_sum, "mean_variance": library.thrust_mean_variance}[operator]
    places = [ctypes.c_void_p(array.ctypes.data) for array in out]

    def call():
        fold(ctypes.c_void_p(keys.ctypes.data), ctypes.c_void_p(x.ctypes.data), ctypes.c_int64(len(x)), *places)
        return out

    return call


def read_call(problem, library):
    return lambda: read_by_all(problem.x, library)


def read_by_all(x, library):
    if library is None:
        return x.sum()
    return library.read_by_all(ctypes.c_void_p(x.ctypes.data), ctypes.c_int64(len(x)))


def other_values():
    """Values that fill the last cache: twice its bytes, at least 64 MiB and at most 2 GiB."""
    known = "SC_LEVEL3_CACHE_SIZE" in os.sysconf_names
    cache = os.sysconf("SC_LEVEL3_CACHE_SIZE") if known else 0
    return np.ones(min(max(2 * cache, 64 << 20), 2 << 30) // 4, np.float32)


READING = "read by all cores"
THRUST = "Thrust OpenMP"
PLAN = "segfold plan(out=...)"
LIBRARIES = {
    "NumPy reduceat": ("numpy", numpy_call),
    "torch.segment_reduce": ("torch", torch_call),
    "numba, parallel loop": ("numba", numba_call),
    "polars group_by": ("polars", polars_call),
}


def is_right(results, problem, operator):
    """Compares with sums in f64, within the rounding error of a sum of that many values."""
    x = problem.x.astype(np.float64)
    wanted = [np.add.reduceat(x, problem.begins)]
    if operator == "mean_variance":
        mean = wanted[0] / problem.lengths
        wanted = [mean, np.add.reduceat((x - np.repeat(mean, problem.lengths)) ** 2, problem.begins) / problem.lengths]
    scale = np.add.reduceat(np.abs(x), problem.begins) if operator == "sum" else np.float64(1)
    allowed = [1e-6 * np.maximum(problem.lengths, 8) ** 0.5 * scale + 1e-6] * len(wanted)
    return len(results) == len(wanted) and all(
        len(found) == len(value) and bool(np.all(np.abs(found - value) <= bound))
        for found, value, bound in zip(results, wanted, allowed)
    )


def measure(contestants, problem, operator, rounds, empty_cache):
    """Times the contestants in turns. Returns ``{name: seconds of each round}`` and ``{name: whether it is right}``."""
    rights = {name: name == READING or is_right(call(), problem, operator) for name, call in contestants.items()}
    taken = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            empty_cache()
            begin = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - begin)
    return taken, rights


def spread(seconds):
    """The interquartile range of the rounds / their median."""
    if len(seconds) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(seconds, n=4)
    return (high - low) / middle


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--backend", default=sf.automatic_backend())
    parser.add_argument("--layouts", default="")
    parser.add_argument("--operators", default="sum,mean_variance")
    parser.add_argument("--cccl", default="")
    words = parser.parse_args(arguments)
    known = layouts(words.elements)
    chosen = [name.strip() for name in words.layouts.split(",")] if words.layouts else list(known)
    if words.elements < 16 or words.rounds < 1 or not set(chosen) <= set(known):
        parser.error(f"16 elements and a round are the least, and the layouts are {', '.join(known)}")
    operators = words.operators.split(",")
    if not set(operators) <= {"sum", "mean_variance"}:
        parser.error("the operators are sum, mean_variance")

    print(f"{words.elements} elements of f32, {words.rounds} rounds, segfold on {words.backend}")
    there = {name: make for name, (module, make) in LIBRARIES.items() if importlib.util.find_spec(module)}
    for name, (module, _) in LIBRARIES.items():
        if name not in there:
            print(f"{name}: left out, no {module} is installed")
    library, reason = host_peers(words.cccl)
    if library is None:
        print(f"{THRUST}: left out, {reason}")
    x = np.random.default_rng(5).random(words.elements, np.float32)
    others = other_values()
    is_all_right = True
    print(f"{'operator':14} {'layout':13} {'library':22} {'ms':>9} {'spread':>6} {'GB/s':>7} {'share':>6} {'x plan':>7}")
    for operator in operators:
        for layout in chosen:
            problem = Problem(x, known[layout]())
            contestants = {READING: read_call(problem, library)} if library else {}
            contestants["segfold op(...)"] = segfold_call(problem, operator, words.backend)
            contestants[PLAN] = segfold_plan(problem, operator, words.backend)
            if library:
                contestants[THRUST] = thrust_call(problem, operator, library)
            contestants.update((name, make(problem, operator)) for name, make in there.items())
            taken, rights = measure(contestants, problem, operator, words.rounds, lambda: read_by_all(others, library))
            medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
            moved = problem.bytes_moved(1 if operator == "sum" else 2)
            for name, seconds in medians.items():
                rate = (x.nbytes if name == READING else moved) / seconds
                share = f"{rate * medians[READING] / x.nbytes:6.2f}" if library else f"{'-':>6}"
                is_all_right &= rights[name]
                print(f"{operator:14} {layout:13} {name:22} {seconds * 1e3:9.3f} {spread(taken[name]):6.2f} {rate / 1e9:7.2f} {share} "
                      f"{seconds / medians[PLAN]:7.2f}{'' if rights[name] else '  wrong results'}", flush=True)  # fmt: skip
    return 0 if is_all_right else 1


if __name__ == "__main__":
    sys.exit(main())
