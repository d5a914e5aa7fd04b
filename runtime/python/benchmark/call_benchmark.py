"""What a call of few elements costs on the host: 1000 elements in 20 segments, in microseconds.

    PYTHONPATH=build/ci/python python runtime/python/benchmark/call_benchmark.py

The least of many repetitions, which other load changes little, of a call and of a plan that knows the longest segment, as a call does. The
last rows are first calls of sizes that change each time: the median.
"""

import time
import warnings

import numpy as np

import segfold as sf

REPEATS = 1500
GREATER = "operator greater(x: f32) -> f32 { state v: f32 = -inf lift x combine(a, b) a > b ? a : b }"
DECAY = """operator decay(x: f32, rate: scalar f32) -> f32 { state { w: f32 = 1; s: f32 = 0 } lift { w = rate; s = x }
  combine(a, b) { w = a.w * b.w; s = a.s * b.w + b.s } finish s }"""


def microseconds(call):
    for _ in range(20):
        call()
    least = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter_ns()
        call()
        least = min(least, time.perf_counter_ns() - begin)
    return least / 1e3


def operators():
    """Returns (name, operator, columns and scalars) of each call."""
    random = np.random.default_rng(1)
    x, integers = random.normal(size=1000).astype(np.float32), random.integers(-1000, 1000, 1000)
    yield "`sum` f32", sf.standard.sum, (x,)
    yield "`norm` f32", sf.standard.norm, (x,)
    yield "`mean_variance` f32", sf.standard.mean_variance, (x,)
    yield "`argmax` f32", sf.standard.argmax, (x,)
    yield "`max_subarray` i64", sf.standard.max_subarray, (integers,)
    yield "of one's own, NaN refutes it", sf.operator(GREATER), (x,)
    yield "of one's own, with a scalar", sf.operator(DECAY), (x, 0.5)


def segments():
    offsets = np.r_[0, np.sort(np.random.default_rng(2).integers(0, 1000, 19)), 1000].astype(np.int32)
    lengths = np.diff(offsets)
    flags = np.zeros(1000, bool)
    flags[offsets[:-1][lengths > 0]] = True
    keys = np.repeat(np.arange(20, dtype=np.int32), lengths)
    yield "one", {}
    yield "`uniform=`", {"uniform": 50}
    yield "`offsets=`", {"offsets": offsets}
    yield "`lengths=`", {"lengths": lengths}
    yield "`ranges=`", {"ranges": (offsets[:-1], offsets[1:])}
    yield "`flags=`", {"flags": flags}
    yield "`keys=`", {"keys": keys}
    yield "`keys=`, in no order, sorted", {"keys": keys[::-1].copy(), "sort_keys": True}


def changing(op, make, count=300):
    random, seconds = np.random.default_rng(3), []
    for size in random.integers(200, 3000, count):
        offsets = np.r_[0, np.sort(random.integers(0, size, random.integers(5, 60))), size]
        values = make(random, size)
        begin = time.perf_counter()
        op(values, offsets=offsets, backend="cpu")
        seconds.append(time.perf_counter() - begin)
    return 1e6 * float(np.median(seconds[10:]))


def main():
    warnings.simplefilter("ignore")
    by = dict(segments())
    x = next(operators())[2][0]
    print("| sum, segments | call, us |\n| --- | ---: |")
    for name, words in by.items():
        print(f"| {name} | {microseconds(lambda: sf.standard.sum(x, backend='cpu', **words)):.1f} |", flush=True)
    print("\n| operator, by offsets | call, us | its plan |\n| --- | ---: | ---: |")
    offsets = by["`offsets=`"]["offsets"]
    for name, op, columns in operators():
        plan = sf.plan(op, *columns, offsets=offsets, backend="cpu", longest=int(np.diff(offsets).max()))
        call = microseconds(lambda: op(*columns, offsets=offsets, backend="cpu"))
        print(f"| {name} | {call:.1f} | {microseconds(lambda: plan(*columns, offsets=offsets)):.1f} |", flush=True)
    print("\n| sizes change | first call of each, us |\n| --- | ---: |")
    print(f"| `sum` f32 | {changing(sf.standard.sum, lambda random, n: random.normal(size=n).astype(np.float32)):.0f} |")
    print(f"| `max_subarray` i64 | {changing(sf.standard.max_subarray, lambda random, n: random.integers(-1000, 1000, n)):.0f} |")


if __name__ == "__main__":
    main()
