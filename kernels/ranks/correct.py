"""Judges corrections of the order by rows of the device that it lacks: would measuring some workloads on a new device choose better?

    python kernels/ranks/correct.py          for each GPU, an order grown without it, and corrections of it, in ten minutes

A lot of the GPU's workloads is measured: the rates of the three stages that the order names first. What their logarithms are above
the expected ones, less their mean, are the residuals of these stages. A correction expects residuals of other workloads from them,
and the stage with the greatest corrected share is taken. A correction is a mean for each stage, of neighbours (Nadaraya & Watson
1964), a Gaussian process (Rasmussen & Williams 2006, chapter 2), or boosted trees; all shrink to 0 where little is known.
"""

import math

import grow
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

MEASURED = 3  # stages of a workload
MOST = 1.5  # residuals beyond count as this
LOTS = (60, 300, 600)
SEEDS = 2
UNKNOWN = -200  # sixteenths of an octave, in place of an unknown fact


def no_correction(facts, residuals, asked):
    return np.zeros(len(asked))


def mean_of_stage(facts, residuals, asked):
    return np.full(len(asked), residuals.sum() / (len(residuals) + 5))


def squares(first, second):
    return ((first[:, None, :] - second[None, :, :]) ** 2).sum(-1)


def neighbours(facts, residuals, asked, width=2.0, prior=1.0):
    weights = np.exp(-squares(asked, facts) / (2 * width**2))
    return weights @ residuals / (weights.sum(1) + prior)


def gaussian_process(facts, residuals, asked, width=4.0, variance=0.04, common=0.01, noise=0.01):
    def covariance(first):
        return variance * np.exp(-squares(first, facts) / (2 * width**2)) + common

    return covariance(asked) @ np.linalg.solve(covariance(facts) + noise * np.eye(len(facts)), residuals)


def trees(facts, residuals, asked):
    if len(facts) < 60:
        return mean_of_stage(facts, residuals, asked)
    model = HistGradientBoostingRegressor(max_iter=30, max_leaf_nodes=7, learning_rate=0.15, min_samples_leaf=10,
                                          l2_regularization=3, early_stopping=False)
    return model.fit(facts, residuals).predict(asked)


CORRECTIONS = (no_correction, mean_of_stage, neighbours, gaussian_process, trees)


def seen(row, order):
    """Returns a workload's facts, and the logarithm of the share that the order expects of each stage."""
    numbers = grow.facts(row, row["segments"], row["longest"], row["padded"])
    return numbers, {stage: (order[stage][0] + sum(grow.value(tree, numbers) for tree in order[stage][2])) / 1000
                     for stage in row["rates"] if stage in order}


def shares(rows, looked, measured, asked, correction):
    """Returns the shares of the best rate that workloads `asked` reach, by a correction from workloads `measured`."""
    facts = np.array([numbers for numbers, _ in looked], float)
    facts[facts == grow.UNKNOWN] = UNKNOWN
    spread = facts[measured].std(0) + 1e-9
    facts = (facts - facts[measured].mean(0)) / spread
    places, residuals = {}, {}
    for at in measured:
        expected = looked[at][1]
        first = sorted(expected, key=lambda stage: -expected[stage])[:MEASURED]
        above = {stage: math.log(rows[at]["rates"][stage]) - expected[stage] for stage in first}
        middle = sum(above.values()) / len(above)
        for stage in first:
            places.setdefault(stage, []).append(at)
            residuals.setdefault(stage, []).append(min(max(above[stage] - middle, -MOST), MOST))
    corrections = {stage: dict(zip(asked, correction(facts[places[stage]], np.array(residuals[stage]), facts[asked])))
                   for stage in places}
    reached = []
    for at in asked:
        corrected = {stage: share + corrections.get(stage, {}).get(at, 0.0) for stage, share in looked[at][1].items()}
        rates = rows[at]["rates"]
        reached.append(rates[max(corrected, key=corrected.get)] / max(rates.values()))
    return reached


def judge(name, rows, order):
    looked = [seen(row, order) for row in rows]
    for lot in (lot for lot in LOTS if 2 * lot <= len(rows)):
        for correction in CORRECTIONS:
            reached = []
            for seed in range(SEEDS):
                places = np.random.RandomState(seed).permutation(len(rows))
                reached += shares(rows, looked, places[:lot], places[lot:], correction)
            mean = math.exp(sum(map(math.log, reached)) / len(reached))
            print(f"| {name} | {lot} | {correction.__name__} | {mean:.3f} | {np.percentile(reached, 10):.3f} |", flush=True)


def main():
    rows = [row for row in grow.read_rows() if "+" not in grow.kind_of(row)]
    devices = sorted({row["device"] for row in rows if row["device"].startswith("NVIDIA")})
    print("| left out | workloads measured | correction | geometric mean | first decile |\n| --- | ---: | --- | ---: | ---: |")
    for device in devices:
        own = [row for row in rows if row["device"] == device]
        others = [row for row in rows if row["device"] != device]
        order = grow.grow(others)
        known = {row["operator"] for row in others if row["device"].startswith("NVIDIA")}
        judge(f"{device}, operators that others have", [row for row in own if row["operator"] in known], order)
        if any(row["operator"] not in known for row in own):
            judge(f"{device}, other operators", [row for row in own if row["operator"] not in known], order)


if __name__ == "__main__":
    main()
