"""Keys in any order: what is said of those that come back, and folds that sort by key first."""

import warnings

import numpy as np
import pytest

import segfold as sf

rng = np.random.default_rng(11)
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
AFFINE = """operator affine_of(a: i64, b: i64) -> (a: i64, b: i64) {
  state { a: i64 = 1; b: i64 = 0 } lift { a = a; b = b } combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b } }"""


def fresh(name="fresh"):
    """An operator of which nothing has been said yet."""
    return sf.operator(f"operator {name}(x: f64) -> f64 {{ state s: f64 = 0 lift x combine(a, b) a + b laws commutative }}")


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if issubclass(w.category, sf.FoldWarning)]


@pytest.mark.parametrize("backend", ["cpu", "reference", "simt"])
def test_a_key_that_comes_back_is_said_once_for_an_operator(backend):
    op = fresh()
    x, keys = np.ones(6), np.array([3, 1, 3, 3, 1, 2])
    (said,) = warned(lambda: op(x, keys=keys, backend=backend))
    assert said == ("operator fresh: keys come back: 5 runs of equal neighbours have 3 distinct keys, and each run is a segment of its own; "
                    "sort_keys=True sorts by key first, so that each key is one segment")  # fmt: skip
    assert warned(lambda: op(x, keys=keys, backend=backend)) == []
    assert warned(lambda: op(x[:4], keys=keys[:4], backend=backend)) == []
    assert len(warned(lambda: fresh("another")(x, keys=keys, backend=backend))) == 1
    assert sf.explain(op) == said


def test_each_type_of_an_operator_says_it():
    op, keys = sf.operator("operator own(x: T) -> T { state s: T = 0 lift x combine(a, b) a + b }"), np.array([3, 1, 3])
    assert [len(warned(lambda: op(np.ones(3, dtype), keys=keys))) for dtype in ("f4", "i4", "f4")] == [1, 1, 0]


