"""How near to the best stage a choice comes that is learned from the rows the rule of thumb was fitted on.

    pip install scikit-learn && python tests/benchmark/learned_choice.py

The rule knows four numbers of the segments: elements, segments, the longest, and how long slices of 32 are when
padded. A model learns from the same numbers, the operator, the form and the GPU what share of the best rate each stage
has, and chooses the stage with the largest. Where it does no better than the rule on rows that neither has seen, better
borders cannot be had from these numbers. Prints a table in Markdown; kernels/MEASURED_LOTS.md has it.
"""
import csv
import math
import pathlib

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

ROWS = pathlib.Path(__file__).parents[1] / "data" / "lot"
# A file, and whether an H200 measured it.
FITTED = [("fitted.csv", 0), ("fitted_h200.csv", 1), ("lengths.csv", 0), ("lengths_h200.csv", 1)]
HELD_OUT = [("held_out.csv", 1), ("drawn_h200.csv", 1), ("lengths_h200_held_out.csv", 1), ("lengths_held_out.csv", 0)]
LEAST = 0.45  # of the best rate: below it nothing is told apart


def rows(name, is_h200):
    """Rows of a file: the operator, what is known of a workload, and the rate of each stage as it prefers to be configured."""
    with open(ROWS / name) as table:
        for row in csv.DictReader(table):
            plans = (plan.rsplit("=", 1) for plan in row["rates"].split() if ":" not in plan)
            rates = {stage: float(rate) for stage, rate in plans}
            n, m, longest, padded = (math.log2(int(row[key])) for key in ("elements", "segments", "longest", "padded"))
            is_uniform = row["form"] == "uniform"
            length = int(row["longest"])
            numbers = [n, m, n - m, longest, longest - n + m, longest - n, padded - n, is_uniform, is_h200,
                       is_uniform and length % 2, is_uniform and length % 4]
            yield row["operator"], numbers, rates


def main():
    fitted = [row for name, is_h200 in FITTED for row in rows(name, is_h200)]
    operators = sorted({op for op, _, _ in fitted})
    stages = sorted({stage for _, _, rates in fitted for stage in rates})

    def matrix(some):
        return np.array([numbers + [op == other for other in operators] for op, numbers, _ in some], float)

    features = matrix(fitted)
    models = {
        "boosted trees": lambda: HistGradientBoostingRegressor(max_iter=400, learning_rate=0.05),
        "extremely randomised trees": lambda: ExtraTreesRegressor(300, random_state=0, n_jobs=-1),
    }
    print("| held out | workloads | choice | geometric mean | worst | first decile |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for model, make in models.items():
        learned = {}
        for stage in stages:
            own = [i for i, (_, _, rates) in enumerate(fitted) if stage in rates]
            shares = [max(fitted[i][2][stage] / max(fitted[i][2].values()), LEAST) for i in own]
            learned[stage] = make().fit(features[own], np.log(shares))
        for name, is_h200 in HELD_OUT:
            unseen = list(rows(name, is_h200))
            expected = {stage: learned[stage].predict(matrix(unseen)) for stage in stages}
            shares = []
            for i, (_, _, rates) in enumerate(unseen):
                chosen = max((stage for stage in rates if stage in expected), key=lambda stage: expected[stage][i])
                shares.append(rates[chosen] / max(rates.values()))
            shares = np.sort(shares)
            mean = math.exp(np.mean(np.log(shares)))
            print(f"| `{name}` | {len(shares)} | {model} | {mean:.3f} | {shares[0]:.2f} | {shares[(len(shares) - 1) // 10]:.3f} |")


if __name__ == "__main__":
    main()
