"""How fast running results are from Python: by segfold, and by what people use instead.

    python running_benchmark.py [--elements N] [--rounds R] [--works A,B] [--layouts A,B] [--device host|cuda]

``sum`` is the running sum of one f32 column, ``recurrence`` is h = decay * h + input of two, ``rows`` the same of rows of 64 features; each begins
anew in every segment. On the host arrays are NumPy's, on CUDA torch's, and only libraries that compute there are measured: torch, JAX,
accelerated-scan and flash-linear-attention. Each result is judged before it is timed: sums of small integers must be exact, and each element of a
recurrence must follow from the one before it. A wrong result ends with exit code 1. Then each library runs once a round, one after the other, on the
host after all cores have read twice the bytes of the last cache. Printed are the median and the least of the rounds in ms, GB/s of the compulsory
bytes by the median (columns and results once), and the least time over that of segfold's plan. What is not installed is said, and left out.
"""

import argparse
import functools
import importlib.util
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads of OpenMP would take cores from the next contestant
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import fold_benchmark
import numpy as np

import segfold as sf

FEATURES = 64
ROWS = """operator recurrence(decay: row f32, input: row f32) -> each f32 {
  state { decay: f32 = 1; h: f32 = 0 }
  lift { decay = decay; h = input }
  combine(a, b) { decay = a.decay * b.decay; h = a.h * b.decay + b.h }
  scan(before, through) through.h
}"""
WORKS = ("sum", "recurrence", "rows")
PLAN = "segfold plan(out=...)"


