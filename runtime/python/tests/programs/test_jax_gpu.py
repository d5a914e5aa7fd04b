"""Folds inside of JAX's programs on a GPU, beside the reference."""

import os

import numpy as np
import pytest

import segfold as sf

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax = pytest.importorskip("jax", reason="JAX is not installed, so that folds in its programs are not tried")
if not sf._segfold.has_xla() or jax.default_backend() != "gpu":
    pytest.skip("JAX has no GPU here, or segfold nothing for JAX, so that folds in its programs are not tried there", allow_module_level=True)
jnp = jax.numpy
import segfold.jax  # noqa: E402


@pytest.fixture(autouse=True)
def x64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def drawn(op, length, dtype="f8", seed=1):
    return [np.random.default_rng(seed + at).uniform(0.3, 1.1, length).astype(dtype) for at in range(len(op.parameters))]


def ends_of(length, count, seed=5):
    return np.sort(np.append(np.random.default_rng(seed).integers(0, length + 1, count - 1), [0, length])).astype(np.int32)


def near(found, wanted):
    found, wanted = (part if isinstance(part, tuple) else (part,) for part in (found, wanted))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", "sum affine mean_variance softmax linear_recurrence argmax".split())
def test_a_program_folds_as_the_reference_does(name):
    op = getattr(sf.standard, name)
    for length, count in ((1000, 20), (300_000, 1000)):
        columns, ends = drawn(op, length), ends_of(length, count)
        if name == "affine":
            columns[0] **= 0.01  # products of many factors stay within range
        wanted = op(*columns, offsets=ends, backend="reference")
        near(jax.jit(lambda columns, ends: sf.jax.fold(op, *columns, offsets=ends))(columns, ends), wanted)
        near(jax.jit(lambda columns, ends: sf.jax.fold(op, *columns, lengths=jnp.diff(ends)))(columns, ends), wanted)
    near(jax.jit(lambda columns: sf.jax.fold(op, *columns, uniform=100))(columns), op(*columns, uniform=100, backend="reference"))


@pytest.mark.parametrize("name", "sum affine linear_recurrence".split())
def test_groups(name):
    op = getattr(sf.standard, name)
    columns, ids = drawn(op, 5000), np.random.default_rng(3).integers(-1, 60, 5000).astype(np.int32)
    found = jax.jit(lambda columns, ids: sf.jax.fold(op, *columns, groups=ids, num_groups=60))(columns, ids)
    near(found, op(*columns, groups=ids, num_groups=60, backend="reference"))


@pytest.mark.parametrize("name", "sum log_sum_exp softmax affine linear_recurrence max".split())
def test_gradients_are_those_of_the_host(name):
    op, ends = getattr(sf.standard, name), ends_of(2000, 50)
    columns = drawn(op, 2000)

    def loss(columns):
        found = sf.jax.fold(op, *columns, offsets=ends)
        return sum(jnp.where(jnp.isfinite(part), part, 0.0).sum() for part in (found if isinstance(found, tuple) else (found,)))

    found = jax.jit(jax.grad(loss))(columns)
    host = jax.device_put(columns, jax.devices("cpu")[0])
    near(tuple(found), tuple(np.asarray(part) for part in jax.jit(jax.grad(loss))(host)))


def test_an_operator_whose_law_is_refuted():
    """Its kernel is compiled where the program is traced."""
    op = sf.operator("operator minus(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a - b }")
    with pytest.raises(sf.SpecError, match="operator minus states an identity that is none"):
        jax.jit(lambda x: sf.jax.fold(op, x, uniform=3))(np.ones(9, "f4"))


def test_batches():
    op = sf.standard.affine
    scale, shift = np.random.default_rng(7).uniform(0.5, 1, (2, 16, 300))
    found = jax.jit(jax.vmap(lambda a, b: sf.jax.fold(op, a, b, uniform=30)))(scale, shift)
    near(found, tuple(np.stack(part) for part in zip(*(op(a, b, uniform=30, backend="reference") for a, b in zip(scale, shift)))))


def test_many_folds_of_a_program_follow_each_other():
    """Folds of one size share a plan, whose scratch memory one after the other uses."""
    ends = ends_of(100_000, 3000)
    lengths = jnp.diff(ends)  # whose offsets are made in scratch memory
    x = np.random.default_rng(2).uniform(0.5, 1, 100_000)
    assert sf.plan(sf.standard.sum, jnp.asarray(x), lengths=lengths).scratch_bytes > 0

    def program(x):
        for _ in range(20):
            x = x + sf.jax.fold(sf.standard.sum, x, lengths=lengths)[0] * 1e-6
        return x

    wanted = x
    for _ in range(20):
        wanted = wanted + wanted[: ends[1]].sum() * 1e-6
    near(jax.jit(program)(x), wanted)
