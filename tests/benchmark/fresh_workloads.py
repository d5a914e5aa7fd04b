"""Judges which stage a run takes on workloads that no row of kernels/ranks was drawn from, on a GPU.

    python3 tests/benchmark/fresh_workloads.py build/portable/runtime/segfold FOLDER [--seeds 901,902] [--count N] [--lots N]
        [--operators sum,argmax] [--gpus 0,1] [--minutes M]

Draws from four generators: `segfold bench --sweep lot` (equal lengths, lengths of ten kinds, distributions), the same lengths given as
flags and keys, those that kernels/ranks/made_lengths.py has (power laws, sentences, giants, ...), and those below, to which nothing was
ever fitted: trees, divisors, walks, graphs, grids, bursts. Each for operators that come with the program and for those below, of which
no row has any. Prints how near the plan that a run takes comes to the best stage: geometric mean, first decile, first percentile, worst. Writes
rows to FOLDER, for `python kernels/ranks/grow.py --judge FOLDER/*.csv`, which must not grow from them. Needs numpy.
"""

import argparse
import json
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "kernels" / "ranks"))
import benches  # noqa: E402
from made_lengths import offsets_by_lot  # noqa: E402


def ruler(lot, elements):
    places = 1 + np.arange(elements)
    return np.minimum(places & -places, 1 << lot.integers(4, 18)) * lot.integers(1, 20)


def divisors(lot, elements):
    return np.gcd(1 + np.arange(elements), lot.choice([720, 5040, 30030, 65536]))


def excursions(lot, elements):
    walk = np.cumsum(lot.choice([-1, 1], 4 * elements))
    return np.diff(np.flatnonzero(walk == 0), prepend=0)


