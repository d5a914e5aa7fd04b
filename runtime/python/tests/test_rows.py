"""Rows of features and results for every element: NumPy's arrays of the host, beside plain loops."""

import os
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import segfold as sf

BACKENDS = ["auto", "simt", "reference"]
FEATURES = [1, 2, 3, 7, 8, 33, 64]
N = 40
OFFSETS = np.array([0, 3, 3, 4, 21, 21, 40])
PAIRS = list(zip(OFFSETS[:-1].tolist(), OFFSETS[1:].tolist()))
KEYS = np.repeat([5, -1, 5, 9], [3, 1, 17, 19])
RUNS = [(begin, end) for begin, end in PAIRS if end > begin]
HEADS = np.concatenate([[True], KEYS[1:] != KEYS[:-1]])
#: The words of a call, and where its segments begin and end.
LAYOUTS = {
    "whole": ({}, [(0, N)]),
    "uniform": ({"uniform": 8}, [(begin, begin + 8) for begin in range(0, N, 8)]),
    "offsets": ({"offsets": OFFSETS}, PAIRS),
    "lengths": ({"lengths": np.diff(OFFSETS).astype(np.int32)}, PAIRS),
    "ranges": ({"ranges": (np.array([30, 0, 5, 5]), np.array([40, 4, 5, 19]))}, [(30, 40), (0, 4), (5, 5), (5, 19)]),
    "flags": ({"flags": HEADS}, RUNS),
    "keys": ({"keys": KEYS}, RUNS),
}

# combine neither commutes nor rounds; a number beside the rows takes part.
TOLD = """
operator told(x: row u32, weight: u16, add: scalar u32) -> (a: u32, b: u32, each told: u64) {
  state { a: u32 = 1; b: u32 = 0 }
  lift { a = x * 2 + add; b = x + u32(weight) }
  combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
  map u64(a) * 31 + u64(b) * 17 + u64(x) * 7 + u64(weight) + u64(position) * 1000003 + u64(index)
}"""
SUM = sf.operator("operator total(x: row T) -> T { state sum: T = 0 lift x combine(a, b) a + b laws commutative }")
BAG = sf.operator("""operator bag(word: i32, vectors: table row f32) -> f32 {
  state sum: f32 = 0  lift vectors[word]  combine(a, b) a + b  finish length == 0 ? 0 : sum / f32(length)  laws commutative }""")


def told_by_loops(x, weight, add, segments):
    """The segments' a and b, and what each element is told; elements in no segment are told 0."""
    a, b = np.empty((len(segments), x.shape[1]), np.uint32), np.empty((len(segments), x.shape[1]), np.uint32)
    told = np.zeros(x.shape, np.uint64)
    for k in range(x.shape[1]):
        for s, (begin, end) in enumerate(segments):
            product, shift = 1, 0
            for i in range(begin, end):
                scale = (int(x[i, k]) * 2 + add) % 2**32
                product, shift = product * scale % 2**32, (shift * scale + int(x[i, k]) + int(weight[i])) % 2**32
            a[s, k], b[s, k] = product, shift
            for i in range(begin, end):
                told[i, k] = product * 31 + shift * 17 + int(x[i, k]) * 7 + int(weight[i]) + (i - begin) * 1000003 + i
    return a, b, told


def arrays_of(features, seed=1):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2**32, (N, features), dtype=np.uint32), generator.integers(0, 2**16, N, dtype=np.uint16)


@pytest.mark.drawn
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_feature_is_folded_alone(layout, features):
    words, segments = LAYOUTS[layout]
    x, weight = arrays_of(features)
    op = sf.operator(TOLD)
    wanted = told_by_loops(x, weight, 3, segments)
    for backend in BACKENDS if features in (3, 8) else ["auto", "reference"]:
        found = op(x, weight, add=3, backend=backend, **words)
        assert found._fields == (("keys",) if layout == "keys" else ()) + ("a", "b", "told")
        for name, array in zip(("a", "b", "told"), wanted):
            assert getattr(found, name).shape == array.shape and getattr(found, name).dtype == array.dtype
            np.testing.assert_array_equal(getattr(found, name), array, err_msg=f"{name} by {backend}")
        if layout == "keys":
            np.testing.assert_array_equal(found.keys, [5, -1, 5, 9])


