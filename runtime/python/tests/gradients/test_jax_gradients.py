"""Gradients of folds in JAX's programs, by JAX's own checks."""

import contextlib
import functools

import numpy as np
import pytest

import segfold as sf

jax = pytest.importorskip("jax", reason="JAX is not installed, so that gradients in its programs are not tried")
if not sf._segfold.has_xla():
    pytest.skip("the extension was built without jaxlib's header, so that gradients in JAX's programs are not tried", allow_module_level=True)
jnp = jax.numpy
import segfold.jax  # noqa: E402

ON_GPU = jax.default_backend() == "gpu"
OFFSETS = np.array([0, 5, 9, 14], np.int32)
X = np.array([1.5, -2.0, 0.25, 3.0, 0.5, -1.0, 2.0, 1.0, -0.5])


@pytest.fixture(autouse=True)
def x64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture
def check():
    """jax.test_util.check_grads, backwards, to an order."""
    test_util = pytest.importorskip("jax.test_util")
    return functools.partial(test_util.check_grads, modes=["rev"], atol=1e-4, rtol=1e-4)


def drawn(count, length=14, seed=3):
    random = np.random.default_rng(seed)
    return [random.uniform(0.3, 1.5, length) for _ in range(count)]


def of_floats(found):
    parts = found if isinstance(found, tuple) else (found,)
    return tuple(jnp.nan_to_num(part) for part in parts if jnp.issubdtype(part.dtype, jnp.floating))


@pytest.mark.drawn
@pytest.mark.parametrize(
    "name",
    "sum mean max norm log_sum_exp softmax mean_variance product affine matrix_2x2 top_four correlation weighted_mean "
    "linear_recurrence running_variance drawdown forward_fill".split(),
)
def test_jax_checks_gradients(check, name):
    op = getattr(sf.standard, name)
    folded = jax.jit(lambda *columns: of_floats(sf.jax.fold(op, *columns, offsets=OFFSETS)))
    # Data on a GPU are not seen, and the identity of this gradient holds for finite data alone.
    refusal = "states an identity that is none" if ON_GPU and name == "running_variance" else None
    with pytest.raises(sf.SpecError, match=refusal) if refusal else contextlib.nullcontext():
        check(folded, drawn(len(op.parameters)), order=1)


@pytest.mark.parametrize("name", ["softmax", "max", "affine", "linear_recurrence"])
def test_jax_checks_gradients_over_all_segments(check, name):
    op = getattr(sf.standard, name)
    for words in (
        {},
        {"uniform": 3},
        {"offsets": np.array([0, 4, 4, 9], np.int32)},
        {"lengths": np.array([2, 0, 7])},
        {"ranges": (np.array([5, 0]), np.array([9, 3]))},
        {"groups": np.array([2, 0, 2, -1, 0, 0, 2, 2, 7]), "num_groups": 4},
    ):
        folded = jax.jit(lambda *columns: of_floats(sf.jax.fold(op, *columns, **words)))
        is_refused = ON_GPU and name in ("affine", "linear_recurrence") and not words.keys().isdisjoint(("ranges", "groups"))
        refusal = "no stage takes segments given by ranges on a device"
        with pytest.raises(sf.InputError, match=refusal) if is_refused else contextlib.nullcontext():
            check(lambda *columns: [jnp.where(jnp.isinf(part), 0, part) for part in folded(*columns)], drawn(len(op.parameters), 9), order=1)


@pytest.mark.parametrize("name", ["norm", "softmax", "weighted_mean", "product", "linear_recurrence"])
def test_jax_checks_second_derivatives(check, name):
    op = getattr(sf.standard, name)
    check(lambda *columns: of_floats(sf.jax.fold(op, *columns, uniform=3)), drawn(len(op.parameters), 6), order=2)


def test_jax_checks_gradients_by_scalars_and_tables(check):
    op = sf.operator(
        "operator f(x: f64, k: scalar f64, t: table f64) -> f64 { state s: f64 = 0 lift pow(x, k) * t[segment] combine(a, b) a + b finish sqrt(s) }"
    )
    t = np.array([0.5, 2.0, 1.0, 9.0])  # one more than there are segments
    check(lambda *arrays: sf.jax.fold(op, *arrays, uniform=3), (np.abs(X), np.array(1.5), t), order=1)
    check(lambda x, t: sf.jax.fold(op, x, 1.5, t, uniform=3), (np.abs(X), t), order=1)


