"""Groups in any order, by numbers and by keys: folds, write-back and scans, beside loops over the groups."""

import numpy as np
import pytest

import segfold as sf

rng = np.random.default_rng(5)
AFFINE = sf.operator("""operator affine_of(a: i64, b: i64) -> (a: i64, b: i64) {
  state { a: i64 = 1; b: i64 = 0 } lift { a = a; b = b } combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b } }""")


def drawn(n, num_groups, dtype="i8", has_none=False):
    numbers = rng.integers(0, num_groups, n)
    return np.where(has_none & (rng.random(n) < 0.2), -1 - numbers, numbers).astype(dtype)


def members(numbers, num_groups):
    return [np.flatnonzero(numbers == g) for g in range(num_groups)]


@pytest.mark.parametrize("backend", ["cpu", "simt", "reference"])
@pytest.mark.parametrize("n, num_groups", [(0, 2), (1, 1), (500, 7), (700, 300)])
@pytest.mark.parametrize("has_none", [False, True])
def test_elements_of_a_group_are_folded_in_the_order_in_which_they_stand(backend, n, num_groups, has_none):
    a, b, numbers = rng.integers(-9, 9, n), rng.integers(-9, 9, n), drawn(n, num_groups, has_none=has_none)
    found = AFFINE(a, b, groups=numbers, num_groups=num_groups, backend=backend)
    running = AFFINE.scan(a, b, groups=numbers, num_groups=num_groups, backend=backend)
    prefixes = np.zeros((2, n), "i8")
    with np.errstate(over="ignore"):
        for g, places in enumerate(members(numbers, num_groups)):
            scale, shift = np.int64(1), np.int64(0)
            for i in places:
                scale, shift = scale * a[i], shift * a[i] + b[i]
                prefixes[:, i] = scale, shift
            assert (found.a[g], found.b[g]) == (scale, shift)
    assert np.array_equal(running, prefixes)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_numbers_are_integers_of_any_width(dtype):
    x, numbers = rng.integers(-50, 50, 3000), drawn(3000, 90, dtype)
    assert np.array_equal(sf.standard.sum(x, groups=numbers, num_groups=100), np.bincount(numbers.astype("i8"), x, 100))


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_plans_of_the_host_fold_groups_as_they_lie(n):
    rng = np.random.default_rng(n)
    ids, x = rng.integers(-2, 9, n), rng.integers(-9, 9, n).astype(np.int32)
    plan = sf.plan(sf.standard.sum, x, groups=ids, num_groups=10, backend="cpu")
    wanted = [x[ids == group].sum() for group in range(10)]
    assert plan.stage == "group_shares"
    assert plan(x, groups=ids).tolist() == wanted
    assert plan(x, groups=ids, num_groups=10).tolist() == wanted
    if n > 1:
        with pytest.raises(sf.InputError, match="there are 10 groups"):
            plan(x, groups=ids + 5)


def test_without_a_number_of_groups_the_largest_number_is_the_last_group():
    assert sf.standard.sum(np.array([1, 2, 4]), groups=np.array([3, 0, 3])).tolist() == [2, 0, 0, 5]
    assert sf.standard.sum(np.array([1, 2]), groups=np.array([-1, -7])).tolist() == []


def test_an_index_is_where_an_element_stands():
    x, numbers = rng.integers(0, 40, 2000).astype("f4"), drawn(2000, 30)
    found = sf.standard.argmax(x, groups=numbers)
    assert found.index.tolist() == [places[np.argmax(x[places])] for places in members(numbers, 30)]


def test_results_of_elements_stand_where_the_elements_do():
    x, numbers = rng.random(400), drawn(400, 9, has_none=True)
    y = sf.standard.softmax(x, groups=numbers)
    for places in members(numbers, 9):
        assert np.allclose(y[places], np.exp(x[places]) / np.exp(x[places]).sum())
    assert y.shape == (400,) and (y[numbers < 0] == 0).all()


