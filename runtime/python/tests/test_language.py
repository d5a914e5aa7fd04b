"""What the language has beyond columns and one field: scalars as numbers, arrays in results, products of operators."""

import decimal
import fractions
import os
import pathlib
import pickle
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
OFFSETS = np.array([0, 3, 5, 5, 9])
ABOVE = """operator above(x: f32, threshold: scalar f32, add: scalar i8) -> i32 {
  state n: i32 = 0  lift x > threshold ? 1 + i32(add) : 0  combine(a, b) a + b  laws commutative }"""


def cached_files():
    folder = pathlib.Path(os.environ["SEGFOLD_CACHE_DIR"])
    return sorted(str(path) for path in folder.rglob("*") if path.is_file()) if folder.exists() else []


@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_scalars_are_numbers(backend):
    op = sf.operator(ABOVE)
    assert op.scalars == ("threshold", "add") and op.signature == "above(x: f32, threshold: scalar f32, add: scalar i8) -> i32"
    words = dict(offsets=OFFSETS, backend=backend)
    np.testing.assert_array_equal(op(X, threshold=2.5, add=0, **words), [2, 1, 0, 3])
    np.testing.assert_array_equal(op(X, 4, -1, **words), [0, 0, 0, 0])
    np.testing.assert_array_equal(op(X, threshold=float("inf"), add=1, **words), [0, 0, 0, 0])
    np.testing.assert_array_equal(op(X, threshold=np.float64(4), add=np.int64(127), **words), [0, 128, 0, 384])
    np.testing.assert_array_equal(op(X, threshold=np.array([4], np.float32), add=0, **words), [0, 1, 0, 3])
    np.testing.assert_array_equal(op(dict(threshold=4.0, add=0, x=X), **words), [0, 1, 0, 3])


@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_an_array_without_dimensions_is_a_number(backend):
    op = sf.operator(ABOVE)
    words = dict(offsets=OFFSETS, backend=backend)
    for threshold, add in ((np.array(4.0), np.array(0)), (np.array(4, np.int8), np.int64(0)), (np.float16(4), np.array(0, np.uint64))):
        np.testing.assert_array_equal(op(X, threshold=threshold, add=add, **words), [0, 1, 0, 3])
    np.testing.assert_array_equal(list(sf.stream(op, X, threshold=np.array(4.0), add=0, offsets=OFFSETS, backend="cpu"))[0], [0, 1, 0, 3])
    with pytest.raises(sf.InputError, match="'add' is 1.5, and the operator takes an integer of type i8 there"):
        op(X, threshold=4, add=np.array(1.5), **words)
    with pytest.raises(sf.InputError, match="'threshold' has shape \\(1, 1\\)"):
        op(X, threshold=np.ones((1, 1), np.float32), add=0, **words)


def test_another_value_compiles_nothing():
    op = sf.operator(ABOVE)
    op(X, threshold=1, add=0, offsets=OFFSETS)
    plan = sf.plan(op, X, threshold=1, add=0, offsets=OFFSETS)
    plan(X, threshold=1, add=0, offsets=OFFSETS)
    before, kept, source = cached_files(), op._cached_plans(), plan.source
    for threshold in range(10):
        wanted = [(X[begin:end] > threshold).sum() * 3 for begin, end in zip(OFFSETS, OFFSETS[1:])]
        np.testing.assert_array_equal(op(X, threshold=threshold, add=2, offsets=OFFSETS), wanted)
        np.testing.assert_array_equal(plan(X, threshold=threshold, add=2, offsets=OFFSETS), wanted)
    assert cached_files() == before and op._cached_plans() == kept and plan.source == source


ROUNDED_ONCE = [  # number, type, bits; each lies beside the middle of two numbers of its type
    (9007199791611905, "f32", 0x5A000001),
    (9007199791611904, "f32", 0x5A000000),
    (-9007199791611905, "f32", 0xDA000001),
    (2**63 + 2**39 + 1, "f32", 0x5F000001),
    (fractions.Fraction(2**24 + 1, 2**24) + fractions.Fraction(1, 2**90), "f32", 0x3F800001),
    (decimal.Decimal("2049.0000000000001"), "f16", 0x6801),
    (2049, "f16", 0x6800),
    (16842753, "bf16", 0x4B81),
    (257.0000001, "bf16", 0x4381),
]


