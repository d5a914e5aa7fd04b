"""Grows the order in which stages are tried, kernels/ranks/order.txt, from measured rows, and by configure.py their configurations.

    pip install scikit-learn==1.7.2
    python kernels/ranks/grow.py            writes order.txt; with - to standard output
    python kernels/ranks/grow.py --judge    grows from a part of the rows and judges by the rest
    python kernels/ranks/grow.py --judge FILE.csv ...    judges the order by rows of other files

rows/*.csv hold what `segfold bench OP --no-tune --peers none --sweep lot:N,seed=S --rates FILE` appends: the facts of an
operator and of its segments, and the share of the memory's rate that each stage reached. For each stage, boosted trees
learn from whole numbers, logarithms in steps of a sixteenth of an octave, what part its rate is of the best other
stage's: above 1 it is itself the best, and so far ahead. Whole numbers leave nothing to rounding, so the program that
reads the order decides as this one does.
"""

import argparse
import collections
import csv
import math
import pathlib
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

HERE = pathlib.Path(__file__).parent
TREES, LEAVES, RATE = 78, 15, 0.2
EXAMPLES = 16  # for each tree at the least
LEAST, MOST = 0.3, 2.0  # of the rate of the best other stage: below and above these nothing is told apart
LEAST_UNKNOWN = 0.05  # the same where the longest segment is unknown, and a stage may be right for most lengths and ruinous for some
SAMPLES = 5  # rows of a kind of work that the text has, so that a run can name one near to it
ABANDONED = 0.01  # of the best rate: what a bench does not time further
SLOW = 0.05  # of the best rate: a stage that is never slower was not abandoned
OLDER = 0.5  # what a row of a stage's older text counts
UNKNOWN = -9999
STEPS = 16  # of an octave
LETTERS = "abcdefghijklmnopqrstuvwxyzAB"
FORMS = ("uniform", "offsets", "flags", "keys")

# The facts of operators and machines that rows have, and those that the order asks, one of LETTERS each.
# segfold::StageOrder (codegen/order) has the same lists.
ROW_FACTS = ("element_bytes", "state_bytes", "combine_cost", "commutative", "gathers", "map", "row_bytes", "gathers_rows",
             "calls_library", "mixed_fields", "many_fields", "wide_vectors", "element_cost", "result_bytes")
LOGARITHMS = ("element_bytes", "state_bytes", "combine_cost", "row_bytes", "element_cost", "result_bytes")
FACTS = ROW_FACTS + ("form", "elements", "segments", "mean", "longest over mean", "longest over elements", "padded over elements",
                     "alignment of equal rows", "bytes of all", "bytes of a mean segment", "state bytes times mean", "longest",
                     "bytes of results", "features")
SIZES = ("elements", "segments", "longest", "padded", "features")


def steps(value):
    return math.floor(STEPS * math.log2(value)) if value > 0 else UNKNOWN


def form_of(row):
    return FORMS.index({"whole": "uniform", "ranges": "offsets"}.get(row["form"], row["form"]))  # one segment is an equal one


def kind_of(row):
    """The form of segments, with write-back, rows of features, both or neither."""
    return FORMS[form_of(row)] + ("+map" if row["map"] else "") + ("+rows" if row["row_bytes"] else "")


def facts(row, segments, longest, padded):
    """The numbers of FACTS. `longest` and `padded` are 0 where they are unknown."""
    elements = row["elements"]
    form = form_of(row)
    mean = elements / segments
    aligned = longest * row["element_bytes"] if form == 0 else 0
    return [steps(row[fact]) if fact in LOGARITHMS else row[fact] for fact in ROW_FACTS] + [
        form, steps(elements), steps(segments), steps(mean),
        steps(longest / mean), steps(longest / elements), steps(padded / elements),
        min(16, aligned & -aligned),
        steps(elements * row["element_bytes"]), steps(mean * row["element_bytes"]), steps(mean * row["state_bytes"]),
        steps(longest), steps(segments * row["result_bytes"]), steps(row["features"] if row["row_bytes"] else 0),
    ]


def read_rows(paths=None):
    rows = []
    for path in sorted((HERE / "rows").glob("*.csv")) if paths is None else [pathlib.Path(path) for path in paths]:
        with open(path) as table:
            for row in csv.DictReader(table):
                for key in ROW_FACTS + SIZES:
                    row[key] = int(row.get(key, 0))
                rates, texts = {}, {}
                for plan in row["rates"].split():
                    plan, rate = plan.rsplit("=", 1)
                    if ":" in plan:  # plans with settings of a user are no stages
                        continue
                    stage, _, text = plan.partition("@")
                    rates[stage] = max(rates.get(stage, 0.0), float(rate))
                    texts[stage] = text
                if len(rates) > 1:
                    row["rates"], row["texts"], row["file"] = rates, texts, path.stem
                    rows.append(row)
    return with_abandoned(rows)


