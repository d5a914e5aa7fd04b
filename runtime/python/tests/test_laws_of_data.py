"""What a call may rely on: laws for its own scalars, proved or not, and on its own elements; what a check cannot judge."""

import time
import re
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

# The product modulo m, while it fits 32 bits.
MODULAR = """operator {name}(x: u32{scalar}) -> u32 {{
  state {{ p: u32 = 1; q: u32 = 0 }}
  lift {{ p = x % {m}; q = {m} }}
  combine(a, b) {{ let k = max(a.q, b.q); q = k; p = (a.p * b.p) % k }}
  finish p
}}"""
TILED = np.tile(np.array([1, 2, 2147483647, 2147483649], np.uint32), 1000)


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
    for is_told in (True, False):
        np.testing.assert_array_equal(op(x, decay=0.5, uniform=2), [2.5, 5.5])
        assert [answer(lambda: call(op)) for call in calls] == [(result, told if is_told else []) for result, told in before]
    plan = sf.plan(op, x, decay=0.5, uniform=2, backend="cpu")
    np.testing.assert_array_equal(plan(x, decay=0.5, uniform=2), [2.5, 5.5])
    with pytest.raises(sf.InputError, match="the plan of ema_.* relies on (laws that do|a law that does) not hold with decay = "):
        plan(x, decay=decay, uniform=2)


@pytest.mark.parametrize("scalar", ["", ", m: scalar u32"])
def test_elements_that_refute_associativity_are_folded_from_left_to_right(scalar):
    op = sf.operator(MODULAR.format(name="modular", scalar=scalar, m="m" if scalar else 4294967295))
    words = {"m": 4294967295} if scalar else {}
    with pytest.warns(sf.FoldWarning, match=r"is not associative; only stages [^\n]* \(segfold.explain\(operator\) shows more\)$"):
        result = op(TILED, uniform=4, check=True, **words)
    assert set(result.tolist()) == {4294967294}
    assert re.search("is not associative.*\n.*of the data:", sf.explain(op))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(op(TILED, uniform=4, **words), result)
        np.testing.assert_array_equal(op(np.full(4000, 3, np.uint32), uniform=2, **words), np.full(2000, 9))


def test_an_element_that_shows_that_the_identity_is_none_is_found():
    op = sf.operator("operator rr(x: i32, k: scalar i32) -> i32 { state v: i32 = 0  "
                     "lift x == k * 3 + 1 ? -7 : x  combine(a, b) max(a, b)  laws commutative }")  # fmt: skip
    z = np.arange(5000, dtype=np.int32) * 200
    words = {"k": 41152, "offsets": np.arange(5001), "stage": "row_tree", "backend": "cpu"}
    with pytest.warns(sf.FoldWarning, match="and none of its elements shows it"):
        np.testing.assert_array_equal(op(z, **words), z)
    z[10] = 123457
    with pytest.raises(sf.SpecError, match="with k = 41152, on element 10 of the data:"):
        op(z, **words)


def test_a_check_warns_of_what_it_cannot_judge():
    op = sf.operator(EMA.format(name="ema"))
    x = np.zeros(3000, np.float32)
    x[[1499, 2999]] = 5, 1
    with pytest.warns(sf.FoldWarning, match=r"^check=True could not judge all results: nothing can be said of segment 0 \("):
        result = op(x, decay=2, uniform=1500, backend="simt", check=True)
    assert np.isnan(result).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        op(x, decay=0.5, uniform=1500, backend="simt", check=True)


SQUARES = """operator squares(x: f32) -> f32 {
  state { n: i64 = 0; s: f32 = 0; q: f32 = 0 }  lift { n = 1; s = x; q = x * x }
  combine(a, b) { n = a.n + b.n; s = a.s + b.s; q = a.q + b.q }
  finish q / f32(n) - s / f32(n) * (s / f32(n))
}"""