def layouts(num_elements, seed=7):
    """Offsets by the name of the layout. No segment is empty."""
    lengths = np.random.default_rng(seed).geometric(1 / 32, num_elements // 16 + 1)
    known = {f"uniform {length}": np.full(num_elements // length + 1, length) for length in (32, 1024)}
    offsets = {name: fold_benchmark.cut(of, num_elements) for name, of in {**known, "geometric 32": lengths}.items()}
    return {"whole": np.array([0, num_elements]), **offsets}


class Problem:
    """Columns and their segments. ``length`` is that of all segments, or None if they differ."""

    def __init__(self, work, offsets, seed=5):
        random = np.random.default_rng(seed)
        rows, features = int(offsets[-1]), FEATURES if work == "rows" else 1
        shape = (rows, features) if work == "rows" else rows
        self.work, self.features = work, features
        self.offsets = offsets.astype(np.int32)
        self.lengths = np.diff(offsets)
        self.length = int(self.lengths[0]) if np.all(self.lengths == self.lengths[0]) else None
        if work == "sum":  # so few that all sums are exact in f32
            self.columns = (random.integers(-3, 4, shape).astype(np.float32),)
        else:
            self.columns = (random.random(shape, np.float32) / 2 + np.float32(0.5), random.standard_normal(shape, np.float32))

    @functools.cached_property
    def keys(self):
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    @functools.cached_property
    def is_first(self):
        first = np.zeros(self.offsets[-1], bool)
        first[self.offsets[:-1]] = True
        return first

    def segments(self, place):
        """What tells segfold the segments."""
        return {"uniform": self.length} if self.length else {"offsets": place(self.offsets)}

    def bytes_moved(self):
        return sum(column.nbytes for column in self.columns) + self.columns[0].nbytes

    def is_right(self, found):
        found = np.asarray(found)
        if found.shape != self.columns[0].shape:
            return False
        if self.work == "sum":
            wanted = np.cumsum(self.columns[0], dtype=np.float64)
            begins = self.offsets[:-1]
            return bool(np.array_equal(found, wanted - np.repeat(wanted[begins] - self.columns[0][begins], self.lengths)))
        decay, given = self.columns
        kept = np.zeros_like(found)
        kept[1:] = decay[1:] * found[:-1]
        kept[self.is_first] = 0
        return bool(np.all(np.abs(found - (kept + given)) <= 1e-5 * (1 + np.abs(kept) + np.abs(given))))


def operator_of(work):
    known = {"sum": lambda: sf.standard.sum.typed("f32").scanned(), "recurrence": lambda: sf.standard.linear_recurrence.typed("f32")}
    return known[work]() if work != "rows" else sf.operator(ROWS)


# The contestants. Each function takes a Problem, and returns the timed call, or None if the library has no function for it.


def segfold_plan(problem, backend, columns=None, place=lambda array: array, empty=np.empty_like):
    columns = problem.columns if columns is None else columns
    segments = problem.segments(place)
    plan = sf.plan(operator_of(problem.work), *columns, **segments, backend=backend)
    out = empty(columns[0])

    def call():
        plan(*columns, **segments, out=out)
        return out

    return call


def numpy_call(problem):
    (x, *others), out = problem.columns, np.empty_like(problem.columns[0])
    if others:
        return None
    if problem.length:
        by_rows = x.reshape(-1, problem.length)

        def equal():
            return np.cumsum(by_rows, axis=1, out=out.reshape(by_rows.shape)).reshape(-1)

        return equal
    begins, lengths = problem.offsets[:-1], problem.lengths

    def by_offsets():
        running = np.cumsum(x)  # exact, as the sums of a benchmark are; other sums would need f64
        return running - np.repeat(running[begins] - x[begins], lengths)

    return by_offsets


def numba_call(problem):
    if problem.work == "rows":
        return None
    loop, out = numba_loops()[problem.work], np.empty_like(problem.columns[0])

    def call():
        loop(*problem.columns, problem.offsets, out)
        return out

    return call


@functools.lru_cache(maxsize=None)
def numba_loops():
    """Loops over the elements of a segment, in parallel over segments."""
    import numba

    @numba.njit(parallel=True)
    def total(x, offsets, out):
        for s in numba.prange(len(offsets) - 1):
            value = np.float32(0)
            for i in range(offsets[s], offsets[s + 1]):
                value += x[i]
                out[i] = value

    @numba.njit(parallel=True)
    def recurrence(decay, given, offsets, out):
        for s in numba.prange(len(offsets) - 1):
            value = np.float32(0)
            for i in range(offsets[s], offsets[s + 1]):
                value = decay[i] * value + given[i]
                out[i] = value

    return {"sum": total, "recurrence": recurrence}


def polars_call(problem):
    import polars

    if problem.work != "sum":
        return None
    if len(problem.lengths) == 1:
        series = polars.Series("x", problem.columns[0])
        return lambda: series.cum_sum().to_numpy()
    frame = polars.DataFrame({"key": problem.keys, "x": problem.columns[0]})
    running = polars.col("x").cum_sum().over("key").alias("running")
    return lambda: frame.select(running)["running"].to_numpy()


def torch_call(problem, columns=None):
    import torch

    if problem.work != "sum" or not problem.length:
        return None
    x = torch.from_numpy(problem.columns[0]) if columns is None else columns[0]
    by_rows, out = x.view(-1, problem.length), torch.empty_like(x).view(-1, problem.length)

    def call():
        return torch.cumsum(by_rows, 1, out=out).view(-1)

    return call


def jax_call(problem):
    """Pairs (decay, value), whose decay is 0 where a segment begins."""
    import jax

    first = problem.is_first.reshape(-1, 1) if problem.work == "rows" else problem.is_first
    keeps = np.ones_like(problem.columns[0]) if problem.work == "sum" else problem.columns[0]
    pairs = [jax.numpy.asarray(part) for part in (np.where(first, np.float32(0), keeps), problem.columns[-1])]
    scan = jax.jit(lambda a, b: jax.lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b))[1])
    return lambda: scan(*pairs).block_until_ready()


def accelerated_call(problem, columns):
    """accelerated-scan takes sequences of one length, a power of two, with time as the last dimension; ours are brought there before."""
    from accelerated_scan.warp import scan

    if problem.work == "sum" or not problem.length or problem.length & (problem.length - 1) or not 32 <= problem.length <= 65536:
        return None
    gates, tokens = (column.view(-1, problem.length, problem.features).transpose(1, 2).contiguous() for column in columns)
    return lambda: scan(gates, tokens).transpose(1, 2).reshape(columns[0].shape)


def fla_call(problem, columns):
    """flash-linear-attention's HGRN: rows of features, decays as logarithms."""
    from fla.ops.hgrn import fused_recurrent_hgrn

    if problem.work != "rows" or not problem.length:
        return None
    decay, given = (column.view(-1, problem.length, problem.features) for column in columns)
    logarithms = decay.log()
    return lambda: fused_recurrent_hgrn(given, logarithms)[0].view(columns[0].shape)


HOST = {
    "NumPy cumsum": ("numpy", numpy_call),
    "numba, parallel loop": ("numba", numba_call),
    "polars cum_sum": ("polars", polars_call),
    "torch.cumsum": ("torch", torch_call),
    "JAX associative_scan": ("jax", jax_call),
}
CUDA = {
    "torch.cumsum": ("torch", torch_call),
    "JAX associative_scan": ("jax", lambda problem, columns: jax_call(problem)),
    "accelerated-scan": ("accelerated_scan", accelerated_call),
    "flash-linear-attention": ("fla", fla_call),
}


def host_milliseconds(call, others, library):
    fold_benchmark.read_by_all(others, library)
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e3


def cuda_milliseconds(call):
    """By the host's clock over eight calls, as JAX has a stream of its own."""
    import torch

    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(8):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3 / 8


def as_numpy(found):
    return found.cpu().numpy() if hasattr(found, "cpu") else np.asarray(found)


def measure(contestants, problem, rounds, milliseconds):
    """Judges the contestants, then times them in turns. Returns their times by name, None for those that are wrong."""
    rights = {name: problem.is_right(as_numpy(call())) for name, call in contestants.items()}
    taken = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            if rights[name]:
                taken[name].append(milliseconds(call))
    return {name: times or None for name, times in taken.items()}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--layouts", default="")
    parser.add_argument("--device", choices=["host", "cuda"], default="host")
    parser.add_argument("--backend", default="")
    words = parser.parse_args(arguments)
    chosen = [name.strip() for name in words.layouts.split(",")] if words.layouts else list(layouts(1024))
    works = words.works.split(",")
    if words.elements < 1024 * FEATURES or words.rounds < 1 or not set(chosen) <= set(layouts(1024)) or not set(works) <= set(WORKS):
        parser.error(f"{1024 * FEATURES} elements and a round are the least, layouts are {', '.join(layouts(1024))}, works are {', '.join(WORKS)}")
    libraries = {"host": HOST, "cuda": CUDA}[words.device]
    there = {name: make for name, (module, make) in libraries.items() if importlib.util.find_spec(module)}
    for name, (module, _) in libraries.items():
        if name not in there:
            print(f"{name}: left out, no {module} is installed")
    backend = words.backend or {"host": "cpu", "cuda": "cuda"}[words.device]
    if words.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise SystemExit("--device cuda needs a GPU")
        milliseconds = cuda_milliseconds
    else:
        library, others = fold_benchmark.host_peers("")[0], fold_benchmark.other_values()
        milliseconds = lambda call: host_milliseconds(call, others, library)  # noqa: E731
    print(f"{words.elements} numbers of f32 a column, {words.rounds} rounds, segfold on {backend}")
    print(f"{'work':10} {'layout':13} {'library':22} {'ms':>9} {'least':>9} {'GB/s':>7} {'x plan':>7}")
    is_all_right = True
    for work in works:
        for layout in chosen:
            problem = Problem(work, layouts(words.elements // (FEATURES if work == "rows" else 1))[layout])
            if words.device == "cuda":
                columns = [torch.from_numpy(column).cuda() for column in problem.columns]
                contestants = {PLAN: segfold_plan(problem, backend, columns, lambda array: torch.from_numpy(array).cuda(), torch.empty_like)}
                made = {name: make(problem, columns) for name, make in there.items()}
            else:
                contestants = {PLAN: segfold_plan(problem, backend)}
                made = {name: make(problem) for name, make in there.items()}
            contestants.update((name, call) for name, call in made.items() if call)
            taken = measure(contestants, problem, words.rounds, milliseconds)
            for name, times in taken.items():
                if times is None:
                    is_all_right = False
                    print(f"{work:10} {layout:13} {name:22} wrong results, not timed", flush=True)
                    continue
                plan = min(taken[PLAN]) if taken[PLAN] else float("nan")
                median = statistics.median(times)
                print(f"{work:10} {layout:13} {name:22} {median:9.3f} {min(times):9.3f} {problem.bytes_moved() / median / 1e6:7.2f} "
                      f"{min(times) / plan:7.2f}", flush=True)  # fmt: skip
    return 0 if is_all_right else 1


if __name__ == "__main__":
    sys.exit(main())