@pytest.mark.parametrize("name", ["max", "mean", "product", "log_sum_exp"])  # by places, sums, two scans, totals
def test_gradients_are_those_of_sorted_segments(name):
    gradient, x, numbers, weights = sf.gradient(getattr(sf.standard, name), wrt="x"), rng.normal(size=60), drawn(60, 6, has_none=True), rng.normal(size=7)
    order = np.argsort(numbers, kind="stable")
    order = order[numbers[order] >= 0]
    wanted = np.zeros(60)
    wanted[order] = gradient(weights, x[order], offsets=np.searchsorted(numbers[order], np.arange(8)))
    assert np.array_equal(gradient(weights, x, groups=numbers, num_groups=7), wanted)


def test_rows_of_features_are_aggregated():
    x, numbers = rng.integers(-9, 9, (300, 5)), drawn(300, 20)
    wanted = np.zeros((20, 5), "i8")
    np.add.at(wanted, numbers, x)
    op = sf.operator("operator row_sum(x: row i64) -> i64 { state s: i64 = 0 lift x combine(a, b) a + b }")
    assert np.array_equal(op(x, groups=numbers, num_groups=20), wanted)


def test_results_go_where_out_says():
    out = np.empty(3, "i8")
    assert sf.standard.sum(np.array([1, 2, 4]), groups=np.array([2, 0, 2]), out=out) is out
    assert out.tolist() == [2, 0, 5]
    with pytest.raises(sf.InputError, match="the array for them has room for 2"):
        sf.standard.sum(np.array([1, 2, 4]), groups=np.array([2, 0, 2]), out=np.empty(2, "i8"))


def test_a_check_compares_groups_with_the_reference():
    x, numbers = rng.integers(-9, 9, 900), drawn(900, 40, has_none=True)
    sf.standard.max_subarray(x, groups=numbers, check=True)


@pytest.mark.parametrize(
    "words, message",
    [
        ({"groups": [0, 5, 1], "num_groups": 3}, "the number of the group of element 1 is 5, and there are 3 groups: numbers go from 0 to 2"),
        ({"groups": [0, 1]}, "the numbers of groups are 2 for 3 elements; each element has one"),
        ({"groups": [0.0, 1, 2]}, "the numbers of groups are f64; they are integers"),
        ({"groups": [0, 1, 2], "num_groups": -1}, "num_groups is -1; it is the number of groups, 0 or more"),
        ({"num_groups": 3}, "num_groups= is the number of groups that groups= numbers, and there is no groups="),
        ({"groups": [0, 1, 2], "offsets": [0, 3]}, "segments are given twice, as groups and as offsets; give them once"),
    ],
)
def test_wrong_groups_are_refused_in_words(words, message):
    words = {word: np.array(value) if isinstance(value, list) else value for word, value in words.items()}
    with pytest.raises(sf.InputError, match=message):
        sf.standard.sum(np.array([1, 2, 4]), **words)


def by_loop(a, b, keys, order):
    """Affine maps by key, a tuple of Python's values; keys in the given order."""
    found = {}
    with np.errstate(over="ignore"):
        for i, key in enumerate(keys):
            scale, shift = found.get(key, (np.int64(1), np.int64(0)))
            found[key] = scale * a[i], shift * a[i] + b[i]
    return {key: found[key] for key in (sorted(found) if order else found)}


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("n", [0, 1, 900, 70_000])
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f8", "U3", "S3", "O", "M8[s]"])
def test_distinct_keys_of_any_type_are_groups(dtype, n, order):
    a, b, numbers = rng.integers(-9, 9, n), rng.integers(-9, 9, n), rng.integers(0, 60, n)
    keys = np.array([f"k{number}" for number in numbers], object) if dtype == "O" else numbers.astype(dtype)
    got = AFFINE(a, b, by=keys, sort=order)
    wanted = by_loop(a, b, keys.tolist(), order)
    assert got.keys.tolist() == list(wanted) and got.keys.dtype == keys.dtype
    assert list(zip(got.a, got.b)) == list(wanted.values())


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
@pytest.mark.parametrize("order", [True, False])
def test_keys_at_the_ends_of_their_type(dtype, order):
    least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
    for values in ([least], [greatest], [least, least + 1], [greatest - 1, greatest], [least, greatest], [greatest, least, 0]):
        keys = np.array(values * 3, dtype)
        got = AFFINE(np.full(len(keys), 2), np.arange(len(keys)), by=keys, sort=order)
        wanted = by_loop(np.full(len(keys), 2), np.arange(len(keys)), keys.tolist(), order)
        assert dict(zip(got.keys.tolist(), zip(got.a, got.b))) == wanted and got.keys.tolist() == list(wanted)