def with_abandoned(rows):
    """Gives a stage without a rate that other rows of the same work have the rate that is surely above its own: a bench has abandoned
    it. Leaves out rows that lack a stage which is never so slow, since results differed there."""
    def work(row):
        return row["operator"], kind_of(row), row["device"].startswith("NVIDIA"), row["file"]

    stages, least = collections.defaultdict(set), collections.defaultdict(lambda: 1.0)
    for row in rows:
        stages[work(row)].update(row["rates"])
        best = max(row["rates"].values())
        for stage, rate in row["rates"].items():
            least[stage] = min(least[stage], rate / best)
    kept = []
    for row in rows:
        best, missing = max(row["rates"].values()), sorted(stages[work(row)] - set(row["rates"]))
        for stage in missing:
            row["rates"][stage], row["texts"][stage] = ABANDONED * best, None
        if all(least[stage] < SLOW for stage in missing):
            kept.append(row)
    return kept


def newest_texts(rows):
    """For each stage the hash of its text in the newest row. A row of another text counts less."""
    newest = {}
    for row in sorted(rows, key=lambda row: row.get("date", "")):
        newest.update({stage: text for stage, text in row["texts"].items() if text})
    return newest


def views_of(row):
    """What plans see of a workload that know all of its segments, or less: numbers, longest, padded, how much that counts, and
    below which share of the best rate nothing is told apart."""
    views = [(row["segments"], row["longest"], row["padded"], 1.0, LEAST)]
    if row["form"] == "offsets":
        views += [(row["segments"], row["longest"], 0, 0.1, LEAST), (row["segments"], 0, 0, 0.2, LEAST_UNKNOWN)]
    elif form_of(row) > 1:  # where segments begin is seen on the way
        views.append((max(1, row["elements"] // 64), 0, 0, 0.5, LEAST))
    return views


def examples(rows):
    """Facts, and by stage the places, shares and weights of its rows. Rows stand there again as plans see them that know less of
    their segments."""
    newest = newest_texts(rows)
    numbers, own = [], collections.defaultdict(lambda: ([], [], []))
    for row in rows:
        second, best = sorted(row["rates"].values())[-2:]
        for segments, longest, padded, weight, least in views_of(row):
            for stage, rate in row["rates"].items():
                places, shares, weights = own[stage]
                places.append(len(numbers))
                shares.append(math.log(min(max(rate / (best if rate < best else second), least), MOST)))
                weights.append(weight * (1.0 if row["texts"][stage] in (None, newest.get(stage, "")) else OLDER))
            numbers.append(facts(row, segments, longest, padded))
    return np.array(numbers), own


def grow(rows):
    """For each stage the logarithm of its mean share in thousandths, the kinds of work that its rows have, and its trees."""
    numbers, own = examples(rows)
    kinds = collections.defaultdict(set)
    for row in rows:
        for stage in row["rates"]:
            kinds[stage].add(kind_of(row))
    order = {}
    for stage in sorted(own):
        places, shares, weights = own[stage]
        model = HistGradientBoostingRegressor(max_iter=min(TREES, len(places) // EXAMPLES), max_leaf_nodes=LEAVES, learning_rate=RATE, min_samples_leaf=20, l2_regularization=5,
                                              early_stopping=False)
        model.fit(numbers[places], np.array(shares), sample_weight=np.array(weights))
        order[stage] = (round(1000 * float(model._baseline_prediction[0, 0])), sorted(kinds[stage]), [tree_of(tree[0].nodes) for tree in model._predictors])
    return order


def tree_of(nodes, at=0):
    """A tree in whole numbers: a share in thousandths of a logarithm, or (fact, most, tree up to most, tree above it)."""
    node = nodes[at]
    if node["is_leaf"]:
        return round(1000 * float(node["value"]))
    return (int(node["feature_idx"]), math.floor(node["num_threshold"]), tree_of(nodes, node["left"]), tree_of(nodes, node["right"]))


def text_of_tree(tree):
    if isinstance(tree, int):
        return f"{tree:+}"
    fact, most, below, above = tree
    return LETTERS[fact] + str(most) + text_of_tree(below) + text_of_tree(above)


def value(tree, numbers):
    while not isinstance(tree, int):
        fact, most, below, above = tree
        tree = below if numbers[fact] <= most else above
    return tree


def distance(numbers, other):
    """How far workloads are apart: octaves of sizes and bytes, each at most eight."""
    return np.minimum(np.abs(numbers - other), 8 * STEPS).sum(axis=-1)


def samples(rows):
    """Rows that stand for those near them: again and again the row that is farthest from all before it is taken."""
    lines = []
    for kind in sorted({kind_of(row) for row in rows}):
        own = [row for row in rows if kind_of(row) == kind]
        numbers = np.array([facts(row, row["segments"], row["longest"], row["padded"]) for row in own])
        away = np.full(len(own), np.inf)
        at = 0
        for _ in range(min(SAMPLES, len(own))):
            lines.append(sample_text(own[at], numbers[at]))
            away = np.minimum(away, distance(numbers, numbers[at]))
            at = int(np.argmax(away))
    return lines


def sample_text(row, numbers):
    best = max(row["rates"].values())
    first = sorted(row["rates"].items(), key=lambda stage: -stage[1])[:3]
    shown = ", ".join(f"{stage} {rate / best:.2f}" for stage, rate in first)
    rows = f" with {row['features']} features" if row["row_bytes"] else ""
    return (f"near {' '.join(str(number) for number in numbers)} {row['operator']} {row['form']}, {row['elements']} elements{rows} in "
            f"{row['segments']} segments, {row['device']}: {shown}")


def text_of(order, rows):
    lines = ["# The order in which stages are tried, grown by kernels/ranks/grow.py from measured rows, so many of each device; not for editing.",
             "# A stage, the logarithm of its mean share of the best rate in thousandths, the kinds of work that its rows have, and",
             "# its trees, one a line: a letter asks a fact and takes the next branch where it is at most the number behind it, else the",
             "# one after; numbers with a sign in their place are leaves. Before them stand measured workloads, each with its facts, to be named beside one near to it."]
    lines += [f"# {letter}: {fact}" for letter, fact in zip(LETTERS, FACTS, strict=True)]
    devices = collections.Counter(row["device"] for row in rows)
    lines += [f"rows {count} {device}" for device, count in sorted(devices.items())]
    lines += samples(rows)
    for stage, (base, kinds, trees) in order.items():
        lines.append(f"stage {stage} {base} {' '.join(kinds)}")
        lines += [text_of_tree(tree) for tree in trees]
    return "\n".join(lines) + "\n"


def shares_of_chosen(order, rows):
    """What the first stage that the order names, and the best of its first three, have of the best stage's rate."""
    shares = []
    for row in rows:
        numbers = facts(row, row["segments"], row["longest"], row["padded"])
        expected = {stage: order[stage][0] + sum(value(tree, numbers) for tree in order[stage][2])
                    for stage in row["rates"] if stage in order}
        if not expected:
            continue  # no row of such a machine or kind of work is left to grow from
        ranked = sorted(expected, key=lambda stage: -expected[stage])
        best = max(row["rates"].values())
        shares.append((row["rates"][ranked[0]] / best, max(row["rates"][stage] for stage in ranked[:3]) / best))
    return shares


def print_judged(name, shares):
    if not shares:
        return
    for place, what in ((0, "first"), (1, "best of three")):
        own = sorted(share[place] for share in shares)
        mean = math.exp(sum(math.log(share) for share in own) / len(own))
        print(f"| {name} | {what} | {len(own)} | {mean:.3f} | {own[(len(own) - 1) // 10]:.3f} | {own[(len(own) - 1) // 100]:.3f} | {own[0]:.3f} |", flush=True)


def judged_kind(row):
    return kind_of(row) + ("" if row["device"].startswith("NVIDIA") else ", host")


def print_titles():
    print("| held out | choice | rows | geometric mean | first decile | first percentile | worst |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")


def judge(rows):
    print_titles()
    lot = np.random.RandomState(1).randint(0, 5, len(rows))
    parts = [(grow([row for row, part in zip(rows, lot) if part != k]), [row for row, part in zip(rows, lot) if part == k])
             for k in range(5)]
    for kind in sorted({judged_kind(row) for row in rows}):
        print_judged(f"a fifth by lot, {kind}",
                     [share for order, part in parts for share in shares_of_chosen(order, [row for row in part if judged_kind(row) == kind])])
    for device in sorted({row["device"] for row in rows}):
        order = grow([row for row in rows if row["device"] != device])
        print_judged(device, shares_of_chosen(order, [row for row in rows if row["device"] == device]))
    of_gpus = [row for row in rows if row["device"].startswith("NVIDIA")]
    for op in sorted({row["operator"] for row in of_gpus}):
        order = grow([row for row in of_gpus if row["operator"] != op])
        print_judged(op, shares_of_chosen(order, [row for row in of_gpus if row["operator"] == op]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", choices=["-"], help="standard output in place of order.txt")
    parser.add_argument("--judge", nargs="*", metavar="FILE.csv")
    asked = parser.parse_args()
    rows = read_rows()
    if asked.judge:
        order = grow(rows)
        print_titles()
        for file in asked.judge:
            print_judged(pathlib.Path(file).stem, shares_of_chosen(order, read_rows([file])))
    elif asked.judge is not None:
        judge(rows)
    elif asked.output:
        sys.stdout.write(text_of(grow(rows), rows))
    else:
        (HERE / "order.txt").write_text(text_of(grow(rows), rows))
        import configure

        (HERE / "configurations.txt").write_text(configure.text())


if __name__ == "__main__":
    main()