def test_a_check_warns_of_digits_that_the_data_do_not_leave():
    variance = sf.operator(SQUARES)
    near_zero = np.tile(np.float32([-1, 1]), 2048)
    with pytest.warns(sf.FoldWarning, match=r"^check=True could not judge all results: segment 0 .* the data leave no digit"):
        variance(near_zero * np.float32(1e-3) + np.float32(1013.3), backend="cpu", check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert variance(near_zero, backend="cpu", check=True)[0] == 1
    x = (1013.3 + np.float64(1e-3) * near_zero).astype(np.float32)
    assert variance(x, backend="reference")[0] == pytest.approx(np.var(x.astype(np.float64)), rel=1e-6)


TABLE = """operator {name}(x: i32, t: table f64) -> f64 {{
  state v: f64 = -inf  lift t[x]  combine(a, b) max(a, b)  laws commutative
}}"""


def test_a_kept_plan_does_without_an_identity_that_elements_may_refute():
    x = np.array([0, 1, 0, 2], np.int32)
    clean, with_nan = np.array([3.0, 1, 2]), np.array([np.nan, 1, 2])
    op = sf.operator(TABLE.format(name="entry"))
    for table in (clean, with_nan, clean, with_nan):
        np.testing.assert_array_equal(op(x, table, uniform=1), table[x])
    kept = 1 if sf.automatic_backend() == "cpu" else 0
    assert op._cached_plans() == kept
    # The first call tries it.
    other = sf.operator(TABLE.format(name="other_entry"))
    result, told = answer(lambda: other(x, with_nan, uniform=1))
    assert result == "[nan, 1.0, nan, 2.0]"
    assert told[0].startswith("operator other_entry runs without its identity: the identity is not neutral on element 0 of")
    np.testing.assert_array_equal(other(x, clean, uniform=1), clean[x])
    assert other._cached_plans() == kept


def median_us(function):
    times = []
    for _ in range(60):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return sorted(times)[30] * 1e6


# Of each, a call judged the laws or tried the identity on the elements, for as long as 20 to 90 plans take.
COSTLY = {
    "top two with places": ("""operator {name}(x: f32) -> (v: f32[2], p: i64[2]) {{
  def better(v, p, w, q) = v > w || (v == w && p < q)
  state {{ v: f32[2] = -inf; p: i64[2] = highest(i64) }}
  lift {{ v[0] = isnan(x) ? -inf : x; p[0] = isnan(x) ? highest(i64) : index; v[1] = -inf; p[1] = highest(i64) }}
  combine(a, b) {{
    let first = better(a.v[0], a.p[0], b.v[0], b.p[0]);
    let w = first ? a.v[1] : a.v[0];  let q = first ? a.p[1] : a.p[0];
    let u = first ? b.v[0] : b.v[1];  let r = first ? b.p[0] : b.p[1];
    let second = better(w, q, u, r);
    v[0] = first ? a.v[0] : b.v[0];  p[0] = first ? a.p[0] : b.p[0];
    v[1] = second ? w : u;  p[1] = second ? q : r
  }}
}}""", {}, 0.0),
    "scalar": (EMA, {"decay": 0.5}, 0.0),
    "infinity": ("""operator {name}(x: f32) -> f32 {{ state {{ m: f32 = 0; s: f32 = 0 }} lift {{ m = abs(x); s = 1 }}
  combine(a, b) {{ let h = max(a.m, b.m); m = h; s = (a.m == h ? a.s : a.s * (a.m / h)) + (b.m == h ? b.s : b.s * (b.m / h)) }} finish m * s }}""", {}, np.inf),
    "NaN": ("operator {name}(x: f32) -> f32 {{ state v: f32 = -inf  lift x  combine(a, b) a > b ? a : b }}", {}, np.nan),
}  # fmt: skip


@pytest.mark.parametrize("kind", COSTLY)
def test_calls_after_the_first_cost_what_a_plan_does(kind):
    text, words, value = COSTLY[kind]
    op = sf.operator(text.format(name="costly_" + kind.replace(" ", "_")))
    rng = np.random.default_rng(3)
    x = rng.normal(size=1000).astype(np.float32)
    x[7] = value
    offsets = np.append(np.arange(0, 1000, 50), 1000)
    words = {**words, "offsets": offsets}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = sf.plan(op, x, backend="cpu", longest=50, **words)
        for _ in range(3):
            result = op(x, backend="cpu", **words)
        call, of_plan = median_us(lambda: op(x, backend="cpu", **words)), median_us(lambda: plan(x, **words))
    right = op(x, backend="reference", **words)
    for given, wanted in zip(*([result, right] if isinstance(result, tuple) else [[result], [right]])):
        np.testing.assert_allclose(given, wanted, rtol=1e-5)
    assert call < 6 * of_plan + 20  # a machine may be busy


def test_calls_of_other_sizes_take_what_a_new_plan_would():
    op = sf.operator("operator sizes(x: i64) -> i64 { state s: i64 = 0  lift x  combine(a, b) a + b }")
    rng = np.random.default_rng(5)
    for size in rng.integers(1, 5000, 150):
        x = rng.integers(-9, 9, size)
        offsets = np.concatenate([[0], np.sort(rng.integers(0, size + 1, rng.integers(0, 90))), [size]])
        np.testing.assert_array_equal(op(x, offsets=offsets), np.add.reduceat(np.append(x, 0), offsets[:-1]) * (np.diff(offsets) > 0))
        np.testing.assert_array_equal(op(x, ranges=(offsets[:-1], offsets[1:])), op(x, lengths=np.diff(offsets)))
    assert op._cached_plans() <= 64


# Negative for two numbers alone, which a short search does not draw and a prover finds.
SELDOM = """operator {name}(x: i32, y: i32) -> i32 {{
  state v: i32 = 0  lift x * 2 == 1975308642 && y * 2 == 1111110 ? -7 : abs(x / 2)  combine(a, b) max(a, b)  laws commutative
}}"""


def test_what_a_check_refutes_governs_later_calls_of_the_process():
    text = SELDOM.format(name="seldom")
    op = sf.operator(text)
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    np.testing.assert_array_equal(op(x, y, uniform=1), x // 2)
    sf.plan(op, x, y, uniform=1)
    report = sf.check(op)
    if report["identity"].verdict != "refuted":
        pytest.skip(f"nothing was refuted: {report.prover}")
    for later in (op, sf.operator(text)):
        with pytest.warns(sf.FoldWarning, match="states an identity that is none; it is relied on, as no values of the data's"):
            np.testing.assert_array_equal(later(x, y, uniform=1), x // 2)
        with pytest.raises(sf.SpecError, match="states an identity that is none"):
            sf.plan(later, x, y, uniform=1)


GREATER = """operator {name}(x: f32) -> f32 {{
  state v: f32{identity}  lift {lift}  combine(a, b) a > b ? a : b
}}"""


@pytest.mark.parametrize("identity", ["", " = -inf"])
@pytest.mark.parametrize("num_kept", [0, 1])
def test_data_with_nan_are_folded_from_left_to_right_where_nan_refutes_associativity(identity, num_kept):
    op = sf.operator(GREATER.format(name=f"greater_{num_kept}", identity=identity, lift="x"))
    x = np.zeros(3000, np.float32)
    x[10] = 5
    for _ in range(num_kept):
        assert answer(lambda: op(x)) == ("[5.0]", [])
    x[2000] = np.nan
    all_told = []
    for words in ({}, {}, {"check": True}, {"backend": "simt"}):
        result, told = answer(lambda: op(x, **words))
        assert result == "[0.0]"
        all_told += told
    line = f"operator greater_{num_kept} is associative for all states but NaN, and 'x' has NaN; only stages"
    assert [text.startswith(line) for text in all_told].count(True) == 1
    assert answer(lambda: op(x, backend="reference"))[0] == "[0.0]"
    x[2000] = 0
    assert answer(lambda: op(x)) == ("[5.0]", [])


def test_a_plan_warns_once_of_nan_when_it_is_made():
    op = sf.expression("a > b ? a : b", "f32", identity="-inf")
    x = np.arange(3000, dtype=np.float32)
    with pytest.warns(sf.FoldWarning, match="^operator expression is associative for all states but NaN; results of segments with NaN"):
        plan = sf.plan(op, x)
    assert answer(lambda: plan(x)) == ("[2999.0]", [])
    assert answer(lambda: sf.plan(op, x, assume_finite=True)(x)) == ("[2999.0]", [])


def test_a_failed_check_says_which_law_is_known_not_to_hold():
    # Of -1 lift makes a NaN, though the data have none.
    op = sf.operator(GREATER.format(name="root", identity="", lift="sqrt(x)"))
    x = np.zeros(3000, np.float32)
    x[[10, 2000]] = 25, -1
    result, told = answer(lambda: op(x, check=True))
    assert told[0].startswith("operator root is associative for all states but NaN; results of segments with NaN may depend")
    assert "operator root is refuted to be as it claims (associative), and the call relies on that all the same; its warning" in result


def test_laws_that_overflow_alone_refutes_are_relied_on_where_nothing_overflows():
    best = sf.standard.max_subarray
    x = np.array([1, -2, 3, 4])
    for words in ({}, {"uniform": 2}, {"check": True}, {"backend": "simt", "stage": "warp_per_segment"}):
        result, told = answer(lambda: best(x, **words))
        assert (result, told) == ("[1, 7]" if "uniform" in words else "[7]", [])
    many = np.random.default_rng(1).integers(-(1 << 40), 1 << 40, 100000)
    assert answer(lambda: best(many, check=True))[1] == []
    # What may overflow is folded from left to right, with a warning.
    x[:2] = np.iinfo(np.int64).max, -1
    with pytest.warns(sf.FoldWarning, match="max_subarray obeys its laws while nothing overflows, and these data may"):
        result = best(x, check=True)
    np.testing.assert_array_equal(result, best(x, backend="reference"))


def test_plans_and_streams_rely_on_that_nothing_overflows():
    best = sf.operator(sf.standard.max_subarray.typed("i64").text)
    x = np.array([1, -2, 3, 4])
    result, told = answer(lambda: sf.plan(best, x, backend="cpu")(x))
    assert result == "[7]" and len(told) == 1 and "nothing overflows, and a plan does not know its data" in told[0]
    assert answer(lambda: np.concatenate(list(sf.stream(best, x, memory="4K", backend="cpu")))) == ("[7]", [])
    report = sf.check(best)
    assert report["associative"].verdict == "refuted" and report["associative"].counter_example is not None
    # Small values refute these.
    with pytest.raises(sf.InputError, match="is not associative"):
        sf.stream(sf.expression("a - b", "i64"), x)
    with pytest.raises(sf.SpecError, match="states an identity that is none"):
        sf.plan(sf.expression("max(a, b)", "i64", identity="0"), x)


def test_ragged_batches_are_warned_of_once():
    op = sf.expression("max(a, b)", "i32", identity="0")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for size in (1, 5, 64, 640):
            op(np.arange(size, dtype=np.int32))
    assert len(told) == 1 and "and none of its elements shows it" in str(told[0].message)


@pytest.mark.parametrize("name", ["norm", "kahan_sum"])
def test_a_plan_is_kept_for_data_that_are_finite(name):
    """The identity of these is neutral on finite values alone, so that infinities and NaN have another plan."""
    op = sf.operator(getattr(sf.standard, name).typed("f32").text)
    offsets = np.array([0, 0, 3, 4])
    for values in ([3, 4, 0, 2], [1, 2, 2, 7], [3, np.inf, 0, 2], [3, 4, 0, 2], [np.nan, 1, 1, 1], [-np.inf, 0, 0, 5], [2, 3, 6, 1]):
        x = np.array(values, np.float32)
        np.testing.assert_allclose(op(x, offsets=offsets, backend="cpu"), op(x, offsets=offsets, backend="reference"), rtol=1e-6)
    assert op._cached_plans() == 2


@pytest.mark.parametrize("first, second", [("x1", "x2"), ("x", "y")])
def test_what_is_said_of_two_columns_is_of_two_kinds(first, second):
    """The numbers of a message are no matter, those of names are."""
    text = sf.standard.kahan_sum.typed("f32").text.replace("kahan_sum(x: f32)", f"two_{first}({first}: f32, {second}: f32)")
    op = sf.operator(text.replace("sum = x;", f"sum = {first} + {second};"))
    plain, infinite = np.ones(3, "f4"), np.array([1, np.inf, 1], "f4")
    said = [answer(lambda: op(*columns))[1] for columns in ((plain, plain), (infinite, plain), (plain, infinite), (infinite, plain))]
    assert [[name for name in (first, second) if f"'{name}' has infinities or NaN" in text] for one in said for text in one] == [[first], [second]]


STREAK = """operator streak(x: i32) -> i16 {
  state { n: i16 = 0; leading: i16 = 0; trailing: i16 = 0; longest: i16 = 0 }
  lift { let late = i16(x > 0); n = 1; leading = late; trailing = late; longest = late }
  combine(a, b) {
    n = a.n + b.n;
    leading = a.leading == a.n ? a.n + b.leading : a.leading;
    trailing = b.trailing == b.n ? a.trailing + b.n : b.trailing;
    longest = max(max(a.longest, b.longest), a.trailing + b.leading)
  }
  finish longest
}"""


def test_counts_that_overflow_are_folded_from_left_to_right():
    streak = sf.operator(STREAK)
    ones = np.ones(100000, "i4")
    with pytest.warns(sf.FoldWarning, match="obeys its laws while nothing overflows, and these data may"):
        right = streak(ones, backend="reference")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert streak(ones, backend="cpu") == right
        assert list(streak(ones, uniform=10000, backend="cpu")) == [10000] * 10
        assert list(streak(ones, uniform=10000, backend="cpu")) == [10000] * 10
        assert list(sf.stream(streak, ones, uniform=10000, backend="cpu", memory="64K")) != []
    with pytest.warns(sf.FoldWarning, match="and a stream does not know its data"):
        list(sf.stream(streak, ones, backend="cpu", memory="64K"))
    with pytest.warns(sf.FoldWarning, match="and a plan does not know its data"):
        sf.plan(streak, ones, backend="cpu")


GAP = """operator longest_gap(time: i32) -> i32 {
  state { first: i32; last: i32; gap: i32 }
  lift { first = time; last = time; gap = 0 }
  combine(a, b) { first = min(a.first, b.first); last = max(a.last, b.last); gap = max(max(a.gap, b.gap), b.first - a.last) }
  finish gap }"""


def test_a_warning_is_said_once_for_an_operator_and_a_kind():
    op, time = sf.operator(GAP), np.array([1, 2, 5, 6, 7, 11], np.int32)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [op(time[:n]).tolist() for n in (6, 4, 2, 6)] == [[4], [3], [1], [4]]
        sf.plan(op, time)
    assert [str(warning.message) for warning in told] == [
        "operator longest_gap is not associative; only stages that fold strictly from left to right can serve; data sorted by 'time' do not "
        "refute it: if 'time' never decreases in a segment of yours, rely on it with assume='associative' (segfold.explain(operator) shows more)"
    ]
    lines = sf.explain(op).split("\n")
    assert lines[1] == "combine is not associative:" and lines[-1] == "    (not refuted by 167 triples where 'time' never decreases)"
    with pytest.warns(sf.FoldWarning, match="is refuted to be associative, and relied on because of assume='associative'"):  # another kind
        assert op(time, assume="associative", check=True).tolist() == [4]
    assert sf.explain(op).count("combine is not associative:") == 2


def test_a_warning_that_is_raised_was_not_said():
    op = sf.operator(GAP)
    for _ in range(2):
        with warnings.catch_warnings(), pytest.raises(sf.FoldWarning):
            warnings.simplefilter("error")
            op(np.array([1, 2], np.int32))


def test_explain_after_a_type_that_is_not_taken():
    with pytest.raises(sf.InputError, match="is not defined for i32"):
        sf.standard.harmonic_mean.typed("i32")
    assert "operator harmonic_mean" in sf.explain(sf.standard.harmonic_mean)


def test_explain_of_what_was_not_called():
    own = sf.operator(sf.standard.sum.typed("i32").text)
    assert sf.explain(own) == "nothing is to be warned of operator sum"
    assert sf.explain(sf.expression("a - b", "i32")).startswith("operator expression is not associative; only stages that fold strictly from left to right can serve\ncombine")
    with pytest.raises(TypeError, match=r"^explain\(\) takes an operator, as sf.standard.sum"):
        sf.explain("sum")


def max_subarray_of(values):
    best = here = 0
    for value in values.tolist():
        here = max(0, here + value)
        best = max(best, here)
    return best


def test_integers_that_cannot_overflow_share_a_plan_and_others_are_folded_in_order():
    """Overflow alone refutes the laws of max_subarray of int64: calls of values and sizes of one order judge them once."""
    op, rng = sf.operator(sf.standard.max_subarray.typed("i64").text.replace("max_subarray", "own_subarray")), np.random.default_rng(4)

    def fold(values, offsets):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = op(values, offsets=offsets, backend="cpu")
        return np.asarray(found[0] if isinstance(found, tuple) else found), [str(w.message) for w in caught]

    offsets = np.array([0, 400, 400, 1000])
    for bound in (100, 1000, 90, 2**20, 7, 2**40):
        values = rng.integers(-bound, bound, 1000)
        found, said = fold(values, offsets)
        np.testing.assert_array_equal(found, [max_subarray_of(values[:400]), 0, max_subarray_of(values[400:])])
        assert not any("overflow" in text for text in said)
    huge = np.full(1000, 2**62)
    found, said = fold(huge, offsets)
    np.testing.assert_array_equal(found, op(huge, offsets=offsets, backend="reference"))
    assert any("overflow" in text for text in said)
    values = rng.integers(-100, 100, 1000)
    plan = sf.plan(op, values, offsets=offsets, backend="cpu")

    def seconds(call):
        best = 1.0
        for _ in range(200):
            begin = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - begin)
        return best

    assert seconds(lambda: op(values, offsets=offsets, backend="cpu")) < 5 * seconds(lambda: plan(values, offsets=offsets))


def cpu_seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def test_calls_of_smaller_values_are_asked_of_after_one_that_may_overflow():
    op = sf.operator(sf.standard.max_subarray.typed("i64").text.replace("max_subarray", "refused_subarray").replace("i64", "i32"))
    wide, small = np.tile(np.array([1, -1], "i4"), 500) * (1 << 30), np.arange(1000, dtype="i4") - 500
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = op(wide, backend="reference")
        for num_plans, values in enumerate((wide, small, wide, small[:900], wide)):
            for _ in range(2):
                found = op(values, backend="cpu")
                np.testing.assert_array_equal(found, wanted if values is wide else [max_subarray_of(values)])
            assert op._cached_plans() == (num_plans + 1) // 2


def test_a_new_plan_forgets_nothing_that_is_known_of_overflow():
    op = sf.operator(sf.standard.max_subarray.typed("i64").text.replace("max_subarray", "own_hull"))
    wide, small = np.full(1000, 1 << 20), np.full(1000, 7)
    op(wide, backend="cpu")
    op(small, uniform=100, backend="cpu")
    times = []
    for _ in range(5):
        op(small, uniform=100, backend="cpu")
        times.append((cpu_seconds(lambda: op(wide, backend="cpu")), max(cpu_seconds(lambda: op(wide, backend="cpu")) for _ in range(3))))
    assert any(after_another < 4 * again for after_another, again in times)
    assert op._cached_plans() == 2