@pytest.mark.parametrize("order", [True, False])
def test_keys_may_be_several_columns(order):
    n = 2000
    a, b, day, city = rng.integers(-9, 9, n), rng.integers(-9, 9, n), rng.integers(-4, 4, n).astype("f4"), rng.choice(["Oslo", "Rome", "Bern"], n)
    got = AFFINE(a, b, by=(day, city, day), sort=order)
    wanted = by_loop(a, b, list(zip(day.tolist(), city.tolist(), day.tolist())), order)
    assert list(zip(*(column.tolist() for column in got.keys))) == list(wanted)
    assert list(zip(got.a, got.b)) == list(wanted.values())
    running = AFFINE.scan(a, b, by=(day, city))
    assert running.a[-1] == wanted[day[-1], city[-1], day[-1]][0]


def test_keys_of_floats_are_their_bits():
    keys = np.array([np.nan, 0.0, -0.0, np.inf, np.nan, 0.0])
    got = sf.standard.sum(np.arange(6), by=keys)
    assert got.result.tolist() == [2, 6, 3, 4] and np.array_equal(got.keys, [-0.0, 0.0, np.inf, np.nan], equal_nan=True)
    assert np.signbit(got.keys[0])


def test_columns_of_other_libraries_are_keys():
    x = np.array([1, 2, 4, 8])
    polars = pytest.importorskip("polars")
    assert sf.standard.sum(x, by=polars.Series(["b", "a", "b", "c"])).result.tolist() == [2, 5, 8]
    pyarrow = pytest.importorskip("pyarrow")
    assert sf.standard.sum(x, by=pyarrow.array(["b", "a", "b", "c"])).result.tolist() == [2, 5, 8]
    assert sf.standard.sum(x, by=pyarrow.array([7, 3, 7, 9])).keys.tolist() == [3, 7, 9]


@pytest.mark.parametrize(
    "words, message",
    [
        ({"by": np.array([1, 2])}, "the keys are 2 for 3 elements; each element has one"),
        ({"by": (np.array([1, 2, 3]), np.array([1, 2]))}, r"'by\[1\]' has 2 keys for 3 elements; each column has a key for each element"),
        ({"by": np.array(["a", None, "b"], object)}, "'by' holds objects that have no order"),
        ({"by": ()}, "'by' is an empty tuple; a tuple of keys has at least one array"),
        ({"by": (np.zeros((3, 2)), np.zeros(3))}, r"'by\[0\]' has entries that are arrays; a key is a number, a text or a date"),
        ({"sort": False}, "sort=False says how groups of by= are ordered, and no keys are in any order; leave it out"),
        ({"by": np.array([1, 2, 3]), "uniform": 1}, "segments are given twice, as by and as uniform; give them once"),
        ({"by": np.zeros((3, 0))}, r"'by' has shape \(3, 0\); a row has at least one key"),
        ({"by": np.zeros((2, 3))}, "'by' has 2 keys for 3 elements"),
        ({"by": np.array(["a", "b"])}, "'by' has 2 keys for 3 elements"),
        ({"by": np.array([1.0, np.nan, 1.0], object)}, "'by' holds .* which have no order, and are no keys"),
        ({"by": np.fromiter([frozenset([1]), frozenset([2]), frozenset([1])], object)}, "which have no order, and are no keys"),
        ({"by": np.ma.array(["a", "b", "a"], mask=[0, 0, 1])}, "'by' is a masked array, and a fold looks at no mask"),
        ({"by": (np.ma.array([1, 2, 1], mask=[0, 1, 0]), np.ones(3))}, r"'by\[0\]' is a masked array"),
        ({"by": (np.array([256, 1, 2], ">i4"),)}, r"'by\[0\]' holds elements"),
        ({"by": np.array([1, 2, 3]), "sort_keys": False}, "by= takes keys in any order, and sort_keys=False keys whose runs are segments"),
    ],
)
def test_wrong_keys_are_refused_in_words(words, message):
    with pytest.raises(sf.InputError, match=message):
        sf.standard.sum(np.array([1, 2, 4]), **words)