@pytest.mark.parametrize("backend", BACKENDS)
def test_ranges_that_overlap_have_results_and_no_outputs(backend):
    x, weight = arrays_of(3)
    begins, ends = np.array([0, 2, 39]), np.array([9, 30, 40])
    found = SUM(x, ranges=(begins, ends), backend=backend)
    np.testing.assert_array_equal(found, [x[b:e].sum(0, dtype=np.uint32) for b, e in zip(begins, ends)])
    with pytest.raises(sf.InputError, match="segments 0 and 1 share element 2, and operator told gives each element one output"):
        sf.operator(TOLD)(x, weight, 3, ranges=(begins, ends), backend=backend)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_rows_of_every_type(dtype):
    x = np.random.default_rng(2).integers(0, 9, (N, 7)).astype(dtype)
    wanted = np.array([x[begin:end].astype("i8").sum(0) for begin, end in PAIRS]).astype(dtype)
    found = SUM(x, offsets=OFFSETS, backend="reference")
    assert found.dtype == x.dtype and found.shape == (6, 7)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(SUM(x, offsets=OFFSETS), wanted)


def test_rows_of_bool_and_bfloat16():
    any_of = sf.operator("operator any_of(x: row bool) -> bool { state s: bool = false lift x combine(a, b) a || b }")
    x = np.arange(N * 3).reshape(N, 3) % 7 == 0
    np.testing.assert_array_equal(any_of(x, offsets=OFFSETS), [x[begin:end].any(0) for begin, end in PAIRS])
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="no ml_dtypes, which has NumPy's bfloat16")
    found = SUM(x.astype(ml_dtypes.bfloat16), offsets=OFFSETS)
    assert found.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found.astype("f4"), [x[begin:end].sum(0) for begin, end in PAIRS])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("features", [1, 3, 64])
