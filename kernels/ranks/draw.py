"""Measures rows for the order of stages: workloads by lot, each timed with every stage that can serve it.

    python3 kernels/ranks/draw.py build/portable/runtime/segfold FILE.csv [--seed S] [--minutes M] [--backend cpu]
        [--gpus 0,1] [--beside N] [--kinds fold=5,made=8,lengths=8,map=4,made_map=2,rows=6,row_maps=4,scan=4] [--settings N]

appends rows to FILE.csv, which belongs into kernels/ranks/rows. kernels/ranks/grow.py then grows the order. Run it again after
the text of a stage has changed, because rows of its older text count less. N benches for each GPU prepare, compile and check side
by side, each on processors of its own, and take turns on the GPU. Tuning records are ignored. Needs numpy.

--kinds gives the shares of time of the kinds of work. `fold` takes operators that come with the program, `made` operators made by
lot (made_operators.py), and `lengths` both, over lengths of other kinds (made_lengths.py). `map` and `made_map` write back. `rows`
and `row_maps` are over rows of features. `scan` gives running results.

With --settings, rows have rates of configurations and belong into kernels/ranks/settings: for each of the three stages that rank
first, N configurations by lot of those in candidates.txt. configure.py grows the configurations of stages from these rows.
"""

import argparse
import itertools
import pathlib
import random
import tempfile

import numpy as np

import benches
import candidates
from made_lengths import offsets_by_lot
from made_operators import operator_text

FOLDS = ("sum:f32 sum:f64 sum:f16 sum:i8 product:f64 max:i8 max:i16 affine:u32 argmax:f32 max_subarray:f32 "
         "mean_variance:f32 log_sum_exp:f32 is_sorted:i32 complex_product:f32 polynomial_hash:u64 spmv:f32 "
         "sum_of_squares:f32 range:f32 min:f64 bit_or:u32 bounding_box:f32 correlation:f32 cosine:f32 count_above:f32 "
         "count_runs:i32 double_double_sum:f32 entropy:f32 euclidean_distance:f32 exponential_average:f32 first_four:f32 "
         "first_number:f32 geometric_mean:f32 harmonic_mean:f64 histogram_16:i32 hyperloglog:i32 last:f32 lcm:i16 "
         "linear_regression:f32 max_norm:f32 max_plus_2x2:f32 matrix_3x3:f32 mean:f16 moments:f64 norm:f32 "
         "quantile_sketch:f32 top_eight:f32 weighted_mean:f32 wide_sum:i8 trace:i32 argmin:f64 automaton:i32 "
         "binned_sum:f32 log_sum_exp:f64 is_sorted:i64 count_nonzero:i8 longest_run:i32 matrix_2x2:f64 min_plus_2x2:f32 "
         "top_four:i32 kahan_sum:f64 quaternion_product:f64 bit_xor:i64 histogram_8:u8 all:bool max_subarray:i32 "
         "affine:f64 spmv:f64 polynomial_hash:u32").split()
MAPS = ("softmax:f32 softmax:f16 softmax:bf16 softmax:f64 log_softmax:f32 standardise:f32 standardise:f64 share:f64 masked_softmax:f32 "
        "layer_norm:f32 layer_norm:bf16 rms_norm:f32 rms_norm:bf16 rms_norm:f16 centre:f32 centre:f64 rescale:f32 normalise:f32 "
        "softmax_backward:f32 softmax_backward:bf16 biased_softmax:f32").split()
# Operators over rows. In their text, x is one number of a row; t[i] is one number of row i of a table.
ROWS = ("operator row_sum(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b laws commutative }",
        "operator row_sum(x: row f16) -> f16 { state s: f16 = 0 lift x combine(a, b) a + b laws commutative }",
        "operator row_gather(i: i32, t: table row f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b laws commutative }",
        "operator row_affine(a: row f32, b: row f32) -> (scale: f32, shift: f32) { state { p: f32 = 1; q: f32 = 0 } "
        "lift { p = a; q = b } combine(l, r) { p = l.p * r.p; q = r.p * l.q + r.q } finish { scale = p; shift = q } }")
ROW_SOFTMAX = ("operator row_softmax(x: row TYPE) -> each TYPE { state { greatest: f32 = -inf; sum: f32 = 0 } lift { greatest = f32(x); sum = 1 } "
               "combine(a, b) { let high = max(a.greatest, b.greatest); let ahead = b.greatest - a.greatest; "
               "let scale = exp(min(ahead > 0 ? -ahead : ahead, 0)); greatest = high; "
               "sum = ahead > 0 ? a.sum * scale + b.sum : a.sum + b.sum * scale } map TYPE(exp(f32(x) - greatest) / sum) laws commutative }")
