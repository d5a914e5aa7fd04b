"""Times a training step of each example: by segfold, and by plain calls of the same framework.

    python training_benchmark.py [--sequences 512] [--repeat 9]

A step is the value of the loss and its gradients. Both ways are timed by turns in one process, after two steps that
compile. The plain ways are the usual ones: scatter and index_add for a pooled batch, associative_scan with zeroed
decays for a recurrence, and a loop over padded steps for the soft longest run. Losses must agree to 1e-3. Prints a
table for a page: median milliseconds of a step, and in brackets the least and the greatest.
"""

import argparse
import importlib.util
import pathlib
import platform
import statistics
import time

import numpy as np

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_torch(logits, plain, data, model, sync):
    """Returns both ways to take a step, each a function that returns the loss."""
    import torch

    *inputs, classes = data

    def way(of):
        def step():
            for part in model:
                part.zero_grad()
            value = torch.nn.functional.binary_cross_entropy_with_logits(of(model, *inputs), classes)
            value.backward()
            sync()
            return value.item()

        return step

    return way(logits), way(plain)


def pooled_batch(count):
    import torch

    module = example("pooled_batch_in_torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    rows, offsets, classes = (part.to(device) for part in module.sets(np.random.default_rng(1), count))
    model = torch.nn.Linear(module.FEATURES, 1).to(device), torch.nn.Linear(module.FEATURES, 1).to(device)
    ids = torch.repeat_interleave(torch.arange(count, device=device), offsets.diff())

    def plain(model, rows, offsets):
        score, read = model
        scores = score(rows).squeeze(1)
        greatest = torch.full((count,), -torch.inf, device=device).scatter_reduce(0, ids, scores.detach(), "amax")
        weights = torch.exp(scores - greatest[ids])
        weights = weights / torch.zeros(count, device=device).index_add(0, ids, weights)[ids]
        sums = torch.zeros(count, rows.shape[1], device=device).index_add(0, ids, weights.unsqueeze(1) * rows)
        return read(sums).squeeze(1)

    return of_torch(module.logits, plain, (rows, offsets, classes), model, torch.cuda.synchronize if device == "cuda" else lambda: None)


def longest_run(count):
    import torch

    module = example("soft_longest_run_in_torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    readings, offsets, classes = (part.to(device) for part in module.sequences(np.random.default_rng(1), count))
    model = torch.nn.Linear(module.READINGS, 1).to(device), torch.nn.Linear(1, 1).to(device)
    lengths = offsets.diff()
    longest = int(lengths.max())
    is_there = torch.arange(longest, device=device) < lengths.unsqueeze(1)

    def plain(model, readings, offsets):
        score, read = model
        scores = torch.zeros(count, longest, device=device).masked_scatter(is_there, score(readings).squeeze(1))
        tail, best = scores[:, 0], scores[:, 0]
        for at in range(1, longest):
            now, goes_on = scores[:, at], is_there[:, at]
            tail = torch.where(goes_on, torch.logaddexp(now, tail + now), tail)
            best = torch.where(goes_on, torch.logaddexp(best, tail), best)
        return read(best.unsqueeze(1) / module.LEAST_RUN).squeeze(1)

    return of_torch(module.logits, plain, (readings, offsets, classes), model, torch.cuda.synchronize if device == "cuda" else lambda: None)


def recurrence(count):
    import jax
    import jax.numpy as jnp

    module = example("recurrence_in_jax")
    signals, offsets = module.sequences(np.random.default_rng(1), count)
    signals = jnp.asarray(signals)
    target = module.run(jnp.asarray(module.TRUE_DECAYS), signals, offsets)
    is_first = np.zeros(signals.shape[1], bool)
    is_first[offsets[:-1]] = True

    def plain_run(decays, signals, offsets):
        def of_channel(decay, x):
            return jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (jnp.where(is_first, 0, decay), x))[1]

        return jax.vmap(of_channel)(decays, signals)

    def way(run):
        def loss(weights):
            return jnp.mean((run(jax.nn.sigmoid(weights), signals, offsets) - target) ** 2)

        step = jax.jit(jax.value_and_grad(loss))
        weights = jnp.zeros(module.CHANNELS)

        def taken():
            value, gradient = step(weights)
            gradient.block_until_ready()
            return float(value)

        return taken

    return way(module.run), way(plain_run)


def timed(ways, repeat):
    values = [[way() for way in ways] for _ in range(2)][-1]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-3)
    times = [[], []]
    for _ in range(repeat):
        for way, taken in zip(ways, times):
            begin = time.perf_counter()
            way()
            taken.append(1e3 * (time.perf_counter() - begin))
    return times


def text_of(times):
    return f"{statistics.median(times):.3g} ({min(times):.3g} to {max(times):.3g})"


def machine():
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    with open("/proc/cpuinfo") as file:
        name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return f"{name}, {torch.get_num_threads()} threads"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sequences", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=9)
    asked = parser.parse_args()
    import jax
    import torch

    print(f"{machine()}; torch {torch.__version__}, JAX {jax.__version__}; {asked.sequences} sequences, medians of {asked.repeat} steps\n")
    print("| example | segfold, ms | plain, ms | times as fast |\n| --- | ---: | ---: | ---: |")
    for name, make in [("a softmax-pooled batch, torch", pooled_batch), ("a linear recurrence, JAX", recurrence), ("a soft longest run, torch", longest_run)]:
        own, plain = timed(make(asked.sequences), asked.repeat)
        print(f"| {name} | {text_of(own)} | {text_of(plain)} | {statistics.median(plain) / statistics.median(own):.2f} |", flush=True)


if __name__ == "__main__":
    main()