def test_dates_of_another_byte_order_are_ordered():
    assert sf.standard.sum(np.array([1, 2]), by=np.array([256, 1], ">M8[s]")).result.tolist() == [2, 1]


def test_keys_of_several_columns_are_read_before_results_are_written():
    numbers = np.array([1, 0, 1, -1, 2, 0])
    for by in ((numbers, np.array(list("abacbb"))), numbers.astype("M8[s]"), np.stack([numbers, numbers], 1)):
        out = by[0] if isinstance(by, tuple) else by.view("i8") if by.ndim == 1 else by.reshape(-1)[:6]
        wanted = sf.standard.argmax(np.arange(6.0), by=by)
        kept = [np.copy(column) for column in (wanted.keys if isinstance(wanted.keys, tuple) else [wanted.keys])]
        got = sf.standard.argmax(np.arange(6.0), by=by, out=(np.zeros(6), out))
        for one, other in zip(kept, got.keys if isinstance(got.keys, tuple) else [got.keys]):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("values", [[2**53, 2**53 + 1, None], [1.0, None, float("nan")], ["a", None, "b"]])
def test_nulls_are_no_keys(values):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for column in (polars.Series(values), pyarrow.array(values)):
        for by in (column, (column, np.ones(3))):
            with pytest.raises(sf.InputError, match="null"):
                sf.standard.sum(np.ones(3), by=by)
    value = "z" if isinstance(values[0], str) else 7
    for column in (polars.Series(values).fill_null(value), pyarrow.array(values).fill_null(value)):
        assert len(sf.standard.sum(np.ones(3), by=(column, np.ones(3))).result) == 3


def test_polars_loses_nothing():
    polars = pytest.importorskip("polars")
    times = polars.Series([1, 2, 1]).cast(polars.Time)  # nanoseconds apart
    assert sf.standard.sum(np.array([1, 2, 4]), by=times).result.tolist() == [5, 2]
    assert sf.standard.sum(np.array([1, 2, 4]), by=polars.Series(["a\0", "a", "a"])).result.tolist() == [6, 1]
    assert sf.standard.sum(np.array([1, 2, 4]), by=polars.Series([2**53, 2**53 + 1, 2**53])).result.tolist() == [5, 2]
    with pytest.raises(sf.InputError, match="'by' is a table"):
        sf.standard.sum(np.ones(3), by=polars.DataFrame({"a": [1, 2, 3]}))


def test_keys_whose_products_collide_take_no_longer():
    """Multiples of the inverse of a multiplier that hashing by multiplication has."""
    keys = np.arange(100_000, dtype="u8") * np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
    assert len(sf.standard.sum(np.ones(100_000), by=keys).keys) == 100_000


def test_a_plan_heeds_the_order_of_a_call():
    x, keys = np.arange(6.0), np.array([1, 0, 1, -1, 2, 0])
    plan = sf.plan(sf.standard.sum, x, by=keys)
    assert plan(x, by=keys, sort=False).keys.tolist() == [1, 0, -1, 2]
    assert plan(x, by=keys).keys.tolist() == [-1, 0, 1, 2]
    assert sf.plan(sf.standard.sum, x, by=keys, sort=False)(x, by=keys, sort=True).keys.tolist() == [-1, 0, 1, 2]


def test_a_message_names_the_element_as_it_stands():
    op = sf.operator("operator tb(x: i64, t: table f64) -> f64 { state s: f64 = 0 lift t[x] combine(a, b) a + b }")
    x, table = np.array([0, 0, 0, 0, 77, 0]), np.ones(2)
    for words in ({"groups": np.array([1, 0, 1, -1, 2, 0])}, {"by": np.array(list("abacbb"))}):
        with pytest.raises(sf.InputError, match=r"element 4 reads t\[77\]"):
            op(x, table, **words)


