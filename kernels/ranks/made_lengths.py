"""Lengths of segments by lot, of kinds that `segfold bench --sweep lot` does not have. Needs numpy."""

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


def offsets_by_lot(seed, most=25, generators=GENERATORS):
    """Returns offsets of segments with lengths of one generator, repeated until a number of elements from 2^16 to 2^most is reached."""
    lot = np.random.default_rng(seed)
    elements = int(2 ** lot.uniform(16, most))
    lengths = generators[lot.integers(len(generators))](lot, min(elements, 1 << 22))
    times = -(-elements // max(1, int(lengths.sum())))
    ends = np.cumsum(np.tile(lengths, min(times, 1000)))
    ends = ends[ends <= elements]
    return np.concatenate([[0], ends]).astype(np.int32)
