"""Folds of NumPy arrays: every layout, kinds of columns, results, options."""

import array
import itertools
import pickle
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.int32)
OFFSETS = np.array([0, 3, 5, 5, 9])


@pytest.fixture(params=["auto", "reference"])
def backend(request):
    return request.param


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64, np.int16])
def test_offsets_of_any_integer_type(dtype):
    np.testing.assert_array_equal(sf.standard.sum(X, offsets=OFFSETS.astype(dtype), backend="reference"), [8, 6, 0, 22])


def test_every_layout(backend):
    total = sf.standard.sum
    np.testing.assert_array_equal(total(X, backend=backend), [36])
    np.testing.assert_array_equal(total(X, uniform=3, backend=backend), [8, 15, 13])
    np.testing.assert_array_equal(total(X, offsets=OFFSETS, backend=backend), [8, 6, 0, 22])
    np.testing.assert_array_equal(total(X, lengths=np.array([3, 2, 0, 4]), backend=backend), [8, 6, 0, 22])
    np.testing.assert_array_equal(
        total(X, ranges=(np.array([5, 0, 2]), np.array([9, 2, 2])), backend=backend), [22, 4, 0]
    )
    np.testing.assert_array_equal(
        total(X, flags=np.array([1, 0, 0, 1, 0, 1, 0, 0, 0], bool), backend=backend), [8, 6, 22]
    )
    found = total(X, keys=np.array([7, 7, 7, -1, -1, 7, 7, 7, 7]), backend=backend)
    np.testing.assert_array_equal(found.keys, [7, -1, 7])
    np.testing.assert_array_equal(found.result, [8, 6, 22])


