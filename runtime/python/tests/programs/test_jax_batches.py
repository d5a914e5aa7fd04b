"""Batches of folds in JAX's programs: one launch, or entry by entry."""

import functools

import numpy as np
import pytest

import segfold as sf
from same_results import expect_same

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
        if "ranges" in words and name == "linear_recurrence" and jax.default_backend() == "gpu":
            with pytest.raises(sf.InputError, match="no stage takes segments given by ranges on a device"):
                jax.jit(run)(*columns)
            continue
        assert num_launches(run, *columns) == (1, 0)
        found = jax.tree.leaves(jax.jit(run)(*columns))
        each = [jax.tree.leaves(op(*(column[at] for column in columns), **words)) for at in range(3)]
        for one, *others in zip(found, *each):
            expect_same(one, np.stack(others))


def test_a_batch_of_segments_and_of_shared_columns():
    x, ends = np.stack(drawn(3, 9)), np.array([[0, 4, 4, 9], [0, 0, 1, 9], [0, 3, 9, 9]], np.int32)
    ids = np.array([[0, 1, 0, 1, 0, 1, 0, 1, 0], [2, 2, 2, 2, 2, 2, 2, 2, 2], [-1, 0, 1, 2, 0, 1, 2, 0, 1]], np.int32)
    affine = sf.standard.affine
    found = jax.vmap(lambda x, ends: sf.jax.fold(affine, x, x[0] + x[1] * X, offsets=ends))(x, ends)
    grouped = jax.vmap(lambda ids: sf.jax.fold(affine, x[0], X, groups=ids, num_groups=3))(ids)
    ranged = jax.vmap(lambda ends: sf.jax.fold(affine, x[0], X, ranges=(ends[:-1], ends[1:])))(ends)
    for at in range(3):
        for field in range(2):
            expect_same(found[field][at], affine(x[at], x[at][0] + x[at][1] * X, offsets=ends[at])[field])
            expect_same(grouped[field][at], affine(x[0], X, groups=ids[at], num_groups=3)[field])
            expect_same(ranged[field][at], affine(x[0], X, offsets=ends[at])[field])


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


# Of two entries with 5 elements; one is right in all but the first pair, whose lengths make each other's good.
WRONG = [
    ("lengths", [[3, 1], [3, 3]]),
    ("lengths", [[-1, 6], [3, 2]]),
    ("offsets", [[0, 3, 4], [0, 3, 5]]),
    ("offsets", [[0, 6, 5], [0, 3, 5]]),
    ("offsets", [[1, 3, 5], [0, 3, 5]]),
    ("offsets", [[0, 3, 5], [0, 3, 6]]),
    ("ranges", [[[0, 3], [3, 6]], [[0, 3], [3, 5]]]),
    ("ranges", [[[0, 3], [3, 2]], [[0, 3], [3, 5]]]),
]


def mapped(fold, word):
    """A batch of folds of a column and of segments, which are two arrays for ranges."""
    if word == "ranges":
        return jax.vmap(lambda x, given: fold(x, ranges=(given[0], given[1])))
    return jax.vmap(lambda x, given: fold(x, **{word: given}))


@pytest.mark.parametrize("word, given", WRONG)
def test_wrong_segments_of_an_entry_are_refused_on_the_host(word, given):
    run = mapped(functools.partial(sf.jax.fold, sf.standard.sum), word)
    with jax.default_device(jax.devices("cpu")[0]), pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT"):
        jax.block_until_ready(jax.jit(run)(np.stack(drawn(2, 5)), np.array(given, np.int32)))


@pytest.mark.parametrize("word, given", WRONG[1:])
def test_wrong_segments_of_an_entry_show_in_no_other_where_nothing_is_refused(monkeypatch, word, given):
    """As on a GPU: what is folded there is right for the host, and the results of the other entry are its own."""
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *arrays, cpu, default: default(*arrays))
    x, given = np.stack(drawn(2, 5)), np.array(given, np.int32)
    found = mapped(functools.partial(sf.jax.fold, sf.standard.sum), word)(x, given)
    right = 1 if (word, given.tolist()) != ("offsets", [[0, 3, 5], [0, 3, 6]]) else 0
    np.testing.assert_array_equal(found[right], sf.standard.sum(x[right], offsets=np.array([0, 3, 5])))


@pytest.mark.parametrize("length, segments", [(9, {"uniform": 3}), (9, {"offsets": np.array([0, 4, 4, 9])}), (9, {"lengths": np.array([9])}), (0, {})])
def test_batches_of_no_entries(length, segments):
    x = np.zeros((0, length))
    for name in ("sum", "softmax", "mean_variance"):
        op = getattr(sf.standard, name)
        found = jax.vmap(lambda x: sf.jax.fold(op, x, **segments))(x)
        for one, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(op(np.zeros(length), **segments)), strict=True):
            assert one.shape == (0, *wanted.shape) and one.dtype == wanted.dtype
    loss = jax.grad(lambda x: sf.jax.fold(sf.standard.sum, x, **segments).sum())
    assert jax.vmap(loss)(x).shape == (0, length)


def test_batches_of_places_beyond_their_type(monkeypatch):
    """Places within all entries together need more bits than those within one."""
    monkeypatch.setattr(sf.jax, "_LARGEST_INT32", 8)
    x, ends = np.stack(drawn(3, 5)), np.array([[0, 1, 5], [0, 5, 5], [0, 2, 5]], np.int32)
    run = jax.vmap(lambda x, ends: sf.jax.fold(sf.standard.sum, x, offsets=ends))
    assert "tensor<7xi64>" in jax.jit(run).lower(x, ends).as_text()
    np.testing.assert_array_equal(run(x, ends), np.stack([sf.standard.sum(*entry[:1], offsets=entry[1]) for entry in zip(x, ends)]))