def test_a_plan_by_one_column_of_keys_folds_other_keys():
    x = np.array([1, 2, 4, 8])
    plan = sf.plan(sf.standard.sum, x, by=np.array([2, 1, 2, 1]))
    assert plan(x, by=np.array([5, 5, 4, 5])).result.tolist() == [4, 11]


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("chunk, memory", [(700, "16K"), (7, 3000), (5000, "1G")])
def test_streams_fold_groups_in_the_order_of_their_elements(backend, chunk, memory):
    n = 3000
    ids, a, b = drawn(n, 40, "i4", has_none=True), rng.integers(1, 9, n), rng.integers(-9, 9, n)

    def parts_of(array):
        return (array[i : i + chunk] for i in range(0, n, chunk))

    wanted = AFFINE(a, b, groups=ids, num_groups=50, backend="reference")
    (parts,) = sf.stream(AFFINE, parts_of(a), parts_of(b), groups=parts_of(ids), num_groups=50, memory=memory, backend=backend)
    assert parts.a.tolist() == wanted.a.tolist() and parts.b.tolist() == wanted.b.tolist()
    keys = ids.astype("f4") * -0.5
    for sort in (True, False):
        wanted = AFFINE(a, b, by=keys, sort=sort, backend="reference")
        (parts,) = sf.stream(AFFINE, a, b, by=keys, sort=sort, memory=memory, backend=backend)
        assert parts.keys.tolist() == wanted.keys.tolist() and parts.b.tolist() == wanted.b.tolist()


def test_streams_of_groups_know_places_and_lengths():
    x, ids = rng.normal(size=900), drawn(900, 12, has_none=True)
    for op in (sf.standard.mean, sf.standard.argmax):
        wanted, (parts,) = op(x, groups=ids), sf.stream(op, x, groups=ids, memory=4000)
        for part, right in zip(parts, wanted) if isinstance(wanted, tuple) else [(parts, wanted)]:
            np.testing.assert_allclose(part, right, rtol=1e-12)


CENTRED = sf.operator(
    "operator centred(x: i64) -> (sum: i64, each rest: i64) { state s: i64 = 0 lift x combine(a, b) a + b "
    "finish { sum = s } map { rest = x * 1000 - sum + position } }"
)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("memory", [3000, "16K", "1G"])
def test_streams_give_outputs_of_groups(backend, memory):
    n = 2000
    ids, x = drawn(n, 40, "i2", has_none=True), rng.integers(-99, 99, n)
    keys = ids * -0.5
    for words in ({"groups": ids, "num_groups": 50}, {"by": keys}, {"by": keys, "sort": False}):
        wanted = CENTRED(x, **words)
        parts = list(sf.stream(CENTRED, x, **words, memory=memory, backend=backend))
        assert np.concatenate([part.rest for part in parts]).tolist() == wanted.rest.tolist()
        assert parts[-1].sum.tolist() == wanted.sum.tolist() and all(len(part.sum) == 0 for part in parts[:-1])
        for reverse in (False, True):
            op = AFFINE.scanned(exclusive=True, reverse=reverse)
            wanted = op(x, x, **words)
            parts = list(sf.stream(op, x, x, **words, memory=memory, backend=backend))[:: -1 if reverse else 1]
            for field in ("a", "b"):
                assert np.concatenate([getattr(part, field) for part in parts]).tolist() == getattr(wanted, field).tolist()
    running = sf.stream(AFFINE.scanned(), iter([x]), iter([x]), groups=iter([ids]), memory=memory, backend=backend)
    assert np.concatenate([part.a for part in running]).tolist() == AFFINE.scanned()(x, x, groups=ids).a.tolist()


def test_streams_without_groups_end_with_empty_results():
    x, none = np.ones(3), np.full(3, -1)
    assert [part.tolist() for part in sf.stream(sf.standard.sum, x, groups=none)] == [[]]
    ((keys, sums),) = sf.stream(sf.standard.sum, x[:0], by=none[:0])
    assert (keys.tolist(), sums.tolist()) == ([], [])


