"""Grows kernels/ranks/order.txt, the order in which stages are tried, from measured rows. configure.py grows their configurations.

    pip install scikit-learn==1.7.2
    python kernels/ranks/grow.py            writes order.txt; with - to standard output
    python kernels/ranks/grow.py --judge    grows from a part of the rows and judges by the rest
    python kernels/ranks/grow.py --judge FILE.csv ...    judges the order by rows of other files

`segfold bench OP --no-tune --peers none --sweep lot:N,seed=S --rates FILE` appends the rows of rows/*.csv: the facts of an
operator and of its segments, and the share of the memory's rate that each stage reached. For each stage, boosted trees learn
the ratio of its rate to that of the best other stage; above 1, the stage itself is the best. Facts are whole numbers: logarithms
count sixteenths of an octave. So nothing depends on rounding, and the program that reads the order decides as this script does.
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
TREES, LEAVES, RATE = 76, 15, 0.2
EXAMPLES = 16  # least number of examples for each tree
LEAST, MOST = 0.3, 2.0  # least and greatest ratio to the rate of the best other stage; ratios beyond count as these
LEAST_UNKNOWN = 0.05  # least ratio if the longest segment is unknown: a stage may suit most lengths and be very slow for some
SAMPLES = 5  # rows that the text has for each kind of work, so that a run can name one near to its own workload
ABANDONED = 0.01  # share of the best rate below which a bench stops to time a stage
SLOW = 0.05  # share of the best rate; a stage that always reaches it was never abandoned
OLDER = 0.5  # weight of a row of an older text of a stage
UNKNOWN = -9999
STEPS = 16  # steps of an octave
LETTERS = "abcdefghijklmnopqrstuvwxyzAB"
FORMS = ("uniform", "offsets", "flags", "keys")

# ROW_FACTS are the facts of operators and machines in rows. FACTS are the facts that the order asks; each has one of LETTERS.
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
    return FORMS.index({"whole": "uniform", "ranges": "offsets"}.get(row["form"], row["form"]))  # a single segment counts as equal lengths


def kind_of(row):
    """Returns the kind of work: the form of segments, and whether it has write-back or rows of features."""
    return FORMS[form_of(row)] + ("+map" if row["map"] else "") + ("+rows" if row["row_bytes"] else "")


def facts(row, segments, longest, padded):
    """Returns the numbers of FACTS. `longest` and `padded` are 0 if they are unknown."""
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
                    if ":" in plan:  # a plan with settings of a user; it says nothing of the stage
                        continue
                    stage, _, text = plan.partition("@")
                    rates[stage] = max(rates.get(stage, 0.0), float(rate))
                    texts[stage] = text
                if len(rates) > 1:
                    row["rates"], row["texts"], row["file"] = rates, texts, path.stem
                    rows.append(row)
    return with_abandoned(rows)


def with_abandoned(rows):
    """Adds rates of stages that a bench has abandoned: a stage that other rows of the same work have, but this row lacks, gets the
    share ABANDONED of the best rate. Leaves out rows that lack a stage which is never that slow, because its results were wrong."""
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
    """Returns for each stage the hash of its text in the newest row. Rows of other texts count less."""
    newest = {}
    for row in sorted(rows, key=lambda row: row.get("date", "")):
        newest.update({stage: text for stage, text in row["texts"].items() if text})
    return newest


def views_of(row):
    """Returns the views that plans have of a workload, as they know all of its segments or less: the number of segments, the longest,
    the padded elements, the weight of the view, and the least ratio to the best rate that counts."""
    views = [(row["segments"], row["longest"], row["padded"], 1.0, LEAST)]
    if row["form"] == "offsets":
        views += [(row["segments"], row["longest"], 0, 0.1, LEAST), (row["segments"], 0, 0, 0.2, LEAST_UNKNOWN)]
    elif form_of(row) > 1:  # flags and keys: the number of segments is unknown before the fold
        views.append((max(1, row["elements"] // 64), 0, 0, 0.5, LEAST))
    return views


def examples(rows):
    """Returns facts, and for each stage the places, shares and weights of its rows. A row is repeated for plans that know less of
    its segments."""
    newest = newest_texts(rows)
    numbers, own = [], collections.defaultdict(lambda: ([], [], []))
    for row in rows:
        second, best = sorted(row["rates"].values())[-2:]
        views = [(row["segments"], row["longest"], row["padded"], 1.0, LEAST)]
        if row["form"] == "offsets":
            views += [(row["segments"], row["longest"], 0, 0.1, LEAST), (row["segments"], 0, 0, 0.2, LEAST_UNKNOWN)]
        elif form_of(row) > 1:  # flags and keys: the number of segments is unknown before the fold
            views.append((max(1, row["elements"] // 64), 0, 0, 0.5, LEAST))
        for segments, longest, padded, weight, least in views:
            for stage, rate in row["rates"].items():
                places, shares, weights = own[stage]
                places.append(len(numbers))
                shares.append(math.log(min(max(rate / (best if rate < best else second), least), MOST)))
                weights.append(weight * (1.0 if row["texts"][stage] in (None, newest.get(stage, "")) else OLDER))
            numbers.append(facts(row, segments, longest, padded))
    return np.array(numbers), own


def grow(rows):
    """Returns for each stage the logarithm of its mean share in thousandths, the kinds of work in its rows, and its trees."""
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
    """Returns a tree in whole numbers: the logarithm of a share in thousandths, or (fact, most, tree up to most, tree above it)."""
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
    """Returns the distance of workloads: the sum over all facts of their distances, each at most eight octaves."""
    return np.minimum(np.abs(numbers - other), 8 * STEPS).sum(axis=-1)


def samples(rows):
    """Returns sample rows of each kind of work. Each next sample is the row that is farthest from all samples before it."""
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
    """Returns two shares of the best rate for each row: that of the first stage of the order, and that of the best of its first three."""
    shares = []
    for row in rows:
        numbers = facts(row, row["segments"], row["longest"], row["padded"])
        expected = {stage: order[stage][0] + sum(value(tree, numbers) for tree in order[stage][2])
                    for stage in row["rates"] if stage in order}
        if not expected:
            continue  # the order has grown without rows of this machine or kind of work
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