ROW_MAPS = tuple(ROW_SOFTMAX.replace("TYPE", kind) for kind in ("f32", "f16"))
SCANS = ("sum:f32 sum:f64 sum:f16 sum:i8 max:i16 affine:u32 affine:f32 max_subarray:f32 mean_variance:f32 argmax:f32 matrix_2x2:f32 "
         "log_sum_exp:f32 mean:bf16 count_above:f32 top_four:i32 polynomial_hash:u64 linear_recurrence:f32 running_variance:f32").split()
FEATURES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 100, 128, 200, 256, 512, 1000)
EACH = 5  # workloads in one bench
KINDS = "fold=5,made=8,lengths=8,map=4,made_map=2,rows=6,row_maps=4,scan=4"


class Lot:
    """Endless benches by lot. A bench is a list of arguments, of a kind of work by lot."""

    def __init__(self, asked, folder):
        self.lot, self.folder, self.names = random.Random(asked.seed), folder, itertools.count()
        self.on_host, self.seed = asked.backend == "cpu", asked.seed
        self.turns = [kind for word in asked.kinds.split(",") for kind, times in [word.split("=")] for _ in range(int(times))]

    def file(self, text):
        path = self.folder / f"operator{next(self.names)}.seg"
        path.write_text(text)
        return str(path)

    def named(self, words):
        name, kind = self.lot.choice(words).split(":")
        return [f"{name}_{kind}"]

    def made(self, **kinds):
        # The number in the name tells made operators apart when rows are held out by operator.
        return [self.file(operator_text(self.lot, f"made_{self.seed}_{next(self.names)}", **kinds))]

    def sweep(self, most, count=EACH):
        sizes = (10, most - 4) if self.on_host else (16, most)
        return ["--sweep", f"lot:{count},seed={self.lot.randrange(2**31)}", "--from", f"2^{sizes[0]}", "--to", f"2^{sizes[1]}"]

    def of_found(self, op):
        """Returns a bench of folds. Two in seven give segments as flags or keys; the host has only offsets."""
        form = "offsets" if self.on_host else self.lot.choice(["offsets"] * 5 + ["flags", "keys"])
        return [*op, *self.sweep(25), *([] if form == "offsets" else ["--given-as", form])]

    def over_features(self, op):
        features = self.lot.choice(FEATURES)
        return [*op, *self.sweep(max(17, 25 - (features - 1).bit_length()), 3), "--features", str(features)]

    def next(self):
        kind = self.lot.choice(self.turns)
        if kind == "fold":
            return self.of_found(self.named(FOLDS))
        if kind == "made":
            return self.of_found(self.made())
        if kind == "lengths":
            offsets = offsets_by_lot(self.lot.randrange(2**31), 21 if self.on_host else 25)
            path = self.folder / f"offsets{next(self.names)}.npy"
            np.save(path, offsets)
            ops = [*self.made(), *self.made(), *self.named(FOLDS), *(self.named(MAPS) if self.lot.random() < 0.3 else self.made())]
            return [",".join(ops), "--layout", f"offsets={path}", "--elements", str(offsets[-1])]
        if kind == "map":
            return [*self.named(MAPS), *self.sweep(25)]
        if kind == "made_map":
            return [*self.made(maps=True), *self.sweep(25)]
        if kind == "rows":
            return self.over_features([self.file(self.lot.choice(ROWS))] if self.lot.random() < 0.5 else self.made(rows=True))
        if kind == "row_maps":
            return self.over_features([self.file(self.lot.choice(ROW_MAPS))] if self.lot.random() < 0.5 else self.made(rows=True, maps=True))
        if kind == "scan":
            return [*self.named(SCANS), "--scan", *self.sweep(27)]
        raise SystemExit(f"--kinds: {kind} is no kind of work; kinds are those in {KINDS}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--settings", type=int, default=0)
    benches.add_arguments(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lot = Lot(asked, pathlib.Path(folder))
        jobs = iter(lot.next, None)
        if asked.settings:
            jobs = ([*job, *candidates.plans_by_lot(lot.lot, lot.on_host, asked.settings)] for job in jobs)
        count = sum(1 for _ in benches.run(asked, jobs, lambda job: asked.file))
    print(f"{count} benches")


if __name__ == "__main__":
    main()