@pytest.mark.parametrize("number, type_name, bits", ROUNDED_ONCE)
def test_numbers_are_rounded_once(number, type_name, bits):
    if type_name == "bf16":
        pytest.importorskip("ml_dtypes", reason="no ml_dtypes, which has NumPy's bfloat16")
    scalar = sf.operator(f"operator o(x: u8, p: scalar {type_name}) -> {type_name} {{ state s: {type_name} = 0 lift p combine(a, b) a + b }}")
    result = scalar(np.zeros(1, "u1"), p=number, backend="reference")
    size = 4 if type_name == "f32" else 2
    assert int.from_bytes(np.asarray(result).tobytes()[:size], "little") == bits


def test_numbers_of_traced_operators_are_rounded_once():
    @sf.operator
    class scaled:
        x: sf.f32

        class state:
            sum: sf.f32 = 0

        def lift(x):
            return x * 9007199791611905

        def combine(a, b):
            return a + b

    result = scaled(np.ones(1, np.float32), backend="reference")
    assert int.from_bytes(np.asarray(result).tobytes(), "little") == 0x5A000001


def test_a_plan_names_the_law_that_a_scalar_refutes():
    op = sf.operator("""operator ema(x: f32, decay: scalar f32) -> f32 {
      state { v: f32 = 0; w: f32 = 1 }  lift { v = x; w = decay }
      combine(a, b) { v = a.v * b.w + b.v; w = a.w * b.w }  finish v }""")
    plan = sf.plan(op, X, decay=0.5, offsets=OFFSETS, backend="simt")
    for decay, laws in ((np.nan, "a law that does not hold with decay = nan: identity"),
                        (np.inf, "laws that do not hold with decay = inf: associative, identity")):  # fmt: skip
        with pytest.raises(sf.InputError) as caught:
            plan(X, decay=decay, offsets=OFFSETS)
        assert str(caught.value) == f"the plan of ema relies on {laws}; a call of the operator judges the scalars of each run"
    np.testing.assert_array_equal(plan(X, decay=1, offsets=OFFSETS), [8, 6, 0, 22])


def test_a_scalar_may_come_first_and_be_of_the_arrays_type():
    op = sf.operator("operator scaled(by: scalar T, x: T) -> T { state s: T = 0 lift x * by combine(a, b) a + b }")
    for dtype in (np.int32, np.float64, np.float16):
        found = op(2, X.astype(dtype), offsets=OFFSETS)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, [16, 12, 0, 44])


@pytest.mark.parametrize(
    "words, message",
    [
        ({"threshold": "4", "add": 0}, "'threshold' is '4', and the operator takes a number of type f32 there"),
        ({"threshold": True, "add": 0}, "'threshold' is True, and the operator takes a number of type f32 there"),
        ({"threshold": 4, "add": 1.5}, "'add' is 1.5, and the operator takes an integer of type i8 there"),
        ({"threshold": 4, "add": 128}, "'add' is 128, and the operator takes an integer of type i8 (-128 to 127) there"),
        ({"threshold": 4, "add": -129}, "'add' is -129, and the operator takes an integer of type i8 (-128 to 127) there"),
        ({"threshold": X, "add": 1}, "'threshold' has 9 values; it is a scalar: give a number, or an array of one"),
        ({"threshold": 4}, "operator above has no number for 'add'; it takes above(x: f32, threshold: scalar f32, add: scalar i8) -> i32"),
    ],
)
def test_wrong_scalars(words, message):
    with pytest.raises(sf.InputError) as caught:
        sf.operator(ABOVE)(X, offsets=OFFSETS, **words)
    assert str(caught.value) == message


def test_traced_scalars():
    @sf.operator
    class above:
        x: sf.f32
        threshold: sf.scalar(sf.f32)
        add: sf.scalar(sf.i8)

        class state:
            n: sf.i32 = 0

        def lift(x, threshold, add):
            return sf.where(x > threshold, 1 + sf.i32(add), 0)

        def combine(a, b):
            return a + b

        laws = "commutative"

    assert above == sf.operator(ABOVE)
    np.testing.assert_array_equal(above(X, threshold=2.5, add=0, offsets=OFFSETS), [2, 1, 0, 3])


