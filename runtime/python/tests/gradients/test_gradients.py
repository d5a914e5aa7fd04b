"""Gradients of operators: what the operators give, beside differences."""

import pickle
import warnings

import numpy as np
import pytest

import segfold as sf

OFFSETS = np.array([0, 3, 3, 5, 9])
X = np.array([1.5, -2.0, 0.25, 3.0, 0.5, -1.0, 2.0, 1.0, -0.5])
GRADIENT = np.array([1.0, 7.0, -2.0, 0.5])
LOG_MEAN = """operator log_mean(x: f64, w: f64) -> (mean: f64, spread: f64) {
  state { n: i64 = 0; s: f64 = 0; t: f64 = 0 }
  lift { n = 1; s = log(1 + x * x) * w; t = tanh(x) }
  combine(a, b) { n = a.n + b.n; s = a.s + b.s; t = a.t + b.t }
  finish { mean = s / f64(n); spread = t * t }
}"""


def differences(op, columns, at, weigh, **words):
    """The gradient of a weighted sum of the results by one column, from central differences."""
    found = np.zeros(len(columns[at]))
    for i in range(len(found)):
        values = []
        for step in (1e-6, -1e-6):
            moved = [column.copy() for column in columns]
            moved[at][i] += step
            values.append(weigh(op(*moved, **words)))
        found[i] = (values[0] - values[1]) / 2e-6
    return found


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize(
    "name, means",
    [("sum", "sums"), ("log_sum_exp", "totals"), ("norm", "totals"), ("max", "places"), ("product", "two scans"), ("weighted_mean", "sums")],
)
def test_gradients_agree_with_differences(name, means, backend):
    op = getattr(sf.standard, name)
    columns = [X, np.abs(X[::-1]) + 0.5][: len(op.parameters)]
    words = {"offsets": OFFSETS} if op.typed("f64").has_identity else {}
    for at, (column, _, _) in enumerate(op.parameters):
        by_column = sf.gradient(op, wrt=column)
        assert by_column.means == means and by_column.names == ("grad_result",)
        found = by_column(GRADIENT, *columns, **words, backend=backend)
        wanted = differences(op, columns, at, lambda result: np.nansum(np.where(np.isfinite(result), result, 0) * GRADIENT), **words)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


def test_gradient_of_several_results_and_of_an_operator_of_ones_own():
    op = sf.operator(LOG_MEAN)
    w = np.linspace(0.5, 2, len(X))
    offsets = OFFSETS[[0, 1, 3, 4]]
    given = np.array([1.0, -2.0, 0.5]), np.array([0.5, 2.0, 1.0])
    by_x = sf.gradient(op, "x")
    assert by_x.names == ("grad_mean", "grad_spread") and by_x.of == ("mean", "spread") and by_x.result == "grad_x"
    found = by_x(*given, X, w, offsets=offsets)
    assert np.array_equal(found, by_x(grad_spread=given[1], x=X, w=w, grad_mean=given[0], offsets=offsets))
    wanted = differences(op, [X, w], 0, lambda found: (found.mean * given[0] + found.spread * given[1]).sum(), offsets=offsets)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_gradient_of_a_map_over_keys():
    keys = np.array([4, 4, 4, 1, 1, 6, 6, 6, 6])
    weights = np.linspace(-1, 1, len(X))
    found = sf.gradient(sf.standard.softmax, wrt="x")(weights, X, keys=keys)
    wanted = differences(sf.standard.softmax, [X], 0, lambda found: (found.result * weights).sum() if isinstance(found, tuple) else (found * weights).sum(), keys=keys)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def test_gradient_is_text_and_operators():
    by_x = sf.gradient(sf.standard.log_sum_exp, wrt="x")
    assert repr(by_x) == str(by_x) == by_x.text
    assert "map isnan(x) ? 0 : grad_result[segment] * (exp(x - greatest) / sum)" in by_x.text
    (step,) = by_x.operators
    assert sf.operator(step.text) == step and pickle.loads(pickle.dumps(step)) == step
    x = X.astype(np.float32)
    assert step(x, GRADIENT.astype(np.float32), offsets=OFFSETS).tolist() == by_x(GRADIENT.astype(np.float32), x, offsets=OFFSETS).tolist()
    assert len(sf.gradient(sf.standard.softmax, wrt="x").operators) == 2