def test_jax_checks_gradients_of_rows(check):
    op = sf.operator(
        "operator spread(x: row f64, w: f64) -> f64 { state { n: f64 = 0; s: f64 = 0; q: f64 = 0 } lift { n = w; s = w * x; q = w * x * x } "
        "combine(a, b) { n = a.n + b.n; s = a.s + b.s; q = a.q + b.q } finish q - s * s / n }"
    )
    x, w = np.random.default_rng(5).uniform(0.3, 1.5, (9, 4)), np.linspace(0.5, 2, 9)
    check(lambda x: sf.jax.fold(op, x, w, uniform=3), (x,), order=1)
    with pytest.raises(RuntimeError, match="'w' has one number for a row of features"):
        jax.grad(lambda w: sf.jax.fold(op, x, w, uniform=3).sum())(w)


def test_jax_checks_gradients_by_numbers_beside_rows(check):
    op = sf.operator("operator pooled(x: row f64, w: f64) -> f64 { state s: f64 = 0 lift w * x combine(a, b) a + b }")
    x, w = np.random.default_rng(5).uniform(0.3, 1.5, (9, 4)), np.linspace(0.5, 2, 9)
    check(lambda x, w: sf.jax.fold(op, x, w, offsets=np.array([0, 4, 4, 9], np.int32)), (x, w), order=2)
    run = jax.vmap(jax.grad(lambda w, x: (sf.jax.fold(op, x, w, uniform=3) ** 2).sum()))
    ws, xs = np.stack([w, w[::-1]]), np.stack([x, x**2])
    np.testing.assert_allclose(run(ws, xs)[1], jax.grad(lambda w: (((w[:, None] * xs[1]).reshape(3, 3, 4).sum(1)) ** 2).sum())(ws[1]))


def test_only_gradients_that_are_asked_for_are_made():
    """What has no gradient is refused where it is asked for, inside of jit too."""
    op = sf.operator("operator read(x: f64, i: i32, t: table f64) -> f64 { state s: f64 = 0 lift x * t[i] combine(a, b) a + b }")
    x, i, t = np.ones(4), np.array([1, 0, 1, 1], np.int32), np.array([2.0, 5.0])
    folded = jax.jit(lambda x, t: sf.jax.fold(op, x, i, t, uniform=2).sum())
    assert jax.grad(folded)(x, t).tolist() == [5.0, 2.0, 5.0, 5.0]
    with pytest.raises(RuntimeError, match="a table that is read elsewhere than at"):
        jax.grad(folded, argnums=1)(x, t)


def test_no_gradient_of_what_changes_by_steps_alone():
    op = sf.operator("operator whole(x: f64) -> f64 { state s: f64 = 0 lift floor(x) combine(a, b) a + b finish s / 2 }")
    assert jax.grad(lambda x: sf.jax.fold(op, x, uniform=3).sum() + x.sum())(X).tolist() == [1.0] * 9


def test_groups_of_an_operator_with_a_scalar_and_a_table(check):
    op = sf.operator("operator f(x: f64, k: scalar f64, t: table f64) -> f64 { state s: f64 = 0 lift x * k * t[segment] combine(a, b) a + b }")
    ids, t = np.array([2, 0, 2, -1, 0, 0, 2, 2, -1]), np.array([1.0, 2.0, 3.0])
    found = sf.jax.fold(op, X, 2.0, t, groups=ids, num_groups=3)
    np.testing.assert_array_equal(found, op(X, 2.0, t, groups=ids, num_groups=3))
    check(lambda x, t: sf.jax.fold(op, x, 2.0, t, groups=ids, num_groups=3), (X, t), order=2)


ELSEWHERE = [0.0, np.nan, np.inf]  # values of elements in no group, where derivatives are not finite