def test_a_table_of_rows(backend, features):
    generator = np.random.default_rng(4)
    table = generator.integers(-9, 10, (11, features)).astype(np.float32)
    words = generator.integers(0, 11, N).astype(np.int32)
    found = BAG(words, table, offsets=OFFSETS, backend=backend)
    wanted = [table[words[begin:end]].sum(0) / np.float32(max(end - begin, 1)) for begin, end in PAIRS]
    assert found.shape == (6, features)
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))
    words[7] = 11
    with pytest.raises(sf.InputError, match=r"table 'vectors' has 11 entries; element 7 reads vectors\[11\], and indices run from 0 to 10"):
        BAG(words, table, offsets=OFFSETS, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_for_every_element(backend):
    x = np.random.default_rng(5).integers(-20, 20, N).astype(np.float64)
    spread_out = np.repeat(np.arange(6), np.diff(OFFSETS))
    exponentials = np.exp(x)
    sums = np.array([exponentials[begin:end].sum() for begin, end in PAIRS])
    found = sf.standard.softmax(x, offsets=OFFSETS, backend=backend)
    assert isinstance(found, np.ndarray) and found.shape == (N,) and found.dtype == x.dtype
    np.testing.assert_allclose(found, exponentials / sums[spread_out], rtol=1e-12)
    whole = sf.standard.standardise(x, lengths=np.diff(OFFSETS), backend=backend)
    assert whole._fields == ("mean", "scale", "result") and [len(array) for array in whole] == [6, 6, N]
    means = np.array([x[begin:end].mean() if end > begin else np.nan for begin, end in PAIRS])
    np.testing.assert_allclose(whole.mean, means, rtol=1e-12)
    for begin, end in RUNS:
        part = x[begin:end]
        np.testing.assert_allclose(whole.result[begin:end], (part - part.mean()) / (part.std() or 1), rtol=1e-9, atol=1e-12)
    found = sf.standard.centre(x, keys=KEYS, backend=backend)
    assert found._fields == ("keys", "result") and len(found.keys) == 4 and len(found.result) == N
    np.testing.assert_allclose(found.result, x - means[spread_out], atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_softmax_of_rows(backend):
    text = sf.standard.softmax.typed("f32").text.replace("(x: f32)", "(x: row f32)")
    x = np.random.default_rng(6).standard_normal((N, 5)).astype(np.float32)
    found = sf.operator(text)(x, offsets=OFFSETS, backend=backend)
    for begin, end in RUNS:
        part = np.exp(x[begin:end].astype("f8"))
        np.testing.assert_allclose(found[begin:end], part / part.sum(0), rtol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_of_no_rows(backend):
    nothing = np.empty((0, 3), np.float32)
    assert SUM(nothing, offsets=np.array([0]), backend=backend).shape == (0, 3)
    np.testing.assert_array_equal(SUM(nothing, offsets=np.array([0, 0, 0]), backend=backend), np.zeros((2, 3)))
    np.testing.assert_array_equal(SUM(nothing, backend=backend), np.zeros((1, 3)))
    found = SUM(nothing, keys=np.empty(0, np.int32), backend=backend)
    assert found.keys.shape == (0,) and found.result.shape == (0, 3)
    assert sf.standard.softmax(np.empty(0, np.float32), offsets=np.array([0, 0]), backend=backend).shape == (0,)


@pytest.mark.parametrize("backend", BACKENDS)
def test_out(backend):
    x, weight = arrays_of(3)
    op = sf.operator(TOLD)
    wanted = op(x, weight, 3, offsets=OFFSETS, backend="reference")
    out = (np.zeros((6, 3), np.uint32), np.zeros((6, 3), np.uint32), np.zeros((N, 3), np.uint64))
    found = op(x, weight, 3, offsets=OFFSETS, out=out, backend=backend)
    assert all(given is taken for given, taken in zip(out, found))
    for name in wanted._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    # Room to spare is not touched.
    roomy = {name: np.full((N + 5, 3), 77, array.dtype) for name, array in zip(wanted._fields, wanted)}
    found = op(x, weight, 3, offsets=OFFSETS, out=roomy, backend=backend)
    for name, array in roomy.items():
        got = getattr(found, name)
        assert np.shares_memory(got, array) and got.shape == getattr(wanted, name).shape
        np.testing.assert_array_equal(got, getattr(wanted, name))
        assert (array[len(got) :] == 77).all()
    keys = np.empty(N, np.int64)
    found = SUM(x, keys=KEYS, out=(keys, np.empty((N, 3), np.uint32)), backend=backend)
    np.testing.assert_array_equal(found.keys, [5, -1, 5, 9])
    np.testing.assert_array_equal(found.result, [x[begin:end].sum(0, dtype=np.uint32) for begin, end in RUNS])


class Lender:
    """An array that speaks DLPack and nothing else, and counts."""

    def __init__(self, values):
        self.values = values
        self.lent = 0

    def __dlpack__(self, **words):
        assert words.get("copy") is not True
        self.lent += 1
        return self.values.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_rows_are_read_as_they_lie():
    x = np.arange(N * 3, dtype=np.int32).reshape(N, 3)
    wanted = [x[begin:end].sum(0) for begin, end in PAIRS]
    lender = Lender(x)
    np.testing.assert_array_equal(SUM(lender, offsets=OFFSETS), wanted)
    assert lender.lent == 1
    np.testing.assert_array_equal(SUM(memoryview(x), offsets=OFFSETS), wanted)
    one = SUM(np.asfortranarray(x[:, :1]), offsets=OFFSETS)  # a single feature lies in both orders
    np.testing.assert_array_equal(one, np.array(wanted)[:, :1])
    before = x.copy()
    x.flags.writeable = False
    found = SUM(x, offsets=OFFSETS, backend="reference")
    assert not found.flags.owndata and found.flags.c_contiguous
    np.testing.assert_array_equal(x, before)


def test_plans_belong_to_a_length_of_rows():
    op = sf.operator(SUM.typed("i32").text)
    for features in (3, 4, 3):
        x = np.arange(N * features, dtype=np.int32).reshape(N, features)
        np.testing.assert_array_equal(op(x, offsets=OFFSETS), [x[begin:end].sum(0) for begin, end in PAIRS])
    assert op._cached_plans("i32") == (2 if sf.automatic_backend() == "cpu" else 0)
    wide = np.arange(N * 4, dtype=np.int32).reshape(N, 4)
    plan = sf.plan(op, x, offsets=OFFSETS, backend="simt", stage="row_groups")
    for values in (x, x * 2):
        np.testing.assert_array_equal(plan(values, offsets=OFFSETS), [values[begin:end].sum(0) for begin, end in PAIRS])
    assert plan.stage == "row_groups" and "num_features" in plan.source and plan.explain()["plan"].startswith("row_groups ")
    out = np.empty((6, 3), np.int32)
    assert plan.copy()(x, offsets=OFFSETS, out=out) is out
    np.testing.assert_array_equal(out, [x[begin:end].sum(0) for begin, end in PAIRS])
    message = "the arrays have rows of 4 features, and the plan of total was made for rows of 3; make another plan"
    for call in (plan, plan.resize):
        with pytest.raises(sf.InputError) as caught:
            call(wide, offsets=OFFSETS)
        assert str(caught.value) == message
    plan.resize(x[:4], offsets=np.array([0, 4]))
    np.testing.assert_array_equal(plan(x[:4], offsets=np.array([0, 4])), [x[:4].sum(0)])


@pytest.mark.parametrize("backend", BACKENDS)
def test_plans_of_write_back(backend):
    x, weight = arrays_of(7)
    op = sf.operator(TOLD)
    for layout in ("offsets", "uniform", "ranges", "whole", "keys"):
        words, segments = LAYOUTS[layout]
        if layout == "keys" and backend == "auto" and sf.devices():  # a plan's keys lie on the GPU, uncounted
            with pytest.raises(sf.InputError) as caught:
                sf.plan(op, x, weight, 3, backend=backend, **words)
            assert str(caught.value) == "no stage takes segments given by keys on a device for operator told"
            continue
        plan = sf.plan(op, x, weight, 3, backend=backend, **words)
        wanted = told_by_loops(x, weight, 5, segments)
        for _ in range(2):
            found = plan(x, weight, 5, **words)
            for name, array in zip(("a", "b", "told"), wanted):
                np.testing.assert_array_equal(getattr(found, name), array, err_msg=f"{name}, {layout}")


def test_threads_fold_rows_at_the_same_time():
    """Plans of several lengths of rows, which one back end runs."""
    failures = []

    def work(features):
        try:
            x = np.arange(N * features, dtype=np.int32).reshape(N, features)
            wanted = [x[begin:end].sum(0) for begin, end in PAIRS]
            for _ in range(30):
                np.testing.assert_array_equal(SUM(x, offsets=OFFSETS), wanted)
        except BaseException as failure:  # noqa: B036  a test must see all
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(features,)) for features in (1, 3, 3, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_reference_folds_where_nothing_compiles():
    program = """
import numpy as np, segfold as sf
x = np.arange(12, dtype=np.float32).reshape(6, 2)
op = sf.operator("operator total(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }")
print(op(x, uniform=3, backend="cpu").tolist(), sf.standard.centre(x[:, 0].copy(), uniform=2, backend="cpu").tolist())
"""
    environment = {**os.environ, "PATH": "", "PYTHONWARNINGS": "ignore"}
    environment.pop("CXX", None)
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert ran.stdout == "[[6.0, 9.0], [24.0, 27.0]] [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]\n"


def test_what_an_operator_says_of_itself():
    op = sf.operator(TOLD)
    assert op.rows == ("x",) and op.outputs == ("told",) and op.scalars == ("add",)
    assert op.results == (("a", "u32"), ("b", "u32"), ("told", "u64"))
    assert op.signature == "told(x: row u32, weight: u16, add: scalar u32) -> (a: u32, b: u32, each told: u64)"
    assert SUM.is_generic and SUM.rows == ("x",) and SUM.outputs == () and BAG.rows == ("vectors",)
    assert sf.standard.softmax.outputs == ("result",) and sf.standard.sum.rows == ()
    for some in (op, SUM, BAG, SUM & sf.operator("operator most(x: row T) -> T { state m: T lift x combine(a, b) max(a, b) }")):
        assert pickle.loads(pickle.dumps(some)) == some
    x, weight = arrays_of(2)
    found = pickle.loads(pickle.dumps(op(x, weight, 3, uniform=8)))
    assert found.told.shape == (N, 2)
    assert sf.check(op, prove=0)["associative"]


def test_a_product_of_operators_over_rows():
    most = sf.operator("operator most(x: row T) -> T { state m: T = lowest(T) lift x combine(a, b) max(a, b) }")
    both = SUM & most
    assert both.rows == ("x",)
    x = np.random.default_rng(7).integers(-99, 99, (N, 3)).astype(np.int32)
    found = both(x, offsets=OFFSETS)
    np.testing.assert_array_equal(found[0], SUM(x, offsets=OFFSETS))
    np.testing.assert_array_equal(found[1], most(x, offsets=OFFSETS))


def test_check_and_reproducible():
    x, weight = arrays_of(3)
    wanted = told_by_loops(x, weight, 3, PAIRS)
    for words in ({"check": True}, {"reproducible": True}):
        found = sf.operator(TOLD)(x, weight, 3, offsets=OFFSETS, **words)
        for name, array in zip(("a", "b", "told"), wanted):
            np.testing.assert_array_equal(getattr(found, name), array)


@pytest.mark.skipif(not dict(sf.backends()).get("cpu"), reason="no back end cpu is here")
@pytest.mark.drawn
def test_the_cores_of_the_host_are_measured():
    x = np.arange(3 << 12, dtype=np.float32).reshape(1 << 12, 3)
    total = sf.operator("operator total(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }")
    for op, column, stage in ((total, x, "lane_per_feature"), (sf.standard.centre, x[:, 0].copy(), "vector_per_segment")):
        bench = sf.bench(op, column, uniform=1024, backend="cpu", repeats=3)
        assert stage in str(bench)


def test_maps_read_tables_and_scalars():
    @sf.operator
    class layer_norm:
        x: sf.f32
        group: sf.i32
        weight: sf.table(sf.f32)
        bias: sf.table(sf.f32)
        mask: sf.table(sf.bool_)
        least: sf.scalar(sf.f32)

        class state:
            n: sf.i64 = 0
            sum: sf.f32 = 0
            squares: sf.f32 = 0

        def lift(x):
            return dict(n=1, sum=x, squares=x * x)

        def combine(a, b):
            return dict(n=a.n + b.n, sum=a.sum + b.sum, squares=a.squares + b.squares)

        def map(x, group, weight, bias, mask, least, n, sum, squares):
            mean = sum / sf.f32(n)
            scale = sf.rsqrt(squares / sf.f32(n) - mean * mean + least) * weight[sf.segment()]
            return sf.where(mask[group], (x - mean) * scale + bias[sf.position()], 0)

        laws = "commutative"

    text = sf.operator("""
    operator layer_norm(x: f32, group: i32, weight: table f32, bias: table f32, mask: table bool, least: scalar f32) -> each f32 {
      state { n: i64 = 0; sum: f32 = 0; squares: f32 = 0 }
      lift { n = 1; sum = x; squares = x * x }
      combine(a, b) { n = a.n + b.n; sum = a.sum + b.sum; squares = a.squares + b.squares }
      map {
        let mean = sum / f32(n);
        let scale = rsqrt(squares / f32(n) - mean * mean + least) * weight[segment];
        result = mask[group] ? (x - mean) * scale + bias[position] : 0
      }
      laws commutative
    }""")
    assert layer_norm == text, layer_norm.text
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    group = np.array([0, 1, 1, 1] * 3, np.int32)
    weight, bias, mask = np.array([1, 2, 3], np.float32), np.array([5, 6, 7, 8], np.float32), np.array([False, True])
    found = layer_norm(x.ravel(), group, weight, bias, mask, 0.5, uniform=4)
    centred = x - x.mean(1, keepdims=True)
    right = np.where(mask[group].reshape(3, 4), centred / np.sqrt(x.var(1, keepdims=True) + 0.5) * weight[:, None] + bias, 0)
    np.testing.assert_allclose(found, right.ravel(), rtol=1e-4, atol=1e-4)
    with pytest.raises(sf.InputError, match=re.escape("table 'weight' has 2 entries; map of element 8 reads weight[2]")):
        layer_norm(x.ravel(), group, weight[:2], bias, mask, 0.5, uniform=4)
