"""Batches of folds in JAX's programs: one launch, or entry by entry."""

import numpy as np
import pytest

import segfold as sf

jax = pytest.importorskip("jax", reason="JAX is not installed, so that batches in its programs are not tried")
if not sf._segfold.has_xla():
    pytest.skip("the extension was built without jaxlib's header, so that batches in JAX's programs are not tried", allow_module_level=True)
import segfold.jax  # noqa: E402

X = np.array([1.5, -2.0, 0.25, 3.0, 0.5, -1.0, 2.0, 1.0, -0.5])


@pytest.fixture(autouse=True)
def x64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def drawn(count, length=14, seed=3):
    random = np.random.default_rng(seed)
    return [random.uniform(0.3, 1.5, length) for _ in range(count)]


def num_launches(function, *arrays):
    """The folds of a program, and its loops."""
    text = jax.jit(function).lower(*arrays).as_text()
    return text.count("@segfold_fold("), text.count("stablehlo.while")


BATCHES = "sum mean_variance affine log_sum_exp softmax linear_recurrence argmax weighted_mean top_four".split()


@pytest.mark.drawn
@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_is_one_launch(name):
    op = getattr(sf.standard, name)
    columns = [np.stack(drawn(3, 9, seed)) for seed in range(len(op.parameters))]
    for words in (
        {},
        {"uniform": 3},
        {"offsets": np.array([0, 4, 4, 9], np.int32)},
        {"lengths": np.array([2, 0, 7])},
        {"ranges": (np.array([5, 0]), np.array([9, 3]))},
        {"groups": np.array([2, 0, 2, -1, 0, 0, 2, 2, -1]), "num_groups": 4},
    ):
        run = jax.vmap(lambda *columns: sf.jax.fold(op, *columns, **words))
        assert num_launches(run, *columns) == (1, 0)
        found = jax.tree.leaves(jax.jit(run)(*columns))
        each = [jax.tree.leaves(op(*(column[at] for column in columns), **words)) for at in range(3)]
        for one, *others in zip(found, *each):
            np.testing.assert_array_equal(one, np.stack(others))


def test_a_batch_of_segments_and_of_shared_columns():
    x, ends = np.stack(drawn(3, 9)), np.array([[0, 4, 4, 9], [0, 0, 1, 9], [0, 3, 9, 9]], np.int32)
    ids = np.array([[0, 1, 0, 1, 0, 1, 0, 1, 0], [2, 2, 2, 2, 2, 2, 2, 2, 2], [-1, 0, 1, 2, 0, 1, 2, 0, 1]], np.int32)
    affine = sf.standard.affine
    found = jax.vmap(lambda x, ends: sf.jax.fold(affine, x, x[0] + x[1] * X, offsets=ends))(x, ends)
    grouped = jax.vmap(lambda ids: sf.jax.fold(affine, x[0], X, groups=ids, num_groups=3))(ids)
    ranged = jax.vmap(lambda ends: sf.jax.fold(affine, x[0], X, ranges=(ends[:-1], ends[1:])))(ends)
    for at in range(3):
        for field in range(2):
            np.testing.assert_array_equal(found[field][at], affine(x[at], x[at][0] + x[at][1] * X, offsets=ends[at])[field])
            np.testing.assert_array_equal(grouped[field][at], affine(x[0], X, groups=ids[at], num_groups=3)[field])
            np.testing.assert_array_equal(ranged[field][at], affine(x[0], X, offsets=ends[at])[field])


def test_batches_of_batches_and_of_gradients():
    x = np.random.default_rng(9).uniform(0.3, 1.5, (2, 3, 6))

    def loss(x):
        return (sf.jax.fold(sf.standard.log_sum_exp, x, uniform=3) ** 2).sum()

    gradients = jax.vmap(jax.vmap(jax.grad(loss)))
    assert num_launches(gradients, x)[1] == 0
    found, summed = jax.jit(gradients)(x), jax.grad(lambda x: jax.vmap(jax.vmap(loss))(x).sum())(x)
    for at in np.ndindex(2, 3):
        np.testing.assert_array_equal(found[at], jax.grad(loss)(x[at]))
        np.testing.assert_array_equal(summed[at], found[at])


def test_entries_of_a_batch_that_are_folded_in_turn():
    """Where flat arrays would show in the results: scalars, tables by place, `segment`."""
    op = sf.operator(
        "operator f(x: f64, i: i32, k: scalar f64, t: table f64, u: table f64) -> f64 "
        "{ state s: f64 = 0 lift x * k + t[i] * u[segment] combine(a, b) a + b }"
    )
    x, i = np.stack(drawn(3, 6)), np.array([0, 1, 1, 0, 1, 1], np.int32)
    k, t, u = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2), np.arange(9.0).reshape(3, 3)
    run = jax.vmap(lambda x, k, t, u: sf.jax.fold(op, x, i, k, t, u, uniform=3))
    assert num_launches(run, x, k, t, u) == (1, 1)
    only_by_segment = jax.vmap(lambda x, u: sf.jax.fold(op, x, i, 2.0, t[0], u, uniform=3))
    assert num_launches(only_by_segment, x, u) == (1, 0)
    for at in range(3):
        np.testing.assert_array_equal(run(x, k, t, u)[at], op(x[at], i, k[at], t[at], u[at], uniform=3))
        np.testing.assert_array_equal(only_by_segment(x, u)[at], op(x[at], i, 2.0, t[0], u[at], uniform=3))
    numbered = sf.operator("operator n(x: f64) -> f64 { state s: f64 = 0 lift x * f64(segment) combine(a, b) a + b }")
    found = jax.vmap(lambda x: sf.jax.fold(numbered, x, uniform=3))(x)
    np.testing.assert_array_equal(found, np.stack([numbered(part, uniform=3) for part in x]))


def test_wrong_segments_of_an_entry_read_no_other():
    x, ends = np.stack(drawn(2, 6)), np.array([[0, 3, 5], [0, 3, 6]], np.int32)
    for words in ("offsets", "lengths", "ranges"):
        given = {"offsets": ends, "lengths": np.diff(ends), "ranges": (ends[:, :-1], ends[:, 1:] + np.array([[0, 3], [0, 0]], np.int32))}[words]
        run = jax.vmap(lambda x, given: sf.jax.fold(sf.standard.sum, x, **{words: given}))
        with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT"):
            jax.block_until_ready(run(x, given))
