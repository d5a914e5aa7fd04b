"""Measures rows for the order of stages: workloads by lot, each timed with every stage that can serve it.

    python3 kernels/ranks/draw.py build/portable/runtime/segfold FILE.csv [--seed S] [--minutes M] [--backend cpu]
        [--kinds fold,map,rows,scan,groups] [--operators sum:f32,affine:u32] [--count N] [--phase compile|time] [--settings]

appends to FILE.csv, which belongs into kernels/ranks/rows, or with --settings into kernels/ranks/settings; kernels/ranks/grow.py then grows the order. Run it again after
the text of a stage has changed: rows of its older text count less. Kernels are compiled first, by as many processes as
the machine has processors; then each workload is timed alone, until M minutes (8) are over. With --count each operator
and form of segments gets so many workloads. Tuning records are left aside.

With --settings the rows are those of configurations: of the three stages that rank first, all that candidates.txt names.
kernels/ranks/configure.py grows from them which configuration a stage has.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

KERNELS = pathlib.Path(__file__).resolve().parent.parent
FOLDS = ("sum:f32 sum:f64 sum:f16 sum:i8 product:f64 max:i8 max:i16 affine:u32 argmax:f32 max_subarray:f32 "
         "mean_variance:f32 log_sum_exp:f32 is_sorted:i32 complex_product:f32 polynomial_hash:u64 spmv:f32 "
         "sum_of_squares:f32 range:f32 min:f64 bit_or:u32 bounding_box:f32 correlation:f32 cosine:f32 count_above:f32 "
         "count_runs:i32 double_double_sum:f32 entropy:f32 euclidean_distance:f32 exponential_average:f32 first_four:f32 "
         "first_number:f32 geometric_mean:f32 harmonic_mean:f64 histogram_16:i32 hyperloglog:i32 last:f32 lcm:i16 "
         "linear_regression:f32 max_norm:f32 max_plus_2x2:f32 matrix_3x3:f32 mean:f16 moments:f64 norm:f32 "
         "quantile_sketch:f32 top_eight:f32 weighted_mean:f32 wide_sum:i8 trace:i32 argmin:f64 automaton:i32 "
         "binned_sum:f32 log_sum_exp:f64 is_sorted:i64 count_nonzero:i8 longest_run:i32 matrix_2x2:f64 min_plus_2x2:f32 "
         "top_four:i32 kahan_sum:f64 quaternion_product:f64 bit_xor:i64 histogram_8:u8 all:bool max_subarray:i32 "
         "affine:f64 spmv:f64 polynomial_hash:u32")
MAPS = "softmax:f32 softmax:f16 standardise:f32 share:f64 masked_softmax:f32"
# Folds of rows: x is one number of a row, or of the row of a table that a column names.
ROWS = ("operator row_sum(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b laws commutative }",
        "operator row_sum(x: row f16) -> f16 { state s: f16 = 0 lift x combine(a, b) a + b laws commutative }",
        "operator row_gather(i: i32, t: table row f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b laws commutative }",
        "operator row_affine(a: row f32, b: row f32) -> (scale: f32, shift: f32) { state { p: f32 = 1; q: f32 = 0 } "
        "lift { p = a; q = b } combine(l, r) { p = l.p * r.p; q = r.p * l.q + r.q } finish { scale = p; shift = q } }")
ROW_MAPS = ("operator row_softmax(x: row f32) -> each f32 { state { greatest: f32 = -inf; sum: f32 = 0 } lift { greatest = x; sum = 1 } "
            "combine(a, b) { let high = max(a.greatest, b.greatest); let ahead = b.greatest - a.greatest; "
            "let scale = exp(min(ahead > 0 ? -ahead : ahead, 0)); greatest = high; "
            "sum = ahead > 0 ? a.sum * scale + b.sum : a.sum + b.sum * scale } map exp(x - greatest) / sum laws commutative }",)
GROUPED = "sum:f32 max:i8 argmax:f32 mean_variance:f32"
FEATURES = (1, 2, 3, 4, 8, 16, 20, 32, 48, 64, 100, 128, 256, 512)


def first_values(stage):
    """The tunables of a stage with the first value of each."""
    path = next(path for path in (KERNELS / room / f"{stage}{end}" for room, end in (("stages", ".cu"), ("ladder", ".cu"), ("cpu", ".cpp"))) if path.exists())
    return {name: int(value) for name, value in re.findall(r"^//% *tune +(\w+) = (\d+)", path.read_text(), re.MULTILINE)}


def candidates():
    """The configurations of each stage that are measured: tunables and values, as --plan takes them."""
    all_of = {}
    for line in (KERNELS / "ranks" / "candidates.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        stage, *tunables = line.split()
        names = [word.split("=")[0] for word in tunables]
        for values in itertools.product(*(word.split("=")[1].split("|") for word in tunables)):
            own = first_values(stage) | dict(zip(names, values))
            all_of.setdefault(stage, []).append(",".join(f"{name}={value}" for name, value in own.items()))
    return all_of


def plans_of(kind, on_host):
    """The flags that time the candidates of stages that serve this kind of work alone, or not only by other forms."""
    def is_asked(stage):
        if (KERNELS / "cpu" / f"{stage}.cpp").exists() != on_host:
            return False
        if kind == "map" and not on_host:
            return stage.startswith("fused_")
        return kind != "found" or stage in ("lean_stream", "run_stream", "run_tiles")
    return ["--first", "3"] + [word for stage, own in candidates().items() if is_asked(stage) and not stage.startswith("tree_")
                               for settings in own for word in ("--plan", f"{stage}:near,{settings}")]


def grouped_files(folder, lot, count):
    """Numbers of groups by lot, and how many groups there are."""
    import numpy as np
    for i in range(count):
        elements, groups = int(2 ** lot.uniform(17, 25)), int(2 ** lot.uniform(1, 20))
        path = folder / f"groups{i}.npy"
        np.save(path, np.random.default_rng(lot.randrange(2**31)).integers(0, groups, elements, dtype=np.int32))
        yield ["--layout", f"groups={path}", "--num-groups", str(groups)]


def jobs_of(asked, folder):
    """The commands to time, in an order by lot, so that what ends early has all kinds of work."""
    lot = random.Random(asked.seed)
    commands = []

    on_host = asked.backend == "cpu"

    def add(kind, op, count, most, *flags):
        sizes = ["--from", f"2^{10 if on_host else 16}", "--to", f"2^{most - 4 if on_host else most}"]
        layouts = [["--sweep", f"lot:{count},seed={lot.randrange(2**31)}", *sizes]] if kind != "groups" else grouped_files(folder, lot, count)
        commands.extend([*op, *layout, *flags, *(plans_of(kind, on_host) if asked.settings else [])] for layout in layouts)

    def named(words):
        return [[name, "--type", kind] for name, kind in (word.split(":") for word in words.replace(",", " ").split())]

    def written(texts):
        for i, text in enumerate(texts):
            path = folder / f"operator{i}.seg"
            path.write_text(text)
            yield [str(path)]

    kinds = asked.kinds.split(",")
    if "fold" in kinds:
        for op in named(asked.operators or FOLDS):
            add("fold", op, 3 * asked.count, 26)
            if not on_host:
                for form in ("flags", "keys"):
                    add("found", op, asked.count, 26, "--given-as", form)
    if "map" in kinds:
        for op in named(MAPS):
            add("map", op, 3 * asked.count, 26)
    if "scan" in kinds:
        for op in named(asked.operators or FOLDS):
            add("scan", op, asked.count, 26, "--scan")
    if "groups" in kinds:
        for op in named(asked.operators or GROUPED):
            add("groups", op, asked.count, 26)
    if "rows" in kinds:
        for op in written((*ROWS, *ROW_MAPS)):
            for features in lot.sample(FEATURES, 8):
                most = 26 - (features - 1).bit_length()
                add("rows", op, asked.count, max(17, most), "--features", str(features))
    lot.shuffle(commands)
    return commands


def small_ones(job):
    """Commands that compile what `job` times, on few elements: equal segments and others, unless a file says which."""
    if "--sweep" not in job:
        return [job]
    at = job.index("--sweep")
    rest = [word for word in job[:at] + job[at + 6:] if word not in ("--first", "3")]
    return [[*rest, "--elements", "2^12", "--layout", layout] for layout in ("uniform=16", "geometric:mean=16")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--kinds", default="fold,map,rows")
    parser.add_argument("--operators", help="of the kind fold")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--settings", action="store_true", help="measure configurations of the stages that rank first")
    parser.add_argument("--phase", choices=["compile", "time"], help="only this, where several draws share a GPU")
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    processors = len(os.sched_getaffinity(0))

    def bench(job, repeats, *flags):
        words = [asked.program, "bench", *job, "--backend", asked.backend, "--peers", "none", "--no-tune", "--repeat", str(repeats), *flags]
        return subprocess.run(words, capture_output=True, text=True, timeout=max(1, until - time.monotonic()), check=False)

    with tempfile.TemporaryDirectory() as folder:
        jobs = jobs_of(asked, pathlib.Path(folder))
        try:
            if asked.phase != "time":
                with concurrent.futures.ThreadPoolExecutor(processors) as compilers:
                    list(compilers.map(lambda job: bench(job, 1), [small for job in jobs for small in small_ones(job)]))
                print(f"compiled, {until - time.monotonic():.0f} s left", flush=True)
            for i, job in enumerate(jobs if asked.phase != "compile" else []):
                done = bench(job, 9, "--rates", asked.file)
                last = (done.stdout.strip().splitlines() or [""])[-2:]
                print(f"{i + 1}/{len(jobs)} {' '.join(job)}: exit {done.returncode}; {' '.join(last)}", flush=True)
                if done.returncode not in (0, 1):
                    print(done.stderr, flush=True)
        except subprocess.TimeoutExpired:
            print("the time is over")


if __name__ == "__main__":
    main()
