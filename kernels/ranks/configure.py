"""Grows kernels/ranks/configurations.txt from measured rows: the configuration of a stage if nobody chooses one.

    python kernels/ranks/configure.py            writes configurations.txt; grow.py does this too
    python kernels/ranks/configure.py --judge    grows from four fifths of the workloads and judges by the others

settings/*.csv hold the rates of several configurations of each stage on a workload, as `draw.py --settings` appends them;
alone*.csv hold one configuration for each stage and workload. The loss of a configuration on a workload is how far its rate is
below the best one, as a logarithm. A configuration that was not measured has the loss of the nearest measured one, and a
penalty that grows with the distance. fitted.csv has workloads by lot for stages with too few measured rows. It has no rates, but
the configurations that formulas fitted by hand gave.

Each stage has a decision tree over the facts of the order. The leaves are configurations. The tree grows greedily: each question
is the one that reduces the sum of losses most. All sums are of whole numbers, so that every machine grows the same text.
"""

import argparse
import collections
import csv
import math
import pathlib

import numpy as np

import grow

HERE = pathlib.Path(__file__).parent
LEAVES = 128
FEWEST = 4  # least number of workloads in a leaf
LEAST_GAIN = 0.0005  # least reduction by a question of the mean loss of all workloads
SHRINK = 1  # workloads added to each leaf, with the mean losses of the branch above
MOST = math.log(4)  # greatest loss that counts
SEVERAL = 8  # weight of a workload with several measured configurations
APART = 0.06  # penalty of a configuration that was not measured, for an octave of one tunable
UNIT = 10000
# Stages without a tree: too few rows have several configurations of them, so their `fits` lines determine every setting.
LEFT_OUT = ("fused_blocks", "running_tiles", "running_segments", "group_tables", "group_parts")


def workload_of(row, rates):
    """Returns the views that plans have of a workload, the weight of each view, the rates of configurations, and the row."""
    for key in grow.ROW_FACTS + grow.SIZES:
        row[key] = int(row.get(key, 0))
    if row["form"] not in (*grow.FORMS, "whole", "ranges"):
        row["form"] = "offsets"
    views = grow.views_of(row)
    return [grow.facts(row, *view[:3]) for view in views], [view[3] for view in views], rates, row


def read_rows():
    """Returns the workloads of each stage: facts with weights, and the rate of each configuration, a tuple of (tunable, value)."""
    stages = collections.defaultdict(list)
    for path in sorted((HERE / "settings").glob("*.csv")):
        with open(path) as table:
            for row in csv.DictReader(table):
                own = collections.defaultdict(dict)
                entries = row["rates"].split() if "rates" in row else [f"{entry}=1" for entry in row["fitted"].split()]
                for entry in entries:
                    plan, rate = entry.rsplit("=", 1)
                    stage, _, settings = plan.partition(":near;")
                    if settings:
                        pairs = tuple(sorted((name, int(value)) for name, value in (word.split("=") for word in settings.split(";"))))
                        own[stage.split("@")[0]][pairs] = float(rate)
                for stage, rates in own.items():
                    if stage not in LEFT_OUT:
                        stages[stage].append(workload_of(row, rates))
    return stages


def distance(one, other):
    return UNIT * APART * sum(min(2.0, abs(math.log2((value + 1) / (theirs + 1)))) for (_, value), (_, theirs) in zip(one, other))


class Examples:
    """The workloads of one stage as arrays, with a line for each view of a workload."""

    def __init__(self, workloads):
        self.configurations = sorted({pairs for _, _, rates, _ in workloads for pairs in rates})
        apart = np.array([[distance(one, other) for other in self.configurations] for one in self.configurations])
        place_of = {pairs: place for place, pairs in enumerate(self.configurations)}
        facts, lost, weights, of = [], [], [], []
        for number, (views, shares, rates, _) in enumerate(workloads):
            best = max(rates.values())
            own = np.full(len(self.configurations), UNIT * MOST)
            for pairs, rate in rates.items():
                own = np.minimum(own, UNIT * math.log(best / rate) + apart[place_of[pairs]])
            for pairs, rate in rates.items():
                own[place_of[pairs]] = min(UNIT * MOST, UNIT * math.log(best / rate))
            own = np.floor(own + 0.5).astype(np.int64)
            for view, share in zip(views, shares):
                facts.append(view)
                lost.append(own)
                weights.append(round(10 * share * (SEVERAL if len(rates) > 1 else 1)))
                of.append(number)
        self.facts, self.lost, self.weights, self.of = np.array(facts), np.array(lost, dtype=np.int64), np.array(weights), np.array(of)


