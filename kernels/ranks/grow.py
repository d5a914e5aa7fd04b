"""Grows the order in which stages are tried, kernels/ranks/order.txt, from measured rows.

    pip install scikit-learn==1.7.2
    python kernels/ranks/grow.py            writes order.txt; with - to standard output
    python kernels/ranks/grow.py --judge    grows from a part of the rows and judges by the rest

rows/*.csv hold what `segfold bench OP --no-tune --peers none --sweep lot:N,seed=S --rates FILE` appends: the facts of an
operator and of its segments, and the share of the memory's rate that each stage reached. For each stage, boosted trees
learn its share of the best stage's rate from whole numbers: logarithms in steps of a sixteenth of an octave. Whole numbers
leave nothing to rounding, so the program that reads the order decides as this one does.
"""

import collections
import csv
import math
import pathlib
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

HERE = pathlib.Path(__file__).parent
TREES, LEAVES, RATE = 72, 15, 0.2
LEAST = 0.5  # of the best rate: below it nothing is told apart
UNKNOWN = -9999
STEPS = 16  # of an octave
FORMS = ("uniform", "offsets", "flags", "keys")

# What the order asks, one letter each, from 'a' on. segfold::StageOrder (codegen/order) has the same list.
FACTS = ("elements", "segments", "mean", "longest over mean", "longest over elements", "padded over elements", "form",
         "alignment of equal rows", "element bytes", "state bytes", "cost of combine", "commutative", "gathers",
         "bytes of all", "bytes of a mean segment", "state bytes times mean", "longest", "bytes of results")


def steps(value):
    return math.floor(STEPS * math.log2(value)) if value > 0 else UNKNOWN


def form_of(row):
    return FORMS.index("uniform" if row["form"] == "whole" else row["form"])  # one segment is an equal one


def facts(row, segments, longest, padded):
    """The numbers of FACTS. `longest` and `padded` are 0 where they are unknown."""
    elements = row["elements"]
    form = form_of(row)
    mean = elements / segments
    aligned = longest * row["element_bytes"] if form == 0 else 0
    return [
        steps(elements), steps(segments), steps(mean),
        steps(longest / mean), steps(longest / elements), steps(padded / elements),
        form,
        min(16, aligned & -aligned),
        steps(row["element_bytes"]), steps(row["state_bytes"]), steps(row["combine_cost"]), row["commutative"],
        row["gathers"],
        steps(elements * row["element_bytes"]), steps(mean * row["element_bytes"]), steps(mean * row["state_bytes"]),
        steps(longest), steps(segments * row["state_bytes"]),
    ]


def read_rows():
    rows = []
    for path in sorted((HERE / "rows").glob("*.csv")):
        with open(path) as table:
            for row in csv.DictReader(table):
                for key in ("elements", "segments", "longest", "padded", "element_bytes", "state_bytes", "combine_cost", "commutative",
                            "gathers"):
                    row[key] = int(row[key])
                rates = {}
                for plan in row["rates"].split():
                    stage, rate = plan.rsplit("=", 1)
                    if ":" not in stage:  # plans with settings of a user are no stages
                        rates[stage] = max(rates.get(stage, 0.0), float(rate))
                if len(rates) > 1:
                    row["rates"], row["file"] = rates, path.stem
                    rows.append(row)
    return rows


