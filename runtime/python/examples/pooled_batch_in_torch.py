"""Trains a classifier of sets of unequal size with softmax pooling, in torch.

    python pooled_batch_in_torch.py [STEPS]

Each set has up to 299 vectors. The vector with a large first feature decides the class of the set. The model computes
a score for each vector and sums the vectors of a set, weighted by the softmax of their scores. No set is padded. The
softmax, the weighted sum and their gradients are folds.
"""

import sys

import numpy as np
import torch

import segfold as sf
import segfold.torch

FEATURES = 8

softmax = sf.torch.function(sf.standard.softmax)
pooled = sf.torch.function(sf.operator("""
# The sum of rows, each by its weight.
operator pooled(row: row f32, weight: f32) -> f32 { state sum: f32 = 0  lift weight * row  combine(a, b) a + b  laws commutative }
"""))


def sets(random, count):
    """Makes `count` sets of 5 to 299 vectors. Returns the vectors, the offsets of the sets, and the classes."""
    sizes = random.integers(5, 300, count)
    offsets = np.append(0, sizes.cumsum())
    rows = random.standard_normal((offsets[-1], FEATURES)).astype(np.float32)
    chosen = offsets[:-1] + random.integers(0, sizes)
    rows[chosen, 0] += 6
    rows[chosen, 1] *= 4
    classes = (rows[chosen, 1] > 0).astype(np.float32)
    return torch.from_numpy(rows), torch.from_numpy(offsets), torch.from_numpy(classes)


def logits(model, rows, offsets):
    score, read = model
    weights = softmax(score(rows).squeeze(1).contiguous(), offsets=offsets)
    return read(pooled(rows, weights, offsets=offsets)).squeeze(1)


def learn(steps):
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows, offsets, classes = (part.to(device) for part in sets(np.random.default_rng(1), 512))
    model = torch.nn.Linear(FEATURES, 1).to(device), torch.nn.Linear(FEATURES, 1).to(device)
    optimizer = torch.optim.Adam([parameter for part in model for parameter in part.parameters()], lr=0.2)
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = torch.nn.functional.binary_cross_entropy_with_logits(logits(model, rows, offsets), classes)
        value.backward()
        optimizer.step()
        values.append(value.item())
    others, begins, wanted = (part.to(device) for part in sets(np.random.default_rng(2), 512))
    with torch.no_grad():
        right = ((logits(model, others, begins) > 0) == (wanted > 0)).float().mean()
    return float(right), values


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    right, values = learn(steps)
    for time in range(0, steps, max(steps // 10, 1)):
        print(f"step {time:4}  loss {values[time]:.4f}  {'#' * round(80 * values[time])}")
    print(f"{right:.1%} of other sets are classified as they should be")