def by_age(lot, elements):
    vertices = max(16, elements // lot.integers(4, 64))
    return lot.poisson(lot.uniform(1, 8) * np.sqrt(vertices / (1 + np.arange(vertices))))


def stencils(lot, elements):
    side = lot.integers(8, 200)
    of_a_line = np.full(side, 3)
    of_a_line[[0, -1]] = 2
    return np.multiply.outer(np.multiply.outer(of_a_line, of_a_line), of_a_line if lot.random() < 0.5 else [1]).ravel()


def bursts(lot, elements):
    lengths = [np.concatenate([np.zeros(lot.geometric(1 / lot.integers(2, 2000)), int), lot.geometric(1 / lot.integers(2, 300), lot.integers(1, 500))])
               for _ in range(200)]
    return np.concatenate(lengths)


def buckets(lot, elements):
    lengths = np.ceil(lot.lognormal(lot.uniform(2, 6), lot.uniform(0.3, 1.5), 1 << 16)).astype(np.int64)
    return np.sort(lengths.reshape(-1, lot.choice([64, 1024])), axis=1).ravel()


def doublings(lot, elements):
    return 1 << (np.arange(elements) % lot.integers(2, 16))


def one_ahead(lot, elements):
    rest = lot.geometric(1 / lot.uniform(1, 100), elements // 16)
    return np.concatenate([[int(elements * lot.uniform(0.5, 0.95))], rest])[:: lot.choice([1, -1])]


JUDGES = (ruler, divisors, excursions, by_age, stencils, bursts, buckets, doublings, one_ahead)

# Operators of which no row has any, nor any part of: of one to five fields.
OPERATORS = {
    "clamps": """operator clamps(x: f32, y: f32) -> (step: f32, low: f32, high: f32) {
  state { step: f32 = 0; low: f32 = -inf; high: f32 = inf }
  lift { step = x; low = min(x, y); high = max(x, y) }
  combine(a, b) { step = a.step + b.step; low = min(max(a.low + b.step, b.low), b.high); high = min(max(a.high + b.step, b.low), b.high) }
}""",
    "directions": """operator directions(x: f32) -> (mean: f32, length: f32) {
  state { along: f32 = 0; across: f32 = 0 }
  lift { along = cos(x); across = sin(x) }
  combine(a, b) { along = a.along + b.along; across = a.across + b.across }
  finish { mean = across; length = sqrt(along * along + across * across) }
  laws commutative
}""",
    "candles": """operator candles(price: f32) -> (open: f32, high: f32, low: f32, close: f32, trades: i32) {
  state { open: f32 = 0; high: f32 = -inf; low: f32 = inf; close: f32 = 0; trades: i32 = 0 }
  lift { open = price; high = price; low = price; close = price; trades = 1 }
  combine(a, b) { open = a.trades == 0 ? b.open : a.open; high = max(a.high, b.high); low = min(a.low, b.low);
                  close = b.trades == 0 ? a.close : b.close; trades = a.trades + b.trades }
}""",
    "switches": """operator switches(x: i16) -> u32 {
  state next: u32 = 228
  lift (u32(x) & 1) == 0 ? 57 : 78
  combine(a, b) ((b >> (2 * (a & 3))) & 3) | (((b >> (2 * ((a >> 2) & 3))) & 3) << 2) | (((b >> (2 * ((a >> 4) & 3))) & 3) << 4)
      | (((b >> (2 * ((a >> 6) & 3))) & 3) << 6)
}""",
    "since_reset": """operator since_reset(x: i32) -> (since: i64) {
  state { resets: i64 = 0; since: i64 = 0 }
  lift { resets = x < 0 ? 1 : 0; since = x < 0 ? 0 : i64(x) }
  combine(a, b) { resets = a.resets + b.resets; since = b.resets != 0 ? b.since : a.since + b.since }
  finish { since = since }
}""",
    "earliest": """operator earliest(hour: u8, minute: i16, worth: f64) -> (hour: u8, minute: i16, worth: f64) {
  state { hour: u8 = 255; minute: i16 = 32767; worth: f64 = -inf }
  lift { hour = hour; minute = minute; worth = worth }
  combine(a, b) { let later = b.hour < a.hour || b.hour == a.hour && (b.minute < a.minute || b.minute == a.minute && b.worth > a.worth);
                  hour = later ? b.hour : a.hour; minute = later ? b.minute : a.minute; worth = later ? b.worth : a.worth }
}""",
    "sketch": """operator sketch(x: u64) -> (low: u64, high: u64) {
  state { low: u64 = 0; high: u64 = 0 }
  lift { let once = (x ^ (x >> 30)) * 13787848793156543929; let mixed = once ^ (once >> 27); low = u64(1) << (mixed & 63); high = u64(1) << ((mixed >> 6) & 63) }
  combine(a, b) { low = a.low | b.low; high = a.high | b.high }
  laws commutative, idempotent
}""",
}


def judged(name, shares):
    shares = sorted(shares)
    if not shares:
        return f"{name}: nothing measured"
    mean = math.exp(sum(math.log(share) for share in shares) / len(shares))
    at = lambda part: shares[(len(shares) - 1) // part]  # noqa: E731
    return f"{name}: {len(shares)} workloads, geometric mean {mean:.3f}, first decile {at(10):.3f}, first percentile {at(100):.3f}, worst {shares[0]:.3f}"


def jobs_of(asked, names):
    """Pairs of a generator, with the kind of its operators, and the words of a bench."""
    new = []
    for name, text in OPERATORS.items():
        (asked.folder / f"{name}.seg").write_text(text + "\n")
        new.append(str(asked.folder / f"{name}.seg"))
    for seed in (int(word) for word in asked.seeds.split(",")):
        for kind, operators in (("known", names), ("new", new)):
            lot = [",".join(operators), "--from", "2^16", "--to", "2^25", "--sweep"]
            yield f"lots_{kind}", [*lot, f"lot:{asked.lots},seed={seed}"]
            for form in ("flags", "keys"):
                yield f"found_{kind}", [*lot, f"lot:{max(1, asked.lots // 2)},seed={seed + 50}", "--given-as", form]
            for generator, own in (("lengths", None), ("judges", JUDGES)):
                for i in range(asked.count):
                    offsets = offsets_by_lot(1000 * seed + i, **({"generators": own} if own else {}))
                    path = asked.folder / f"{generator}_{seed}_{i}.npy"
                    np.save(path, offsets)
                    yield f"{generator}_{kind}", [",".join(operators), "--layout", f"offsets={path}", "--elements", str(offsets[-1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", default="921,922,923,924,925")
    parser.add_argument("--operators", default="sum,argmax,mean_variance,max_subarray,log_sum_exp,affine")
    parser.add_argument("--count", type=int, default=8, help="layouts of each of the generators of lengths, for each seed")
    parser.add_argument("--lots", type=int, default=4, help="layouts of a sweep, for each seed")
    benches.add_arguments(parser)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    names = {}  # of the generator of each job

    def jobs():
        for name, words in jobs_of(asked, asked.operators.split(",")):
            names[tuple(words)] = name
            yield words

    shares = {}
    for job, done in benches.run(asked, jobs(), lambda job: asked.folder / f"{names[tuple(job)]}.csv", ["--json"]):
        if done.returncode not in (0, 1):
            continue
        for workload in json.loads(done.stdout)["workloads"]:
            times = {entry["name"]: entry["milliseconds"]["median"] for entry in workload["entries"] if entry["outcome"] == "measured" and entry["agreement"]["agrees"]}
            chosen = next((entry["name"] for entry in workload["entries"] if entry["chosen"] and entry["outcome"] == "measured"), None)
            if chosen is None or len(times) < 2:
                continue
            best = min(times, key=times.get)
            share = times[best] / times[chosen]
            shares.setdefault(names[tuple(job)], []).append(share)
            if share < 0.8:
                print(f"{share:.3f} {names[tuple(job)]}: {workload['operator']} {workload['layout']} of {workload['num_elements']} elements in "
                      f"{workload['num_segments']} segments: {chosen} {times[chosen]:.4f} ms, {best} {times[best]:.4f} ms")
    for name, own in sorted(shares.items()):
        print(judged(name, own), flush=True)


if __name__ == "__main__":
    main()
