"""Learns from labels of whole sequences which steps belong to an event, with a soft longest run, in torch.

    python soft_longest_run_in_torch.py [STEPS]

A sequence of noisy readings is positive if an event was on for twelve steps in a row. The labels do not say when. The
model computes a score for each step; a score above 0 means that the event is on. The soft longest run of a sequence
sums exp(sum of the scores in the run) over all runs of neighbouring steps, and takes the logarithm. Its gradient by a
step's score is the probability that the step lies in the decisive run.
"""

import sys

import numpy as np
import torch

import segfold as sf
import segfold.torch

READINGS, LEAST_RUN = 3, 12

# The state of a part has logarithms of four sums of exp: over the whole part, over runs at its begin, over runs at its
# end, and over all runs.
soft_longest_run = sf.operator("""
operator soft_longest_run(score: f32) -> f32 {
  state { total: f32; head: f32; tail: f32; best: f32 }
  lift { total = score; head = score; tail = score; best = score }
  combine(a, b) {
    let over = a.total + b.head;  let most_head = max(a.head, over);
    let back = a.tail + b.total;  let most_tail = max(b.tail, back);
    let across = a.tail + b.head; let most = max(max(a.best, b.best), across);
    total = a.total + b.total;
    head = most_head + log(exp(a.head - most_head) + exp(over - most_head));
    tail = most_tail + log(exp(back - most_tail) + exp(b.tail - most_tail));
    best = most + log(exp(a.best - most) + exp(b.best - most) + exp(across - most))
  }
  finish best
}
""")
longest = sf.torch.function(soft_longest_run)


def longest_of(events):
    """Returns the length of the longest run of True."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], events, [0]])))
    return int((ends[1::2] - ends[::2]).max(initial=0))


def sequences(random, count):
    """Makes `count` sequences of 40 to 200 steps. Returns the readings, the offsets of the sequences, and the classes."""
    readings, offsets, classes = [], [0], []
    for _ in range(count):
        steps = int(random.integers(40, 200))
        events = (random.random(steps // 4 + 1) < 0.28).repeat(4)[:steps]  # on or off for four steps at a time
        noise = random.standard_normal((steps, READINGS))
        noise[:, 0] += 2.5 * events
        noise[:, 1] -= 1.5 * events
        readings.append(noise)
        offsets.append(offsets[-1] + steps)
        classes.append(longest_of(events) >= LEAST_RUN)
    return tuple(map(torch.from_numpy, (np.concatenate(readings).astype(np.float32), np.array(offsets), np.array(classes, np.float32))))


def logits(model, readings, offsets):
    score, read = model
    runs = longest(score(readings).squeeze(1).contiguous(), offsets=offsets)
    return read(runs.unsqueeze(1) / LEAST_RUN).squeeze(1)


def learn(steps):
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    readings, offsets, classes = (part.to(device) for part in sequences(np.random.default_rng(1), 512))
    model = torch.nn.Linear(READINGS, 1).to(device), torch.nn.Linear(1, 1).to(device)
    optimizer = torch.optim.Adam([parameter for part in model for parameter in part.parameters()], lr=0.1)
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = torch.nn.functional.binary_cross_entropy_with_logits(logits(model, readings, offsets), classes)
        value.backward()
        optimizer.step()
        values.append(value.item())
    others, begins, wanted = (part.to(device) for part in sequences(np.random.default_rng(2), 512))
    with torch.no_grad():
        right = ((logits(model, others, begins) > 0) == (wanted > 0)).float().mean()
    return float(right), values


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    right, values = learn(steps)
    for time in range(0, steps, max(steps // 10, 1)):
        print(f"step {time:4}  loss {values[time]:.4f}  {'#' * round(80 * values[time])}")
    print(f"{right:.1%} of other sequences are classified as they should be")
