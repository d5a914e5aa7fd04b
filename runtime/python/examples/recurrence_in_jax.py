"""Learns the decays of a linear recurrence over sequences of unequal length, in JAX.

    python recurrence_in_jax.py [STEPS]

The recurrence is `h = decay * h + x` along each sequence. The target is computed with four hidden decays, one per
channel, which the program learns with Adam. XLA calls folds for the recurrence and for its gradient, which runs
backwards along each sequence.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

import segfold as sf
import segfold.jax

CHANNELS = 4
TRUE_DECAYS = np.array([0.5, 0.8, 0.9, 0.97], np.float32)

# Each element (decay, x) stands for the map h -> decay * h + x. The fold composes these maps along a sequence.
recurrence = sf.operator("""
# The running value of h = decay * h + x, from 0 at the begin of each segment.
operator recurrence(decay: f32, x: f32) -> (each h: f32) {
  state { scale: f32 = 1; shift: f32 = 0 }
  lift { scale = decay; shift = x }
  combine(a, b) { scale = a.scale * b.scale; shift = b.scale * a.shift + b.shift }
  scan(before, through) through.shift
}
""")


def sequences(random, count):
    """Makes `count` sequences of 20 to 399 steps, concatenated. Returns their signals and their offsets."""
    lengths = random.integers(20, 400, count)
    offsets = np.append(0, lengths.cumsum()).astype(np.int32)
    return random.standard_normal((CHANNELS, offsets[-1])).astype(np.float32), offsets


def run(decays, signals, offsets):
    """Computes the recurrence of every channel, as a batch of folds in one launch."""
    return jax.vmap(lambda decay, x: sf.jax.fold(recurrence, jnp.full_like(x, decay), x, offsets=offsets))(decays, signals)


def loss(weights, signals, offsets, target):
    return jnp.mean((run(jax.nn.sigmoid(weights), signals, offsets) - target) ** 2)


@jax.jit
def step(weights, moments, time, signals, offsets, target):
    value, gradient = jax.value_and_grad(loss)(weights, signals, offsets, target)
    first, second = 0.9 * moments[0] + 0.1 * gradient, 0.99 * moments[1] + 0.01 * gradient**2
    scaled = first / (1 - 0.9**time) / (jnp.sqrt(second / (1 - 0.99**time)) + 1e-8)
    return weights - 0.05 * scaled, (first, second), value


def learn(steps):
    signals, offsets = sequences(np.random.default_rng(1), 64)
    target = run(jnp.asarray(TRUE_DECAYS), signals, offsets)
    weights = jnp.zeros(CHANNELS)
    moments, values = (jnp.zeros(CHANNELS), jnp.zeros(CHANNELS)), []
    for time in range(1, steps + 1):
        weights, moments, value = step(weights, moments, time, signals, offsets, target)
        values.append(float(value))
    return np.asarray(jax.nn.sigmoid(weights)), values


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    decays, values = learn(steps)
    for time in range(0, steps, max(steps // 10, 1)):
        print(f"step {time:4}  loss {values[time]:10.6f}  {'#' * round(6 * np.log10(1 + 1e4 * values[time]))}")
    print("learned", decays.round(3), "true", TRUE_DECAYS)