def test_an_array_in_the_results():
    """Arrays of one result each, as they lie; the array's name gives them together."""
    op = sf.operator("""operator histogram(x: f32) -> (bins: i32[3], most: f32) {
      state   { bins: i32[3] = 0; most: f32 = -inf }
      lift    { for k in 0..3 { bins[k] = i32(x / 4) == k ? 1 : 0 } most = x }
      combine(a, b) { for k in 0..3 { bins[k] = a.bins[k] + b.bins[k] } most = a.most > b.most ? a.most : b.most }
    }""")
    found = op(X, offsets=OFFSETS)
    assert found._fields == ("bins_0", "bins_1", "bins_2", "most")
    assert found.bins == (found.bins_0, found.bins_1, found.bins_2)
    np.testing.assert_array_equal(np.stack(found.bins, axis=1), [[2, 1, 0], [1, 1, 0], [0, 0, 0], [1, 2, 1]])
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.bins[1], found.bins_1)


NAMES = """operator named(x: f32) -> (_q: f32, class: f32, keys: f32, keys_: f32) {
  state s: f32 = 0  lift x  combine(a, b) a + b  finish { _q = s; class = s + 1; keys = s + 2; keys_ = s + 3 } }"""


def test_names_that_a_named_tuple_cannot_have_end_with_an_underscore():
    op = sf.operator(NAMES)
    found = op(X, backend="reference")
    assert found._fields == ("q_", "class_", "keys", "keys_")
    keys = np.arange(9) // 5
    by_key = op(X, keys=keys, backend="reference")
    assert by_key._fields == ("keys", "q_", "class_", "keys_", "keys__")
    assert by_key.keys.tolist() == [0, 1] and (by_key.keys_ == by_key.q_ + 2).all() and (by_key.keys__ == by_key.q_ + 3).all()
    again = pickle.loads(pickle.dumps(by_key))
    assert again._fields == by_key._fields and (again.class_ == by_key.class_).all()
    out = {name: np.empty(9, np.int64 if name == "keys" else np.float32) for name in ("keys", "_q", "class", "keys_", "keys__")}
    written = op(X, keys=keys, out=out, backend="reference")
    assert (written.keys_ == by_key.keys_).all() and (out["keys__"][:2] == by_key.keys__).all()
    (streamed,) = sf.stream(op, X, keys=keys, backend="cpu")
    assert streamed._fields == by_key._fields and (streamed.keys_ == by_key.keys_).all()


def test_products():
    both = sf.standard.mean_variance & sf.standard.argmax
    assert both.is_generic and "f32" in both.types and [name for name, *_ in both.parameters] == ["x"]
    found = both(X, offsets=OFFSETS)
    alone, most = sf.standard.mean_variance(X, offsets=OFFSETS), sf.standard.argmax(X, offsets=OFFSETS)
    np.testing.assert_allclose(found.mean, alone.mean, rtol=1e-6)
    np.testing.assert_allclose(found.variance, alone.variance, rtol=1e-6)
    np.testing.assert_array_equal(found.index, most.index)
    assert pickle.loads(pickle.dumps(both)) == both and both != sf.standard.mean_variance & sf.standard.argmin
    assert both.typed("f64") == sf.standard.mean_variance.typed("f64") & sf.standard.argmax.typed("f64")
    half_open = sf.standard.sum & sf.operator("operator most(x: f32) -> (most: f32) { state most: f32 lift x combine(a, b) max(a, b) empty 0 }")
    assert not half_open.is_generic
    np.testing.assert_array_equal(half_open(X, offsets=OFFSETS).most, [4, 5, 0, 9])
    with pytest.raises(TypeError):
        sf.standard.sum & 3
    with pytest.raises(sf.InputError):
        sf.standard.sum.typed("f32") & sf.standard.sum.typed("i32")


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype("f4"), np.dtype(">f4"), sf.f32, "f32", "torch.float32"])
def test_types_may_be_said_as_numpy_says_them(given):
    assert sf.standard.sum.typed(given) == sf.standard.sum.typed("f32")
    assert sf.expression("a + b", given, identity=0) == sf.expression("a + b", "f32", identity=0)
    assert sf.expression("a && b", bool) == sf.expression("a && b", "bool")