def test_refusals_tell_the_reason():
    with pytest.raises(sf.InputError, match="operator sum has no gradient by 'x': its type is i32, and only floats have derivatives"):
        sf.gradient(sf.standard.sum.typed("i32"), wrt="x")
    with pytest.raises(sf.InputError, match="operator dot has no gradient by 'z': it has no such parameter; its columns of floats are x, y"):
        sf.gradient(sf.standard.dot, wrt="z")
    with pytest.raises(TypeError, match="takes an operator"):
        sf.gradient("sum", wrt="x")
    with pytest.raises(TypeError, match="takes the name of a parameter"):
        sf.gradient(sf.standard.sum, wrt=0)
    by_x = sf.gradient(sf.standard.sum, wrt="x")
    with pytest.raises(sf.InputError, match="gradient of sum by x has no array for 'x'; it takes grad_result, x and segments"):
        by_x(GRADIENT, offsets=OFFSETS)
    with pytest.raises(TypeError, match="'x' is given twice"):
        by_x(GRADIENT, X, x=X, offsets=OFFSETS)
    with pytest.raises(TypeError, match="and 3 arrays are given"):
        by_x(GRADIENT, X, X, offsets=OFFSETS)
    with pytest.raises(sf.InputError, match="table 'grad_result' has 2 entries"):
        by_x(GRADIENT[:2], X, offsets=OFFSETS)


def test_the_gradient_by_a_scalar_of_f16_is_summed_in_f32():
    op = sf.operator("operator s(x: f16, p: scalar f16) -> f32 { state s: f32 = 0 lift f32(x) * f32(p) combine(a, b) a + b }")
    found = sf.gradient(op, wrt="p")(np.ones(6000, "f4"), np.ones(120_000, "f2"), np.float16(1), uniform=20)
    assert found == 120_000


def test_gradients_of_running_results():
    decay, x = np.array([2.0, 3.0, -1.0, 0.5]), np.array([1.0, 4.0, 2.0, 5.0])
    by_input, by_decay = (sf.gradient(sf.standard.linear_recurrence, wrt=name) for name in ("input", "decay"))
    assert by_input.means == "reverse scan" and by_decay.means == "two scans"
    given, offsets = np.array([1.0, 10.0, 100.0, 7.0]), np.array([0, 3, 4])
    for backend in ("reference", "cpu"):
        assert by_input(given, decay, x, offsets=offsets, backend=backend).tolist() == [-269.0, -90.0, 100.0, 7.0]
        assert by_decay(given, decay, x, offsets=offsets, backend=backend).tolist() == [0.0, -90.0, 700.0, 0.0]


def test_gradients_by_scans_of_wide_states_run_as_kernels():
    op = sf.standard.matrix_3x3  # a state of 72 bytes
    random = np.random.default_rng(1)
    by_entry = sf.gradient(op, wrt="m00")
    columns = [random.random(300) * 0.6 for _ in op.parameters]
    given, offsets = [random.random(3) for _ in by_entry.names], np.array([0, 1, 1, 300])
    found, wanted = (by_entry(*given, *columns, offsets=offsets, backend=backend) for backend in ("simt", "reference"))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_what_was_told_of_an_operator_is_not_told_of_its_gradient():
    op = sf.operator(
        "operator leaning(x: f64) -> each f64 { state { n: i64 = 0; s: f64 = 0 } lift { n = 1; s = x } combine(a, b) { n = a.n + b.n; "
        "s = a.n == 0 ? b.s : b.n == 0 ? a.s : a.s * 0.3 + b.s * 0.7 } map x * s }"
    )
    by_x = sf.gradient(op, wrt="x")
    with pytest.warns(sf.FoldWarning, match="operator leaning is not associative"):
        op(X, offsets=OFFSETS, backend="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error", sf.FoldWarning)
        by_x(X, X, offsets=OFFSETS, backend="cpu")