def examples(rows):
    """Facts, shares by stage, and weights. Rows stand there again as plans see them that know less of their segments."""
    numbers, shares, weights = [], [], []
    for row in rows:
        best = max(row["rates"].values())
        share = {stage: math.log(max(rate / best, LEAST)) for stage, rate in row["rates"].items()}
        views = [(row["segments"], row["longest"], row["padded"], 1.0)]
        if row["form"] == "offsets":
            views += [(row["segments"], row["longest"], 0, 0.25), (row["segments"], 0, 0, 0.5)]
        elif form_of(row) > 1:  # where segments begin is seen on the way
            views.append((max(1, row["elements"] // 64), 0, 0, 1.0))
        for segments, longest, padded, weight in views:
            numbers.append(facts(row, segments, longest, padded))
            shares.append(share)
            weights.append(weight)
    return np.array(numbers), shares, np.array(weights)


def grow(rows):
    """For each stage the logarithm of its mean share in thousandths, the forms that its rows have, and its trees."""
    numbers, shares, weights = examples(rows)
    order = {}
    for stage in sorted({stage for share in shares for stage in share}):
        own = np.array([i for i, share in enumerate(shares) if stage in share])
        model = HistGradientBoostingRegressor(max_iter=TREES, max_leaf_nodes=LEAVES, learning_rate=RATE, min_samples_leaf=10,
                                              early_stopping=False)
        model.fit(numbers[own], np.array([shares[i][stage] for i in own]), sample_weight=weights[own])
        forms = [name for form, name in enumerate(FORMS) if form in numbers[own, FACTS.index("form")]]
        order[stage] = (round(1000 * float(model._baseline_prediction[0, 0])), forms, [tree_of(tree[0].nodes) for tree in model._predictors])
    return order


def tree_of(nodes, at=0):
    """A tree in whole numbers: a share in thousandths of a logarithm, or (fact, most, tree up to most, tree above it)."""
    node = nodes[at]
    if node["is_leaf"]:
        return round(1000 * float(node["value"]))
    return (int(node["feature_idx"]), math.floor(node["num_threshold"]), tree_of(nodes, node["left"]), tree_of(nodes, node["right"]))


def words_of(tree):
    if isinstance(tree, int):
        return [str(tree)]
    fact, most, below, above = tree
    return [chr(ord("a") + fact) + str(most)] + words_of(below) + words_of(above)


def value(tree, numbers):
    while not isinstance(tree, int):
        fact, most, below, above = tree
        tree = below if numbers[fact] <= most else above
    return tree


def text_of(order, rows):
    lines = ["# The order in which stages are tried, grown by kernels/ranks/grow.py from measured rows, so many of each device; not for editing.",
             "# A stage, the logarithm of its mean share of the best rate in thousandths, the forms of segments that its rows have, and",
             "# its trees, one a line: a letter asks a fact and takes the next branch where it is at most the number behind it, else the",
             "# one after; other numbers are leaves."]
    lines += [f"# {chr(ord('a') + i)}: {fact}" for i, fact in enumerate(FACTS)]
    devices = collections.Counter(row["device"] for row in rows)
    lines += [f"rows {count} {device}" for device, count in sorted(devices.items())]
    for stage, (base, forms, trees) in order.items():
        lines.append(f"stage {stage} {base} {' '.join(forms)}")
        lines += [" ".join(words_of(tree)) for tree in trees]
    return "\n".join(lines) + "\n"


def shares_of_chosen(order, rows):
    """What the first stage that the order names, and the best of its first three, have of the best stage's rate."""
    shares = []
    for row in rows:
        numbers = facts(row, row["segments"], row["longest"], row["padded"])
        expected = {stage: order[stage][0] + sum(value(tree, numbers) for tree in order[stage][2])
                    for stage in row["rates"] if stage in order}
        ranked = sorted(expected, key=lambda stage: -expected[stage])
        best = max(row["rates"].values())
        shares.append((row["rates"][ranked[0]] / best, max(row["rates"][stage] for stage in ranked[:3]) / best))
    return shares


def print_judged(name, shares):
    for place, what in ((0, "first"), (1, "best of three")):
        own = sorted(share[place] for share in shares)
        mean = math.exp(sum(math.log(share) for share in own) / len(own))
        print(f"| {name} | {what} | {len(own)} | {mean:.3f} | {own[(len(own) - 1) // 10]:.3f} | {own[(len(own) - 1) // 100]:.3f} | {own[0]:.3f} |", flush=True)


def judge(rows):
    print("| held out | choice | rows | geometric mean | first decile | first percentile | worst |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    lot = np.random.RandomState(1).randint(0, 5, len(rows))
    parts = [(grow([row for row, part in zip(rows, lot) if part != k]), [row for row, part in zip(rows, lot) if part == k])
             for k in range(5)]
    for form in FORMS:
        print_judged(f"a fifth by lot, {form}",
                     [share for order, part in parts for share in shares_of_chosen(order, [row for row in part if FORMS[form_of(row)] == form])])
    for device in sorted({row["device"] for row in rows}):
        order = grow([row for row in rows if row["device"] != device])
        print_judged(device, shares_of_chosen(order, [row for row in rows if row["device"] == device]))
    for op in sorted({row["operator"] for row in rows}):
        order = grow([row for row in rows if row["operator"] != op])
        print_judged(op, shares_of_chosen(order, [row for row in rows if row["operator"] == op]))


if __name__ == "__main__":
    all_rows = read_rows()
    if "--judge" in sys.argv[1:]:
        judge(all_rows)
    else:
        text = text_of(grow(all_rows), all_rows)
        if "-" in sys.argv[1:]:
            sys.stdout.write(text)
        else:
            (HERE / "order.txt").write_text(text)