def test_every_type_has_numpys_name():
    for dtype, name in (("bool", "bool"), ("int8", "i8"), ("int16", "i16"), ("int32", "i32"), ("int64", "i64"), ("uint8", "u8"),
                        ("uint16", "u16"), ("uint32", "u32"), ("uint64", "u64"), ("float16", "f16"), ("bfloat16", "bf16"),
                        ("float32", "f32"), ("float64", "f64")):  # fmt: skip
        assert sf.expression("a", dtype).signature == f"expression(x: {name}) -> {name}"


def test_a_second_call_finds_its_plan():
    """Plans of calls on the host are kept by sizes and the longest segment, and give what the first call gave."""
    if sf.automatic_backend() != "cpu":
        pytest.skip("plans of the back end cpu are looked at, which is not the automatic one here")
    op = sf.operator(sf.standard.sum.typed("f32").text)
    first = op(X, offsets=OFFSETS)
    if op._cached_plans() == 0:
        pytest.skip("no C++ compiler is here")
    for times in (2, 3):
        np.testing.assert_array_equal(op(X * times, offsets=OFFSETS), first * times)
    assert op._cached_plans() == 1
    np.testing.assert_array_equal(op(X, offsets=np.array([0, 1, 2, 3, 9])), [3, 1, 4, 28])
    assert op._cached_plans() == 2, "another longest segment may ask for another stage"
    out = np.zeros(6, np.float32)
    assert len(op(X, offsets=OFFSETS, out=out)) == 4 and out.tolist() == [8, 6, 0, 22, 0, 0]
    with pytest.raises(sf.InputError, match="the results of 'result' are float32, and the array for them holds int32"):
        op(X, offsets=OFFSETS, out=np.zeros(4, np.int32))
    with pytest.raises(sf.InputError, match="offsets decrease at segment 1: 3 after 5"):
        op(X, offsets=np.array([0, 5, 3, 5, 9]))
    with pytest.raises(sf.InputError, match="offsets end at 8 but there are 9 elements"):
        op(X, offsets=np.array([0, 3, 5, 5, 8]))


def test_a_plan_of_finite_data_serves_no_others():
    """Whether the identity may be relied on is seen in the data of each call."""
    op = sf.operator("operator kahan(x: f32) -> f32 { state { s: f32 = 0; c: f32 = 0 } lift { s = x; c = 0 } combine(a, b) { "
                     "let y = b.s - (a.c + b.c); let t = a.s + y; s = t; c = (t - a.s) - y } finish s laws commutative }")  # fmt: skip
    ones = np.ones(6, np.float32)
    np.testing.assert_array_equal(op(ones, uniform=3), [3, 3])
    assert op._cached_plans() == (1 if sf.automatic_backend() == "cpu" else 0)
    with pytest.warns(sf.FoldWarning, match="'x' has infinities or NaN") as seen:
        op(np.array([1, 2, np.inf, 4, 5, 6], np.float32), uniform=3)
    assert all(warning.filename == __file__ for warning in seen), "a warning points at the line of the call"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(op(ones, uniform=3), [3, 3])


def fold_in_a_child(queue):
    queue.put(sf.standard.sum(np.ones(1 << 20, np.float32), uniform=1 << 18).tolist())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_folds():
    """A process that was forked from one with threads starts threads of its own."""
    import multiprocessing

    if sf.automatic_backend() == "cuda":
        pytest.skip("a forked process cannot use the GPU of its parent")
    sf.standard.sum(np.ones(1 << 20, np.float32), uniform=1 << 18)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=fold_in_a_child, args=(queue,), daemon=True)
    child.start()
    try:
        assert queue.get(timeout=60) == [1 << 18] * 4
    finally:
        child.kill()
        child.join()