def test_order_is_kept():
    """An operator that does not commute, over borders of many lengths."""
    generator = np.random.default_rng(3)
    ends = np.sort(generator.integers(0, 4001, 200))
    offsets = np.concatenate([[0], ends, [4000]])
    scale, shift = (generator.integers(0, 2**32, 4000, dtype=np.uint32) for _ in range(2))
    found = sf.standard.affine(scale, shift, offsets=offsets)
    for segment, (begin, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        wanted_scale, wanted_shift = 1, 0
        for element in range(begin, end):
            wanted_scale, wanted_shift = (
                wanted_scale * int(scale[element]) % 2**32,
                (wanted_shift * int(scale[element]) + int(shift[element])) % 2**32,
            )
        assert (found.scale[segment], found.shift[segment]) == (wanted_scale, wanted_shift), segment


DTYPES = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_generic_operators_take_the_type_of_the_array(name):
    total = sf.standard.sum(np.array([1, 2, 3], DTYPES[name]), backend="reference")
    assert total.dtype == DTYPES[name]
    np.testing.assert_array_equal(total, [6])


def test_bool():
    np.testing.assert_array_equal(sf.standard.any(np.array([False, True, False, False]), uniform=2), [True, False])


SPMV = sf.operator(
    "operator spmv(value: f32, column: i32, x: table f32) -> f32 "
    "{ state sum: f32 = 0 lift value * x[column] combine(a, b) a + b laws commutative }"
)


def test_columns_and_tables_by_position_name_and_dictionary(backend):
    value = np.array([1, 2, 3, 4], np.float32)
    column = np.array([0, 2, 1, 2], np.int32)
    vector = np.array([10, 20, 30], np.float32)
    rows = np.array([0, 2, 2, 4])
    wanted = [70, 0, 180]
    np.testing.assert_array_equal(SPMV(value, column, vector, offsets=rows, backend=backend), wanted)
    np.testing.assert_array_equal(SPMV(value, x=vector, column=column, offsets=rows, backend=backend), wanted)
    frame = {"column": column, "value": value, "x": vector, "another": None}
    np.testing.assert_array_equal(SPMV(frame, offsets=rows, backend=backend), wanted)


def test_a_column_may_be_called_like_a_word():
    op = sf.operator("operator last(keys: i32) -> i32 { state last: i32 = 0 lift keys combine(a, b) b }")
    np.testing.assert_array_equal(op(X, offsets=OFFSETS, backend="reference"), [4, 5, 0, 5])
    assert op(X, keys=np.array([1] * 9), backend="reference").result[0] == 5


def test_results_are_named_and_pickle():
    found = sf.standard.argmax(X, offsets=OFFSETS, backend="reference")
    assert found._fields == ("value", "index")
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    np.testing.assert_array_equal(again.index, found.index)


def test_out():
    out = np.full(4, -1, np.int32)
    assert sf.standard.sum(X, offsets=OFFSETS, out=out, backend="reference") is out
    np.testing.assert_array_equal(out, [8, 6, 0, 22])
    values, places = np.empty(4, np.int32), np.empty(4, np.int64)
    found = sf.standard.argmax(X, offsets=OFFSETS, out=(values, places), backend="reference")
    assert found.value is values and found.index is places
    found = sf.standard.argmax(X, offsets=OFFSETS, out={"index": places, "value": values}, backend="reference")
    assert found.value is values and found.index is places


def test_out_with_room_to_spare_gives_a_part_of_it():
    keys, sums = np.zeros(9, np.int64), np.zeros(9, np.int32)
    found = sf.standard.sum(X, keys=np.array([1, 1, 2, 2, 2, 1, 1, 1, 1]), out=(keys, sums), backend="reference")
    np.testing.assert_array_equal(found.keys, [1, 2, 1])
    assert np.shares_memory(found.keys, keys) and np.shares_memory(found.result, sums)


def test_other_holders_of_memory():
    np.testing.assert_array_equal(sf.standard.sum(array.array("i", [1, 2, 3]), backend="reference"), [6])
    np.testing.assert_array_equal(sf.standard.sum(memoryview(X), backend="reference"), [36])
    np.testing.assert_array_equal(sf.standard.sum(bytes([1, 2, 3]), backend="reference"), [6])
    readonly = X.copy()
    readonly.flags.writeable = False
    np.testing.assert_array_equal(sf.standard.sum(readonly, backend="reference"), [36])


def test_arrays_of_the_caller_are_only_read(backend):
    heads = np.array([0, 0, 0, 1, 0, 1, 0, 0, 0], np.uint8)  # the first element begins a segment either way
    ways = [
        {}, {"uniform": 3}, {"offsets": OFFSETS}, {"lengths": np.array([3, 2, 0, 4])}, {"flags": heads}, {"flags": heads.view(bool)},
        {"flags": heads.astype(np.int32)}, {"keys": np.array([7, 7, 7, 2, 2, 7, 7, 7, 7])},
    ]  # fmt: skip
    for words in ways:
        before = X.copy(), {name: np.copy(value) for name, value in words.items()}
        found = sf.standard.sum(X, backend=backend, **words)
        sf.plan(sf.standard.sum, X, backend=backend, **words)(X, **words)
        np.testing.assert_array_equal(X, before[0])
        for name, value in words.items():
            np.testing.assert_array_equal(value, before[1][name], err_msg=name)
        if "flags" in words:
            np.testing.assert_array_equal(found, [8, 6, 22])


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


def test_dlpack():
    lender = Lender(X.copy())
    np.testing.assert_array_equal(sf.standard.sum(lender, offsets=Lender(OFFSETS.copy()), backend="reference"), [8, 6, 0, 22])
    assert lender.lent == 1


class VersionedLender(Lender):
    """As pyarrow's arrays, it warns where a capsule without a version is asked for; what it lends may not be written."""

    def __dlpack__(self, *, max_version=None, **words):
        if max_version is None:
            warnings.warn("Exporting an unversioned DLPack capsule", DeprecationWarning)
        return super().__dlpack__(max_version=max_version, **words)


class OldLender(Lender):
    """It knows nothing of versions."""

    def __dlpack__(self, stream=None):
        return super().__dlpack__()


def refuse_to_lend():
    raise BufferError("it is frozen")


@pytest.mark.filterwarnings("error")
def test_dlpack_with_versions_and_without():
    frozen = X.copy()
    frozen.flags.writeable = False
    for lender in VersionedLender(X.copy()), VersionedLender(frozen), OldLender(X.copy()):
        np.testing.assert_array_equal(sf.standard.sum(lender, offsets=OFFSETS, backend="reference"), [8, 6, 0, 22])
        assert lender.lent == 1
    with pytest.raises(sf.InputError, match="'x' does not lend its memory: BufferError: it is frozen"):
        sf.standard.sum(type("Frozen", (VersionedLender,), {"__dlpack__": lambda self, **words: refuse_to_lend()})(X))


def test_nothing_of_no_elements():
    nothing = np.empty(0, np.float32)
    assert sf.standard.sum(nothing, offsets=np.array([0])).shape == (0,)
    np.testing.assert_array_equal(sf.standard.sum(nothing, offsets=np.array([0, 0, 0])), [0, 0])
    np.testing.assert_array_equal(sf.standard.sum(nothing), [0])
    assert sf.standard.sum(nothing, keys=np.empty(0, np.int32), backend="reference").result.shape == (0,)


def test_the_stage_may_be_chosen():
    found = sf.standard.sum(X, offsets=OFFSETS, stage="thread_per_segment", backend="simt")
    np.testing.assert_array_equal(found, [8, 6, 0, 22])
    np.testing.assert_array_equal(sf.standard.sum(X, offsets=OFFSETS, reproducible=True), [8, 6, 0, 22])


def test_check():
    np.testing.assert_array_equal(sf.standard.sum(X, offsets=OFFSETS, check=True), [8, 6, 0, 22])


def test_a_claim_that_fails_is_a_warning_and_order_is_kept():
    op = sf.operator("operator first(x: i32) -> i32 { state v: i32 lift x combine(a, b) a laws commutative }")
    with pytest.warns(sf.FoldWarning, match="is not commutative"):
        np.testing.assert_array_equal(op(X, uniform=3, backend="simt"), [3, 1, 2])


def test_a_plan_knows_no_data_but_what_is_said_of_them():
    x = X.astype(np.float32)
    text = "operator most(x: f32) -> f32 { state m: f32 = IDENTITY lift x combine(a, b) max(a, b) }"
    far = sf.operator(text.replace("IDENTITY", "-1e30"))
    with pytest.warns(UserWarning, match="no values of the data's range were found to show it"):
        np.testing.assert_array_equal(far(x, uniform=3), x.reshape(-1, 3).max(1))
    for words in ({}, {"assume_finite": True}):
        with pytest.raises(sf.SpecError, match="assume='identity'; a fold asks its data whether they show it, and a plan knows none$"):
            sf.plan(far, x, uniform=3, backend="simt", **words)
    # Infinities alone show that this one is none: a plan does without it, unless there are none.
    least = sf.operator(text.replace("IDENTITY", "lowest(f32)"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(least(x, uniform=3), x.reshape(-1, 3).max(1))
    for backend in ("auto", "simt", "reference"):
        plan = sf.plan(least, x, uniform=3, backend=backend)
        y = np.full_like(x, -np.inf)
        np.testing.assert_array_equal(plan(y, uniform=3), [-np.inf] * 3)
        assert sf.plan(least, x, uniform=3, backend=backend, assume_finite=True).warnings == []
    most = sf.operator("operator most(x: f32) -> f32 { state m: f32 = -inf lift x combine(a, b) max(a, b) }")
    assert sf.plan(most, x, uniform=3, backend="simt", assume_finite=True).warnings == []


def test_plan():
    plan = sf.plan(sf.standard.sum, X, offsets=OFFSETS)
    for values in (X, X * 2):
        np.testing.assert_array_equal(plan(values, offsets=OFFSETS), np.array([8, 6, 0, 22]) * (values[0] // 3))
    out = np.empty(4, np.int32)
    assert plan(X, offsets=OFFSETS, out=out) is out
    np.testing.assert_array_equal(out, [8, 6, 0, 22])
    np.testing.assert_array_equal(plan.copy()(X, offsets=OFFSETS), [8, 6, 0, 22])
    plan.resize(X[:4], offsets=np.array([0, 4]))
    np.testing.assert_array_equal(plan(X[:4], offsets=np.array([0, 4])), [9])
    assert "plan" in plan.explain() and plan.operator == sf.standard.sum.typed("i32")
    assert plan.source == "" or plan.stage in plan.source


def test_a_plan_takes_the_fastest_of_three_stages_on_these_arrays():
    x, offsets = np.arange(5000, dtype="i8"), np.array([0, 10, 10, 4000, 5000])
    plan = sf.plan(sf.standard.max_subarray, x, offsets=offsets, backend="cpu", measure=3)
    assert ", measured here: " in plan.explain()["plan"]
    assert plan.stage in plan.explain()["plan"]
    assert plan(x, offsets=offsets).tolist() == sf.standard.max_subarray(x, offsets=offsets).tolist()
    asked = sf.plan(sf.standard.sum, x, offsets=offsets, backend="cpu", stage="lane_per_segment", measure=3)
    assert "asked for" in asked.explain()["plan"]
    with pytest.raises(sf.InputError, match="a plan measures 0 stages; it measures 1 or more"):
        sf.plan(sf.standard.sum, x, offsets=offsets, measure=0)
    with pytest.raises(TypeError, match="measure= takes how many stages are measured"):
        sf.plan(sf.standard.sum, x, offsets=offsets, measure="many")


def test_plans_by_keys_and_flags_measure_and_a_second_one_takes_the_record():
    x = np.arange(3000, dtype="i4")
    keys, flags = x // 7, (x % 11 == 0)
    for words in ({"keys": keys}, {"flags": flags}):
        plan = sf.plan(sf.standard.max_subarray, x, backend="cpu", measure=3, **words)
        assert plan.chosen_by == "measured here"
        again = sf.plan(sf.standard.max_subarray, x, backend="cpu", measure=3, **words)
        assert again.chosen_by == "spot record" and again.stage == plan.stage
        expected = sf.standard.max_subarray(x, backend="cpu", **words)
        for one, other in zip(np.atleast_2d(plan(x, **words)), np.atleast_2d(expected)):
            np.testing.assert_array_equal(one, other)


def test_what_a_stage_is_chosen_for():
    x = np.arange(3000, dtype="f4")
    for first in ("best", "fast"):
        assert sf.standard.sum(x, backend="cpu", uniform=30, first=first)[1] == sum(range(30, 60))
        assert sf.plan(sf.standard.sum, x, backend="cpu", uniform=30, first=first).stage
    with pytest.raises(sf.InputError, match="first= is 'best', for the least time of a run, or 'fast'.*'soon' is neither"):
        sf.standard.sum(x, first="soon")


def test_plan_of_keys():
    keys = np.array([7, 7, 7, -1, -1, 7, 7, 7, 7])
    plan = sf.plan(sf.standard.sum, X, keys=keys, backend="reference")
    found = plan(X, keys=keys)
    np.testing.assert_array_equal(found.keys, [7, -1, 7])
    np.testing.assert_array_equal(found.result, [8, 6, 22])
    plan.resize(X[:4], keys=keys[:4])
    np.testing.assert_array_equal(plan(X[:4], keys=keys[:4]).keys, [7, -1])
    with pytest.raises(sf.InputError, match="is for 4 elements in segments by keys of 8 bytes, and is given 9 elements in "):
        plan(X, keys=keys)


KEYS = np.array([7, 7, 7, -1, -1, 7, 7, 7, 7])
MARKED = {"keys": KEYS, "flags": np.array([0, 0, 0, 1, 0, 1, 0, 0, 0], bool), "ranges": (np.array([5, 0, 2]), np.array([9, 2, 2]))}


NUMBERS = itertools.count()


def called_first(name, *inputs, **words):
    """A standard operator that no other test has called, and what it folds X or `inputs` to; skips where no plan is kept."""
    if sf.automatic_backend() != "cpu":
        pytest.skip("plans of the back end cpu are looked at, which is not the automatic one here")
    text = getattr(sf.standard, name).typed("i32").text
    op = sf.operator(text.replace(f"operator {name}(", f"operator {name}_{next(NUMBERS)}("))
    found = op(*(inputs or [X]), **words)
    if op._cached_plans() == 0:
        pytest.skip("no C++ compiler is here")
    return op, found


@pytest.mark.parametrize("word", MARKED)
def test_plans_of_found_segments_and_of_ranges_are_kept(word):
    op, found = called_first("sum", **{word: MARKED[word]})
    sums = {"keys": [8, 6, 22], "flags": [8, 6, 22], "ranges": [22, 4, 0]}[word]
    for times in (1, 2, 3):
        again = op(X * times, **{word: MARKED[word]})
        if word == "keys":
            assert again.keys.tolist() == found.keys.tolist() == [7, -1, 7]
            again = again.result
        np.testing.assert_array_equal(again, np.array(sums) * times)
    assert op._cached_plans() == 1


def test_results_of_found_segments_lie_where_the_caller_says():
    op, found = called_first("argmax", keys=KEYS)
    assert found.keys.dtype == KEYS.dtype and found.index.tolist() == [2, 4, 5]
    out = [np.zeros(9, np.int64), np.zeros(3, np.int32), np.zeros(4, np.int64)]
    written = op(X, keys=KEYS, out=out)
    assert [array.tolist() for array in written] == [[7, -1, 7], [4, 5, 9], [2, 4, 5]]
    assert all(np.shares_memory(array, given) for array, given in zip(written, out))
    assert op._cached_plans() == 1
    for place, name, array in ((0, "keys", np.zeros(2, np.int64)), (1, "value", np.zeros(2, np.int32))):
        with pytest.raises(sf.InputError, match=f"the results of '{name}' are 3 segments, and the array for them has room for 2"):
            op(X, keys=KEYS, out=[*out[:place], array, *out[place + 1 :]])
    with pytest.raises(sf.InputError, match="the results of 'keys' are int64, and the array for them holds float64"):
        op(X, keys=KEYS, out=[np.zeros(9), *out[1:]])
    with pytest.raises(sf.InputError, match="there are 4 keys but 9 elements"):
        op(X, keys=KEYS[:4])


def test_results_for_elements_of_found_segments_and_ranges():
    x = np.array([1, 3, 5, 9, 2], np.float32)
    found = sf.standard.standardise(x, keys=np.array([0, 0, 4, 4, 4], np.uint8))
    assert found.keys.tolist() == [0, 4] and found.mean[0] == 2 and found.result[:2].tolist() == [-1, 1]
    begins, ends = np.array([3, 0]), np.array([5, 2])
    for _ in range(2):
        np.testing.assert_array_equal(sf.standard.centre(x, ranges=(begins, ends)), [-1, 1, 0, 3.5, -3.5])
        with pytest.raises(sf.InputError, match="share element 1"):
            sf.standard.centre(x, ranges=(np.array([1, 0]), ends))


def test_keys_of_an_operator_that_asks_its_data():
    """Segments that were found for a plan serve the fold that is called instead."""
    greatest = sf.operator("operator greatest(x: i32) -> i32 { state s: i32 = 0 lift x combine(a, b) max(a, b) laws commutative }")
    with pytest.warns(sf.FoldWarning, match="states an identity that is none"):
        greatest(X, keys=KEYS)
    for _ in range(2):
        found = greatest(X, keys=KEYS)  # which warns no more
        assert [found.keys.tolist(), found.result.tolist()] == [[7, -1, 7], [4, 5, 9]]
    with pytest.raises(sf.SpecError, match="states an identity that is none"):
        greatest(-X, keys=KEYS)


def test_a_kept_plan_reads_tables_of_any_length():
    value, column, offsets = np.ones(6, np.int32), np.array([0, 1, 2, 2, 1, 3], np.int32), np.array([0, 3, 3, 6])
    spmv, _ = called_first("spmv", value, column, np.arange(4, dtype=np.int32), offsets=offsets)
    for length in (4, 9):
        np.testing.assert_array_equal(spmv(value, column, np.arange(length, dtype=np.int32), offsets=offsets), [3, 0, 6])
    assert spmv._cached_plans() == 1
    with pytest.raises(sf.InputError, match="table 'x' has 3 entries; element 5 reads x\\[3\\], and indices run from 0 to 2"):
        spmv(value, column, np.arange(3, dtype=np.int32), offsets=offsets)


@pytest.mark.parametrize("lift", ["x", "x * t[0]"])
def test_a_table_that_lift_does_not_read(lift):
    """It is given to nobody: not to the kernel of the host either, which checks the reads of tables."""
    op = sf.operator(
        f"operator total(x: f32, t: table f32, u: table i32) -> f32 {{ state s: f32 = 0 lift {lift} combine(a, b) a + b }}"
    )
    x, u = np.ones(6, np.float32), np.ones(3, np.int32)
    for backend in ("cpu", "simt"):
        assert op(x, t=x, u=u, uniform=3, backend=backend).tolist() == [3, 3]