def test_the_length_of_a_table_is_no_number_of_elements():
    op = sf.operator("operator looked_up(w: i32, t: table i64) -> i64 { state s: i64 = 0 lift t[w] combine(a, b) a + b }")
    ids = [np.array([0, 1, 0])]
    (sums,) = sf.stream(op, [np.array([0, 1, 2], "i4")], t=np.arange(50), groups=ids, num_groups=2, memory="100G")
    assert sums.tolist() == [2, 1]


def test_wrong_groups_of_streams_are_refused():
    x, ids = np.ones(3), np.array([0, 5, 1])
    for words, message in [
        ({"groups": ids, "num_groups": 2}, "element 1 is 5, and there are 2 groups"),
        ({"groups": ids[:2]}, "'groups' has 2 elements, but column 'x' has 3"),
        ({"groups": x}, "the numbers of groups are f64; they are integers"),
        ({"num_groups": 2}, "there is no groups="),
        ({"groups": ids, "num_groups": -1}, "num_groups is -1"),
        ({"groups": ids, "sort": False}, "sort=False says how groups of by= are ordered"),
        ({"groups": ids, "by": ids}, "given twice"),
        ({"groups": ids, "reproducible": True}, "no plan of them is reproducible"),
        ({"by": np.ones((3, 2))}, "'by' are several columns"),
    ]:
        with pytest.raises(sf.InputError, match=message):
            list(sf.stream(sf.standard.sum, x, **words))
    least = sf.operator("operator least(x: f64) -> f64 { state m: f64 lift x combine(a, b) min(a, b) }")
    with pytest.raises(sf.InputError, match="segment 2 is empty"):
        list(sf.stream(least, x, groups=ids))
    assert [part.tolist() for part in sf.stream(least, x, groups=np.array([1, 0, 1]))] == [[1, 1]]
    with pytest.raises(sf.InputError, match="reads all twice, and column 'x' is read from its begin alone"):
        sf.stream(CENTRED, iter([np.arange(3)]), groups=ids)
    with pytest.raises(sf.InputError, match="groups in any order are read twice"):
        sf.stream(CENTRED, np.arange(3))


def test_a_plan_needs_the_number_of_groups():
    with pytest.raises(sf.InputError, match="a plan of groups needs their number"):
        sf.plan(sf.standard.sum, np.array([1, 2, 4]), groups=np.array([0, 1, 2]))


def test_kernels_take_groups_as_they_lie():
    """CUDA's text on the host: in calls and plans, with a check against sorted elements."""
    x, numbers = rng.integers(-9, 9, 300).astype("f4"), drawn(300, 40, "i4", has_none=True)
    wanted = sf.standard.sum(x, groups=numbers, num_groups=41)
    found = sf.standard.sum(x, groups=numbers, num_groups=41, backend="simt", check=True)
    plan = sf.plan(sf.standard.sum, x, groups=numbers, num_groups=41, backend="simt")
    assert plan.stage == "group_tables"
    assert np.array_equal(found, wanted) and np.array_equal(plan(x, groups=numbers, num_groups=41), wanted)
    with pytest.raises(sf.InputError, match="a plan of groups needs their number"):
        sf.plan(sf.standard.sum, x, groups=numbers, backend="simt")


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_arrays_of_a_gpu_are_sorted_by_their_library(library):
    """By the same functions; here on arrays of the host."""
    lib = pytest.importorskip(library)
    from segfold import _sorted

    numbers = drawn(50, 6, "i4", has_none=True)
    x = np.arange(50, dtype="f4")
    places, begins, ends, moved = _sorted.by_group(lib.asarray(numbers), 7, [lib.asarray(x)])
    for g, wanted in enumerate([*members(numbers, 6), []]):
        assert np.asarray(moved)[int(begins[g]) : int(ends[g])].tolist() == list(wanted)
    assert np.array_equal(np.asarray(places), np.argsort(numbers, kind="stable"))
    assert _sorted.count_groups(lib.asarray(numbers), None) == 6
    with pytest.raises(sf.InputError, match="and there are 2 groups: numbers are less than that"):
        _sorted.count_groups(lib.asarray(numbers), 2)
