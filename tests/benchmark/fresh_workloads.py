"""Judges which stage a run takes on workloads that no row of kernels/ranks was drawn from, on a GPU.

    python3 tests/benchmark/fresh_workloads.py build/portable/runtime/segfold FOLDER [--seeds 901,902] [--count N]
        [--operators sum,argmax] [--lots N]

Draws from three generators: `segfold bench --sweep lot` (equal lengths, lengths of ten kinds, distributions), the same
lengths given as flags and keys, and one of its own here, whose lengths nothing was fitted to: power laws, sentences,
changing batches, two scales in turns, nearly all empty, a few giants, ramps. Prints for each generator how near the
plan that a run takes comes to the best stage: geometric mean, first decile, first percentile, worst. Writes each
generator's rows to FOLDER, for `python kernels/ranks/grow.py --judge FOLDER/lots.csv`, which must not grow from them.
Needs numpy.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess

import numpy as np


def power_law(lot, elements):
    lengths = np.floor(lot.pareto(lot.uniform(0.9, 2.5), elements) * lot.uniform(1, 20)).astype(np.int64)
    return np.sort(lengths[: max(1, elements // 8)])[:: lot.choice([1, -1])] if lot.random() < 0.3 else lengths


def sentences(lot, elements):
    words = 1 + lot.poisson(lot.uniform(3, 30), elements)
    return words * (1 + lot.binomial(8, 0.3, elements))


def batches(lot, elements):
    return np.repeat(lot.integers(1, 2 ** lot.integers(4, 12), 4000), lot.integers(16, 512))


def two_scales(lot, elements):
    short, long = lot.integers(0, 8), lot.integers(200, 20000)
    return np.tile([short] * lot.integers(1, 200) + [long], elements)[:elements]


def nearly_empty(lot, elements):
    return np.where(lot.random(4 * elements) < lot.uniform(0.9, 0.995), 0, lot.integers(1, 400, 4 * elements))


def few_giants(lot, elements):
    lengths = lot.integers(1, 2 ** lot.integers(2, 9), elements)
    lengths[lot.integers(0, max(1, min(elements, 1000)), 3)] = elements // 5
    return lengths


def ramps(lot, elements):
    return np.arange(elements) % lot.integers(3, 3000)


GENERATORS = (power_law, sentences, batches, two_scales, nearly_empty, few_giants, ramps)


def offsets_by_lot(seed):
    lot = np.random.default_rng(seed)
    elements = int(2 ** lot.uniform(16, 25))
    lengths = GENERATORS[lot.integers(len(GENERATORS))](lot, min(elements, 1 << 22))
    times = -(-elements // max(1, int(lengths.sum())))
    ends = np.cumsum(np.tile(lengths, min(times, 1000)))
    ends = ends[ends <= elements]
    return np.concatenate([[0], ends]).astype(np.int32)


def judged(name, shares):
    shares = sorted(shares)
    if not shares:
        return f"{name}: nothing measured"
    mean = math.exp(sum(math.log(share) for share in shares) / len(shares))
    at = lambda part: shares[(len(shares) - 1) // part]  # noqa: E731
    return f"{name}: {len(shares)} workloads, geometric mean {mean:.3f}, first decile {at(10):.3f}, first percentile {at(100):.3f}, worst {shares[0]:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", default="921,922,923,924,925")
    parser.add_argument("--operators", default="sum,argmax,mean_variance,max_subarray,log_sum_exp,affine")
    parser.add_argument("--count", type=int, default=8, help="layouts of the generator here, for each seed")
    parser.add_argument("--lots", type=int, default=4, help="layouts of a sweep, for each seed and operator")
    parser.add_argument("--phase", choices=["compile", "time"], help="only this")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    jobs = []
    for seed in (int(word) for word in asked.seeds.split(",")):
        lot = ["--from", "2^16", "--to", "2^25", "--sweep"]
        jobs.append((f"lots, seed {seed}", [*lot, f"lot:{asked.lots},seed={seed}"]))
        for form in ("flags", "keys"):
            jobs.append((f"found, seed {seed}", [*lot, f"lot:{max(1, asked.lots // 2)},seed={seed + 50}", "--given-as", form]))
        for i in range(asked.count):
            offsets = offsets_by_lot(1000 * seed + i)
            path = asked.folder / f"offsets_{seed}_{i}.npy"
            np.save(path, offsets)
            jobs.append((f"own, seed {seed}", ["--layout", f"offsets={path}", "--elements", str(offsets[-1])]))

    def bench(job, repeats, *flags):
        words = [asked.program, "bench", asked.operators, *job[1], "--peers", "none", "--no-tune", "--repeat", str(repeats), "--json", *flags]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    if asked.phase != "time":
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as compilers:
            list(compilers.map(lambda job: bench(job, 1), jobs))
    if asked.phase == "compile":
        return
    shares = {}
    for job in jobs:
        done = bench(job, 9, "--rates", str(asked.folder / f"{job[0].split(',')[0]}.csv"))
        if done.returncode not in (0, 1):
            print(f"{job[0]}: {done.stderr.strip()[:300]}", flush=True)
            continue
        if done.returncode == 1:
            print(f"{job[0]}: a stage gives other results: segfold bench {asked.operators} {' '.join(job[1])}", flush=True)
        for workload in json.loads(done.stdout)["workloads"]:
            times = {entry["name"]: entry["milliseconds"]["median"] for entry in workload["entries"] if entry["outcome"] == "measured" and entry["agreement"]["agrees"]}
            chosen = next((entry["name"] for entry in workload["entries"] if entry["chosen"] and entry["outcome"] == "measured"), None)
            if chosen is None or len(times) < 2:
                continue
            best = min(times.values())
            shares.setdefault(job[0].split(",")[0], {}).setdefault(job[0], []).append(best / times[chosen])
    for generator, seeds in shares.items():
        for name, own in seeds.items():
            print(judged(name, own))
        print(judged(f"{generator}, all seeds", [share for own in seeds.values() for share in own]), flush=True)


if __name__ == "__main__":
    main()
