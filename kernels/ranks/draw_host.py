"""Measures rows for the order of the host's stages. Times plans of the package, as calls take them, with every stage.

    PYTHONPATH=build/launch/python python kernels/ranks/draw_host.py build/launch/runtime/segfold FILE.csv [--seed S]
        [--count N] [--most 2^22] [--operators sum:f32,argmax:f64]

appends rows to FILE.csv, which belongs into kernels/ranks/rows. `segfold bench` gives the facts of each operator and the
hashes of the stages' texts. Then N workloads by lot are timed, with equal lengths or with unequal lengths of five kinds. Data stay
in the cache, as they do in a program that has just made them. A stage's time is the least of some hundred runs in five rounds,
because other work on the machine changes this time little. Needs numpy and the package.
"""

import argparse
import csv
import io
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import segfold as sf

OPERATORS = ("sum:f32 sum:f64 sum:i8 sum:i32 max:f32 max:i16 norm:f32 norm:f64 mean:f32 product:f64 argmax:f32 argmin:f64 "
             "mean_variance:f32 mean_variance:f64 max_subarray:i64 max_subarray:f32 affine:u32 affine:f32 log_sum_exp:f32 "
             "log_sum_exp:f64 is_sorted:i32 dot:f32 weighted_mean:f64 cosine:f32 range:f32 count_nonzero:i8 all:bool any:bool "
             "polynomial_hash:u64 complex_product:f32 matrix_2x2:f64 linear_regression:f32 top_four:f32 longest_run:i32 "
             "kahan_sum:f32 bounding_box:f32 quaternion_product:f64 exponential_average:f32 first_number:f32 bit_xor:u64 "
             "wide_sum:i8 histogram_8:i32 entropy:f32 harmonic_mean:f64 count_runs:i32 count_above:f32 max_norm:f32")
STAGES = ("vector_per_segment", "lane_per_segment", "lane_scan", "row_tree")
SLICE = 32  # segments that the fact "padded" counts with the length of the longest of them
ROUNDS = 5
ROUND_SECONDS = 0.004


def lengths_by_lot(lot, elements):
    """Returns lengths that add up to about `elements`: equal lengths, or unequal ones of one of five kinds."""
    mean = int(2 ** lot.uniform(0, np.log2(elements)))
    count = max(1, elements // mean)
    kind = lot.integers(0, 9)
    if kind < 4:
        return np.full(count, mean)
    if kind == 4:
        lengths = lot.geometric(1 / mean, count)
    elif kind == 5:
        lengths = lot.integers(0, 2 * mean + 1, count)
    elif kind == 6:
        lengths = np.floor(lot.lognormal(np.log(mean), lot.uniform(0.3, 2), count)).astype(np.int64)
    elif kind == 7:
        lengths = lot.poisson(mean, count)
    else:
        lengths = np.where(lot.random(count) < 0.5, 0, lot.integers(1, 4 * mean + 1, count))
    lengths = lengths[np.cumsum(lengths) <= elements]
    return np.append(lengths, max(1, elements - lengths.sum()))


def padded(lengths):
    starts = np.arange(0, len(lengths), SLICE)
    return int((np.maximum.reduceat(lengths, starts) * np.diff(np.append(starts, len(lengths)))).sum())


def columns_of(op, kind, elements, lot):
    dtypes = {"bool": "?", "f16": "f2", "f32": "f4", "f64": "f8"}
    for _, declared, _ in op.parameters:
        name = kind if declared == "T" else declared
        dtype = np.dtype(dtypes.get(name) or name[0] + str(int(name[1:]) // 8))
        if dtype.kind == "f":
            yield lot.uniform(0.5, 1.5, elements).astype(dtype)
        else:
            yield lot.integers(0, 2 if dtype.kind == "b" else 100, elements).astype(dtype)


def least_seconds(calls):
    """Returns the least time of each call. Calls take turns in rounds."""
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            until = time.perf_counter() + ROUND_SECONDS
            call()
            while True:
                begin = time.perf_counter()
                call()
                end = time.perf_counter()
                least[i] = min(least[i], end - begin)
                if end > until:
                    break
    return least


def model_of(program, name, kind):
    """Returns a row of the operator as `segfold bench` writes it, or None if no stage of the host folds it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.csv"
        done = subprocess.run([program, "bench", name, "--type", kind, "--sweep", "lot:1,seed=1", "--from", "2^12", "--to", "2^12",
                        "--backend", "cpu", "--peers", "none", "--no-tune", "--repeat", "3", "--rates", file],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{name}: {done.stderr}")
        return next(csv.DictReader(io.StringIO(file.read_text())), None) if file.exists() else None


def rows_of(name, kind, model, asked, lot):
    op = getattr(sf.standard, name)
    texts = dict(plan.rsplit("=", 1)[0].split("@") for plan in model["rates"].split())
    for _ in range(asked.count):
        elements = int(2 ** lot.uniform(6, np.log2(asked.most)))
        lengths = lengths_by_lot(lot, elements)
        elements, longest = int(lengths.sum()), int(lengths.max())
        is_equal = longest == lengths.min()
        segments = {"uniform": longest} if is_equal else {"offsets": np.r_[0, np.cumsum(lengths)]}
        columns = list(columns_of(op, kind, elements, lot))
        calls = {}
        for stage in STAGES:
            if stage not in texts:
                continue
            try:
                plan = sf.plan(op, *columns, **segments, stage=stage, backend="cpu", longest=longest)
            except sf.Error:
                continue
            out = plan(*columns, **segments)
            out = tuple(out.values()) if isinstance(out, dict) else out
            calls[stage] = lambda plan=plan, out=out: plan(*columns, **segments, out=out)
        least = dict(zip(calls, least_seconds(list(calls.values()))))
        if len(least) < 2:
            continue
        best = min(least.values())
        rates = " ".join(f"{stage}@{texts[stage]}={best / seconds:.4g}" for stage, seconds in least.items())
        yield {**model, "form": "uniform" if is_equal else "offsets", "elements": elements, "segments": len(lengths),
               "longest": longest, "padded": elements if is_equal else padded(lengths), "rates": rates}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--most", type=lambda text: 2 ** int(text[2:]) if text.startswith("2^") else int(text), default=2**22)
    parser.add_argument("--operators", default=OPERATORS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lot = np.random.default_rng(asked.seed)
    for word in asked.operators.replace(",", " ").split():
        name, kind = word.split(":")
        begin = time.monotonic()
        model = model_of(asked.program, name, kind)
        if model is None:
            print(f"{word}: no stage of the host folds it", flush=True)
            continue
        rows = list(rows_of(name, kind, model, asked, lot))
        is_new = not asked.file.exists()
        with open(asked.file, "a", newline="") as table:
            writer = csv.DictWriter(table, list(model), lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerows(rows)
        print(f"{word}: {len(rows)} workloads, {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