@pytest.mark.parametrize("value", ELSEWHERE)
@pytest.mark.parametrize("compiled", [False, True])
def test_elements_in_no_group_have_no_gradient(value, compiled):
    op = sf.operator("operator logs(x: f64, k: scalar f64) -> f64 { state s: f64 = 0 lift log(x) * pow(x, k) combine(a, b) a + b }")
    of_all = sf.operator("operator shifted(x: f64) -> (each y: f64) { state s: f64 = 0 lift log(x) combine(a, b) a + b map log(x) + s }")
    x, ids = np.array([2.0, value, 4.0, value, 8.0]), np.array([1, -1, 0, 2, 1])
    run = jax.jit if compiled else lambda function: function
    of_x, of_k = run(jax.grad(lambda x, k: sf.jax.fold(op, x, k, groups=ids, num_groups=2).sum(), argnums=(0, 1)))(x, 1.0)
    np.testing.assert_allclose(of_x, [np.log(2) + 1, 0, np.log(4) + 1, 0, np.log(8) + 1])
    np.testing.assert_allclose(of_k, sum(part * np.log(part) ** 2 for part in (2, 4, 8)))
    of_each = run(jax.grad(lambda x: sf.jax.fold(of_all, x, groups=ids, num_groups=2).sum()))(x)
    np.testing.assert_allclose(of_each, [3 / 2, 0, 2 / 4, 0, 3 / 8])


@pytest.mark.parametrize("value", ELSEWHERE)
def test_rows_in_no_group_or_range_have_no_gradient(value):
    op = sf.operator("operator pooled(x: row f64, w: f64) -> f64 { state s: f64 = 0 lift w * x combine(a, b) a + b }")
    x, w = np.array([[1.0, 2.0], [value, value], [3.0, 4.0]]), np.array([0.5, value, 2.0])
    for words in ({"groups": np.array([0, -1, 1]), "num_groups": 2}, {"ranges": (np.array([0, 2]), np.array([1, 3]))}):
        of_x, of_w = jax.grad(lambda x, w: sf.jax.fold(op, x, w, **words).sum(), argnums=(0, 1))(x, w)
        np.testing.assert_array_equal(of_x, [[0.5, 0.5], [0, 0], [2, 2]])
        np.testing.assert_array_equal(of_w, [3, 0, 7])


def test_elements_in_no_group_read_no_table_for_gradients():
    op = sf.operator("operator read(x: f64, i: i32, t: table f64) -> f64 { state s: f64 = 0 lift log(x) * t[i] combine(a, b) a + b }")
    x, i, t, ids = np.array([2.0, 0.0, 4.0]), np.array([1, -7, 0], np.int32), np.array([3.0, 5.0]), np.array([1, -1, 0])
    found = jax.grad(lambda x: sf.jax.fold(op, x, i, t, groups=ids, num_groups=2).sum())(x)
    np.testing.assert_array_equal(found, [5 / 2, 0, 3 / 4])


def test_there_is_no_forward_mode():
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda x: sf.jax.fold(sf.standard.sum, x), (X,), (X,))


@pytest.mark.parametrize("name", ["sum", "max", "softmax", "affine", "linear_recurrence", "mean_variance", "argmax"])
def test_gradients_in_32_bits_are_those_in_64(name):
    """Places between the operators of a gradient have 64 bits where JAX has none."""
    op = getattr(sf.standard, name)
    columns = drawn(len(op.parameters), 9)

    def loss(dtype):
        def of(columns):
            found = sf.jax.fold(op, *columns, offsets=np.array([0, 4, 9], np.int32))
            return sum((part.astype(dtype) * jnp.arange(1, 1 + part.shape[0], dtype=dtype)).sum() for part in of_floats(found))

        return jax.jit(jax.grad(of))([column.astype(dtype) for column in columns])

    if name == "argmax":
        with pytest.raises(sf.InputError, match="result 'index' of operator argmax is int64"):
            jax.config.update("jax_enable_x64", False)
            loss("float32")
        return
    wide = loss("float64")
    jax.config.update("jax_enable_x64", False)
    for one, other in zip(loss("float32"), wide):
        assert one.dtype == jnp.float32
        np.testing.assert_allclose(one, other, rtol=3e-5, atol=1e-6)
