"""What a call may rely on: laws for its own scalars, proved or not."""

import warnings

import numpy as np
import pytest

import segfold as sf

EMA = """operator {name}(x: f32, decay: scalar f32) -> f32 {{
  state {{ w: f32 = 1; s: f32 = 0 }}
  lift {{ w = decay; s = x }}
  combine(a, b) {{ w = a.w * b.w; s = a.s * b.w + b.s }}
  finish s
}}"""


def answer(function):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = function().tolist()
        except sf.Error as error:
            result = str(error)
    return repr(result), [str(warning.message) for warning in told]


@pytest.mark.parametrize("decay", [np.inf, -np.inf, np.nan])
def test_a_proof_changes_no_answer_about_scalars_that_are_not_finite(decay):
    x = np.arange(1, 5, dtype=np.float32)
    name = "ema_" + ("nan" if np.isnan(decay) else "low" if decay < 0 else "high")
    known = sf.operator(EMA.format(name=name))
    calls = [
        lambda op: op(x, decay=decay, uniform=2),
        lambda op: op(x, decay=decay, uniform=2, backend="simt"),
        lambda op: op(x, decay=decay, uniform=1),
    ]
    before = [answer(lambda: call(known)) for call in calls]
    assert "with decay = inf" in before[0][0] or np.isnan(decay) or decay < 0
    report = sf.check(known)
    if report["identity"].verdict != "proved_over_reals":
        pytest.skip(f"nothing was proved: {report.prover}")
    op = sf.operator(EMA.format(name=name))
    for _ in range(2):
        np.testing.assert_array_equal(op(x, decay=0.5, uniform=2), [2.5, 5.5])
        assert [answer(lambda: call(op)) for call in calls] == before
    plan = sf.plan(op, x, decay=0.5, uniform=2)
    np.testing.assert_array_equal(plan(x, decay=0.5, uniform=2), [2.5, 5.5])
    with pytest.raises(sf.InputError, match="relies on a law that does not hold with decay = "):
        plan(x, decay=decay, uniform=2)