def test_a_warning_that_is_raised_is_raised_in_each_call_until_it_is_said():
    op, x, keys = fresh(), np.ones(3), np.array([3, 1, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(sf.FoldWarning, match="keys come back"):
                op(x, keys=keys)
    assert len(warned(lambda: op(x, keys=keys))) == 1


def test_a_sorted_call_leaves_it_to_others():
    op, x, keys = fresh(), np.ones(3), np.array([3, 1, 3])
    assert [len(warned(lambda: op(x, keys=keys, sort_keys=sorts))) for sorts in (True, False, False)] == [0, 1, 0]


@pytest.mark.parametrize("keys", [[1, 1, 2, 5], [5, 2, 2, 1], [2, 9, 9, 4], [7, 7, 7, 7], []])
def test_keys_of_one_run_each_say_nothing(keys):
    assert warned(lambda: fresh()(np.ones(len(keys)), keys=np.array(keys, "i8"))) == []


def test_a_plan_says_it_too():
    x, keys = np.ones(4), np.array([1, 2, 1, 2])
    plan = sf.plan(fresh(), x, keys=keys)
    assert len(warned(lambda: plan(x, keys=keys))) == 1 and warned(lambda: plan(x, keys=keys)) == []


def by_key(keys, *columns):
    """(a, b) of AFFINE for each distinct key, ascending, its elements in the order in which they stand."""
    folded = {}
    for key, a, b in zip(keys.tolist(), *(c.tolist() for c in columns)):
        p, q = folded.get(key, (1, 0))
        folded[key] = (p * a, q * a + b)
    return sorted(folded.items())


@pytest.mark.parametrize("size", [0, 1, 7, 1000, 40_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_distinct_key_is_one_segment(dtype, size):
    keys = rng.integers(0, 2 if dtype == "?" else 50, size).astype(dtype)
    if dtype[0] in "if":
        keys = keys - keys.dtype.type(20)
    a, b = rng.choice([1, -1], size), rng.integers(-9, 9, size)
    op = sf.operator(AFFINE)
    assert warned(lambda: op(a, b, keys=keys, sort_keys=True)) == []
    got = op(a, b, keys=keys, sort_keys=True)
    wanted = by_key(keys, a, b)
    assert got.keys.dtype == keys.dtype
    assert [(k, (p, q)) for k, p, q in zip(got.keys.tolist(), got.a.tolist(), got.b.tolist())] == wanted


def test_bits_of_floats_are_keys():
    keys = np.array([0.0, np.nan, -0.0, 2.5, 0.0, -np.inf, -0.0, np.nan], "f4")
    got = fresh()(np.arange(8.0), keys=keys, sort_keys=True)
    np.testing.assert_array_equal(got.keys, np.array([-np.inf, -0.0, 0.0, 2.5, np.nan], "f4"))
    np.testing.assert_array_equal(np.signbit(got.keys[1:3]), [True, False])
    np.testing.assert_array_equal(got.result, [5, 8, 4, 3, 8])


def test_arrays_of_the_caller_stay_as_they_are():
    x, keys = rng.normal(size=100), rng.integers(0, 5, 100)
    kept = x.copy(), keys.copy()
    fresh()(x, keys=keys, sort_keys=True)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(keys, kept[1])


@pytest.mark.drawn
def test_out_check_plans_and_bench_take_sorted_keys():
    x, keys = rng.integers(0, 9, 500).astype("f8"), rng.integers(0, 20, 500)
    wanted = np.bincount(keys, x)
    op, out = fresh(), {"keys": np.zeros(20, "i8"), "result": np.zeros(20)}
    op(x, keys=keys, sort_keys=True, out=out)
    np.testing.assert_array_equal(out["result"], wanted)
    np.testing.assert_array_equal(out["keys"], np.arange(20))
    np.testing.assert_array_equal(op(x, keys=keys, sort_keys=True, check=True).result, wanted)
    plan = sf.plan(op, x, keys=keys, sort_keys=True)
    np.testing.assert_array_equal(plan(x, keys=keys).result, wanted)
    np.testing.assert_array_equal(plan.copy()(x, keys=keys[::-1].copy()).result, np.bincount(keys[::-1], x))
    plain = sf.plan(op, x, keys=keys)
    np.testing.assert_array_equal(plain(x, keys=keys, sort_keys=True).result, wanted)
    assert len(plan(x, keys=keys, sort_keys=False).keys) == len(op(x, keys=keys).keys) > 20  # runs
    np.testing.assert_array_equal(plan(x, keys=keys, sort_keys=None).result, wanted)
    assert sf.bench(op, x, keys=keys, sort_keys=True, backend="cpu", repeats=1).num_segments == 20


def test_tables_and_scalars_stay_where_they_are():
    op = sf.operator("operator look(i: i32, t: table f64, f: scalar f64) -> f64 { state s: f64 = 0 lift f * t[i] combine(a, b) a + b }")
    i, t, keys = rng.integers(0, 300, 300).astype("i4"), rng.integers(0, 9, 300).astype("f8"), rng.integers(0, 7, 300)
    np.testing.assert_array_equal(op(i, t, 2.0, keys=keys, sort_keys=True).result, np.bincount(keys, 2 * t[i]))


@sf.operator
class rest_of_rows:
    x: sf.row(sf.f32)

    class state:
        sum: sf.f32 = 0

    results = dict(total=sf.f32, rest=sf.each(sf.f32))

    def lift(x):
        return x

    def combine(a, b):
        return a + b

    def finish(s):
        return s.sum

    def map(x, total):
        return dict(rest=x - total)


REST = sf.operator("""operator rest(x: i32) -> (total: i32, each rest: i32) {
  state s: i32 = 0 lift x combine(a, b) a + b finish { total = s } map { rest = x - total } }""")


@pytest.mark.parametrize("words", [{}, {"check": True}, {"backend": "reference"}, {"out": True}])
def test_rows_and_results_for_elements_stand_where_the_elements_do(words):
    rows, keys = rng.integers(-9, 9, (60, 3)).astype("f4"), rng.integers(0, 4, 60)
    if "out" in words:
        words = {"out": {"keys": np.zeros(4, "i8"), "total": np.zeros((4, 3), "f4"), "rest": np.zeros((60, 3), "f4")}}
    got = rest_of_rows(rows, keys=keys, sort_keys=True, **words)
    wanted = np.stack([rows[keys == k].sum(0) for k in range(4)])
    np.testing.assert_array_equal(got.total, wanted)
    np.testing.assert_array_equal(got.rest, rows - wanted[keys])


@pytest.mark.parametrize("by_plan", [False, True])
@pytest.mark.parametrize("backend", ["cpu", "reference", "simt"])
@pytest.mark.parametrize("room", [60, 61, 90, 120, 200])
@pytest.mark.parametrize("op, entry", [(REST, ()), (rest_of_rows, (2,))])
def test_what_lies_behind_the_results_in_longer_arrays_stays(op, entry, room, backend, by_plan):
    x, keys = rng.integers(-9, 9, (60, *entry)).astype("f4" if entry else "i4"), rng.integers(0, 4, 60)
    out = {name: np.full((room, *entry) if name != "keys" else room, 7777, "i8" if name == "keys" else x.dtype) for name in ("keys", "total", "rest")}
    call = sf.plan(op, x, keys=keys, sort_keys=True, backend=backend) if by_plan else lambda *x, **named: op(*x, sort_keys=True, backend=backend, **named)
    call(x, keys=keys, out=out)
    totals = np.stack([x[keys == k].sum(0) for k in range(4)])
    for name, wanted in {"keys": np.arange(4), "total": totals, "rest": x - totals[keys]}.items():
        np.testing.assert_array_equal(out[name][: len(wanted)], wanted)
        np.testing.assert_array_equal(out[name][len(wanted) :], 7777)


def test_other_kinds_of_arrays():
    torch = pytest.importorskip("torch")
    x, keys = rng.integers(0, 9, 300).astype("f8"), rng.integers(0, 20, 300)
    got = fresh()(torch.from_numpy(x), keys=torch.from_numpy(keys), sort_keys=True)
    assert isinstance(got.result, torch.Tensor)
    np.testing.assert_array_equal(got.result.numpy(), np.bincount(keys, x))


def test_an_index_is_where_an_element_stood():
    got = sf.standard.argmax(np.array([3.0, 8, 5, 8]), keys=np.array([2, 1, 2, 1]), sort_keys=True)
    assert got.keys.tolist() == [1, 2] and got.index.tolist() == [1, 2] and got.value.tolist() == [8, 5]


def test_what_cannot_be_sorted_is_refused():
    x, keys = np.ones(4), np.array([1, 2, 1, 2])
    with pytest.raises(sf.InputError, match="sorts by keys=, and segments are given by uniform"):
        fresh()(x, uniform=2, sort_keys=True)
    with pytest.raises(sf.InputError, match="sorts by keys=, and no segments are given"):
        fresh()(x, sort_keys=True)
    with pytest.raises(sf.InputError, match="the keys are 3 for 4 elements; each element has one"):
        fresh()(x, keys=keys[:3], sort_keys=True)
    with pytest.raises(TypeError, match="sort_keys= takes True or False"):
        fresh()(x, keys=keys, sort_keys=1)
    with pytest.raises(TypeError, match="give by= in place of keys="):
        sf.stream(fresh(), x, keys=keys, sort_keys=True)


def test_lists_are_not_advised_to_take_keys():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(sf.InputError) as caught:
        fresh()(pyarrow.array([[1.0, 2.0], [3.0]]), sort_keys=True)
    assert str(caught.value) == "sort_keys=True sorts by keys=, and segments are given by lists; leave it out"


@pytest.mark.parametrize(
    "made, given, text",
    [
        ({"keys": "a"}, {"keys": "ab"}, "one column of keys, and is given keys of several columns"),
        ({"keys": "a", "sort_keys": True}, {"keys": "ab"}, "one column of keys, and is given keys of several columns"),
        ({"keys": "ab"}, {"keys": "a"}, "keys of several columns, and is given one column of keys"),
        ({"keys": "a", "sort_keys": True}, {"uniform": 2}, "one column of keys, and is given segments by uniform"),
        ({"keys": "a", "sort_keys": True}, {}, "one column of keys, and is given no segments"),
        ({"uniform": 2}, {"keys": "ab"}, "segments by uniform, and is given keys of several columns"),
    ],
)
def test_a_plan_says_which_keys_it_was_made_for(made, given, text):
    x, columns = np.ones(4), {"a": np.array([1, 2, 1, 2]), "ab": (np.array([1, 2, 1, 2]), np.zeros(4))}
    words = [{word: columns[value] if word == "keys" else value for word, value in one.items()} for one in (made, given)]
    with pytest.raises(sf.InputError) as caught:
        sf.plan(fresh(), x, **words[0])(x, **words[1])
    assert str(caught.value) == f"the plan of fresh was made for {text}; make another plan"


def test_arrays_of_a_gpu_are_sorted_by_their_library():
    """The same functions sort torch's arrays of the host."""
    torch = pytest.importorskip("torch")
    from segfold import _sorted

    wide = [getattr(torch, name) for name in ("uint16", "uint32", "uint64") if hasattr(torch, name)]
    for dtype in wide:
        keys = torch.tensor([7, 0, 7, 1, 0]).to(dtype)
        places, by_torch, moved = _sorted.by_first([keys, keys.clone()])
        assert places.tolist() == [1, 4, 3, 0, 2] and by_torch.dtype == moved.dtype == dtype
        assert by_torch.long().tolist() == moved.long().tolist() == [0, 0, 1, 7, 7]
        assert _sorted.put_back(moved, places).long().tolist() == [7, 0, 7, 1, 0]
    for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32):
        keys = torch.tensor([0.0, 1, -0.0, 2, 0, 1, -0.0, 7, 0]).to(dtype)
        keys = keys if dtype in (torch.bool, torch.uint8) else keys - torch.ones(1, dtype=dtype)
        keys = torch.cat([keys, -keys]) if dtype.is_floating_point else keys
        values = torch.arange(len(keys))
        places, by_torch, moved = _sorted.by_first([keys, values])
        got = fresh()(values.double(), keys=keys, sort_keys=True)
        bits = by_torch if not dtype.is_floating_point else by_torch.view({2: torch.int16, 4: torch.int32}[dtype.itemsize])
        runs = 1 + int((bits[1:] != bits[:-1]).sum())
        assert len(got.keys) == runs == _sorted.runs_and_keys(keys)[1]
        assert torch.equal(moved, values[places])
        assert torch.equal(_sorted.put_back(moved.clone(), places), values)
        assert torch.equal(got.keys, by_torch[torch.cat([torch.tensor([True]), bits[1:] != bits[:-1]])])
        assert all(a < b for a, b, s in zip(places, places[1:], bits[1:] == bits[:-1]) if s)


def test_a_stream_says_it_of_a_part():
    x, keys = np.ones(4000), np.array([1, 2] * 2000)
    said = warned(lambda: list(sf.stream(fresh(), x, keys=keys, memory="64K", backend="cpu")))
    assert len(said) == 1 and "2 distinct keys" in said[0] and "one part of a stream; keys in any order are" in said[0]
    assert warned(lambda: list(sf.stream(fresh(), x, keys=np.arange(4000) // 7, memory="64K", backend="cpu"))) == []