def best_question(examples, places, above):
    """Returns the question that reduces losses most: (loss after it, fact, greatest number of the first branch)."""
    lost = examples.lost[places] * examples.weights[places][:, None]
    prior = SHRINK * above
    best = None
    for fact in range(examples.facts.shape[1]):
        numbers = examples.facts[places, fact]
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        sums = np.cumsum(lost[order], axis=0)
        cuts = np.flatnonzero(numbers[:-1] < numbers[1:])
        if not len(cuts):
            continue
        counts = np.cumsum(examples.weights[places][order])
        cuts = cuts[(counts[cuts] >= 10 * FEWEST) & (counts[-1] - counts[cuts] >= 10 * FEWEST)]
        if not len(cuts):
            continue
        first = np.argmin(10 * sums[cuts] + prior, axis=1)
        second = np.argmin(10 * (sums[-1] - sums[cuts]) + prior, axis=1)
        rows = np.arange(len(cuts))
        after = sums[cuts][rows, first] + (sums[-1] - sums[cuts])[rows, second]
        at = int(np.argmin(after))
        if best is None or after[at] < best[0]:
            cut = cuts[at]
            best = (int(after[at]), fact, int((numbers[cut] + numbers[cut + 1]) // 2))
    return best


def tree_of(examples, places=None):
    """Returns a decision tree. A leaf is the index of a configuration; an inner node is [fact, threshold, tree for facts up to it, tree above]."""
    if places is None:
        places = np.arange(len(examples.of))

    def leaf(places, above):
        weights = examples.weights[places]
        sums = (examples.lost[places] * weights[:, None]).sum(axis=0)
        choice = int(np.argmin(10 * sums + SHRINK * above))
        mean = sums * 100 // max(1, int(weights.sum()))  # mean loss, scaled as one workload in 10 * sums
        question = best_question(examples, places, mean)
        return {"choice": choice, "lost": int(sums[choice]), "places": places, "mean": mean, "question": question}

    root = leaf(places, np.zeros(len(examples.configurations), dtype=np.int64))
    leaves = [root]
    while len(leaves) < LEAVES:
        total = int(root["places"].size and examples.weights[root["places"]].sum())
        gains = [(node["lost"] - node["question"][0] if node["question"] else -1) for node in leaves]
        at = int(np.argmax(gains))
        if gains[at] < LEAST_GAIN / 10 * UNIT * total / 10:
            break
        node = leaves.pop(at)
        _, fact, most = node["question"]
        below = examples.facts[node["places"], fact] <= most
        node["fact"], node["most"] = fact, most
        node["below"] = leaf(node["places"][below], node["mean"])
        node["above"] = leaf(node["places"][~below], node["mean"])
        leaves += [node["below"], node["above"]]

    def plain(node):
        if "fact" not in node:
            return node["choice"]
        below, above = plain(node["below"]), plain(node["above"])
        return below if below == above else [node["fact"], node["most"], below, above]

    return plain(root)


def text_of_tree(tree, numbers):
    if isinstance(tree, int):
        return f"+{numbers.setdefault(tree, len(numbers))}"
    fact, most, below, above = tree
    return grow.LETTERS[fact] + str(most) + text_of_tree(below, numbers) + text_of_tree(above, numbers)


def text():
    lines = ["# Which configuration a stage has if nobody chooses one, grown by kernels/ranks/configure.py from measured rows; not for editing.",
             "# A stage, its tree, as in order.txt, and its tunables; a leaf is the place, from 0 on, of one of the configurations below, which",
             "# give the tunables their values."]
    for stage, workloads in sorted(read_rows().items()):
        examples = Examples(workloads)
        numbers = {}
        tree = text_of_tree(tree_of(examples), numbers)
        lines.append(f"stage {stage} {tree} {' '.join(name for name, _ in examples.configurations[0])}")
        lines += [" ".join(str(value) for _, value in examples.configurations[place]) for place in numbers]
    return "\n".join(lines) + "\n"


def chosen(tree, numbers):
    while not isinstance(tree, int):
        fact, most, below, above = tree
        tree = below if numbers[fact] <= most else above
    return tree


def judge():
    print("| stage | workloads | chosen / best | worst decile | first values |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for stage, workloads in sorted(read_rows().items()):
        examples = Examples(workloads)
        lot = np.random.RandomState(1).randint(0, 5, len(workloads))
        own, constant = [], []
        for part in range(5):
            rest = np.flatnonzero(lot[examples.of] != part)
            tree = tree_of(examples, rest)
            whole = int(np.argmin((examples.lost[rest] * examples.weights[rest][:, None]).sum(axis=0)))
            for number in np.flatnonzero(lot == part):
                place = int(np.flatnonzero(examples.of == number)[0])
                own.append(examples.lost[place, chosen(tree, examples.facts[place])] / UNIT)
                constant.append(examples.lost[place, whole] / UNIT)
        shares = sorted(math.exp(-lost) for lost in own)
        print(f"| {stage} | {len(own)} | {math.exp(-sum(own) / len(own)):.3f} | {shares[(len(shares) - 1) // 10]:.3f} | {math.exp(-sum(constant) / len(constant)):.3f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true")
    if parser.parse_args().judge:
        judge()
    else:
        (HERE / "configurations.txt").write_text(text())
