"""Arrays and lists of PyArrow, polars and pandas: what is folded, and that the ways out that messages say work."""

import datetime
import re

import numpy as np
import pytest

import segfold as sf

pa = pytest.importorskip("pyarrow", reason="no pyarrow is here")
pytest.importorskip("pyarrow.compute", reason="no pyarrow is here")
SUM = sf.standard.sum
LISTS = [[3.0, 1.0, 4.0], None, [1.0, 5.0], [], [9.0, 2.0, 6.0, 5.0]]
SUMS = [8, 0, 6, 0, 22]
KINDS = [kind(pa.float32()) for kind in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view)]


def test_values():
    x = pa.array([3, 1, 4, 1, 5, 9], pa.int32())
    assert SUM(x).tolist() == [23] and SUM(x.slice(2, 3)).tolist() == [10]
    offsets = pa.array([7, 0, 3, 6]).slice(1)
    chunks = pa.chunked_array([x.slice(0, 2), x.slice(2, 0), x.slice(2)])
    for marks in (offsets, pa.chunked_array([[0], [3, 6]])):
        assert SUM(x.to_numpy(), offsets=marks).tolist() == [8, 15]
    for column in (x, chunks):
        assert SUM(column, offsets=offsets.to_numpy()).tolist() == [8, 15]
        assert SUM(column, uniform=2).tolist() == [4, 5, 14]
        assert SUM(column, keys=pa.array([1, 1, 1, 2, 2, 2])).keys.tolist() == [1, 2]
    assert SUM(pa.chunked_array([], pa.int32())).tolist() == [0]
    assert SUM(pa.array([], pa.int32()), offsets=np.array([0, 0])).tolist() == [0]
    assert SUM(pa.array([1, None, 3], pa.int32()).slice(2)).tolist() == [3]
    assert type(SUM(x)) is np.ndarray


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_lists(kind):
    x = pa.array(LISTS, kind)
    assert SUM(x).tolist() == SUMS
    for begin in range(6):
        for length in range(6 - begin):
            assert SUM(x.slice(begin, length)).tolist() == SUMS[begin : begin + length], (begin, length)
    chunks = pa.chunked_array([x.slice(1), x, x.slice(2, 2), x.slice(0, 0)])
    assert SUM(chunks).tolist() == SUMS[1:] + SUMS + SUMS[2:4]
    assert SUM(chunks.slice(2, 5)).tolist() == (SUMS[1:] + SUMS)[2:7]
    assert SUM(pa.chunked_array([], kind)).tolist() == [] and SUM(pa.array([[], []], kind)).tolist() == [0, 0]
    assert np.isnan(sf.standard.mean(x)[[1, 3]]).all() and sf.standard.mean(x)[0] == pytest.approx(8 / 3)
    plan = sf.plan(SUM, x)
    assert plan(x).tolist() == SUMS
    np.testing.assert_array_equal(np.concatenate(list(sf.stream(SUM, x))), SUMS)
    np.testing.assert_array_equal(np.concatenate(list(sf.stream(SUM, chunks))), SUM(chunks))
    assert sf.standard.dot(x, x).tolist() == [26, 0, 26, 0, 146]


def test_values_behind_null_lists():
    for array, offsets in ((pa.ListArray, pa.int32()), (pa.LargeListArray, pa.int64())):
        x = array.from_arrays(pa.array([0, 2, 4, 5], offsets), pa.array([1.0, 2, 30, 40, 5]), mask=pa.array([False, True, False]))
        assert SUM(x).tolist() == [3, 0, 5] and SUM(pa.chunked_array([x, x])).tolist() == [3, 0, 5, 3, 0, 5]
    views = pa.ListViewArray.from_arrays(pa.array([3, 0, 0], pa.int32()), pa.array([2, 3, 2], pa.int32()), pa.array([1.0, 2, 30, 40, 5]))
    assert SUM(views).tolist() == [45, 33, 3]
    assert sf.standard.argmax(views).index.tolist() == [0, 4, 6]  # of pyarrow.compute.list_flatten(views)


def test_lists_of_one_length():
    x = pa.array([[3, 1], [4, 1], None, [5, 9]], pa.list_(pa.int32(), 2))
    assert SUM(x).tolist() == [4, 5, 0, 14] and SUM(x.slice(1, 2)).tolist() == [5, 0] and SUM(x.slice(3)).tolist() == [14]
    assert SUM(pa.chunked_array([x.slice(0, 2), x.slice(3)])).tolist() == [4, 5, 14]
    assert SUM(pa.array([], pa.list_(pa.int32(), 2))).tolist() == []
    rows = sf.operator("operator rows(x: row i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }")
    assert rows(x.slice(0, 2)).tolist() == [[7, 2]]
    assert rows(pa.chunked_array([x.slice(0, 2), x.slice(3)]), offsets=np.array([0, 1, 3])).tolist() == [[3, 1], [9, 10]]
    nested = pa.array([[[1, 2], [3, 4]], [], [[5, 6]]], pa.list_(pa.list_(pa.int32(), 2)))
    assert rows(nested).tolist() == [[4, 6], [0, 0], [5, 6]]


@pytest.mark.drawn
def test_memory_is_given_back():
    before = pa.total_allocated_bytes()
    x = pa.array(np.ones(1 << 20, np.float32))
    lists = pa.ListArray.from_arrays(pa.array(np.arange(0, (1 << 20) + 1, 16, dtype=np.int32)), x)
    for _ in range(20):
        assert SUM(lists)[5] == 16 and SUM(pa.chunked_array([lists, lists.slice(3)])).sum() == (2 << 20) - 48
        with pytest.raises(sf.InputError):
            SUM(lists, uniform=3)
    del x, lists
    assert pa.total_allocated_bytes() <= before


WAYS = r"give (.*?)(?:, where VALUE changes no result)?(?:, or .*?)?(?:, where true is 1)?(?:; that leaves out null rows)?(?:,? with lengths=(.*))?$"


def follow(op, x, **names):
    """What is folded of what the refusal of `x` says to give instead."""
    with pytest.raises(sf.InputError) as caught:
        op(x)
    text = str(caught.value)
    recipe, lengths = re.search(WAYS, text).groups()
    recipe = recipe.removesuffix(", the inner lists").removesuffix(", a column").replace("VALUE", "0")
    names = {"x": x, "pyarrow": pa, **names}
    recipe, _, given = recipe.partition(" of m = ")
    if given:
        names["m"] = eval(given, names)
    print(text)
    return op(eval(recipe, names), **({"lengths": eval(lengths, names)} if lengths else {}))


def also_chunked(*arrays):
    return [*arrays, *(pa.chunked_array([array.slice(0, 1), array.slice(1)]) for array in arrays)]


def test_ways_out_of_nulls():
    for x in also_chunked(pa.array([3, None, 4], pa.int32())):
        assert follow(SUM, x).tolist() == [7]
    for kind in (*KINDS, pa.list_(pa.float32(), 3)):
        lists = [[1, None, 2], None, [4, 5, None], None]
        for x in also_chunked(pa.array(lists, kind), pa.array(lists, kind).slice(1)):
            assert follow(SUM, x).tolist() == [3, 0, 9, 0][4 - len(x) :]
    rows = sf.operator("operator rows(x: row i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }")
    for x in also_chunked(pa.array([[3, 1], [4, None], None, [5, 9]], pa.list_(pa.int32(), 2))):
        assert follow(rows, x).tolist() == [[12, 10]]


def times(kind):
    return {
        "date32": [datetime.date(1970, 1, 4), datetime.date(1970, 1, 2)], "time32": [datetime.time(0, 0, 3), datetime.time(0, 0, 1)],
        "time64": [datetime.time(0, 0, 0, 3), datetime.time(0, 0, 0, 1)], "duration": [datetime.timedelta(microseconds=3), datetime.timedelta(microseconds=1)],
        "timestamp": [datetime.datetime(1970, 1, 1, 0, 0, 0, 3), datetime.datetime(1970, 1, 1, 0, 0, 0, 1)],
    }[kind]  # fmt: skip


TIMES = {"date32": pa.date32(), "time32": pa.time32("s"), "time64": pa.time64("us"), "duration": pa.duration("us"), "timestamp": pa.timestamp("us", "UTC")}


@pytest.mark.parametrize("kind", TIMES)
def test_ways_out_of_times(kind):
    for x in also_chunked(pa.array(times(kind), TIMES[kind])):
        assert follow(SUM, x).tolist() == [4]
    for x in also_chunked(pa.array([times(kind), None, times(kind)[:1]], pa.list_(TIMES[kind]))):
        assert follow(SUM, x).tolist() == [4, 0, 3]


def test_ways_out_of_other_types():
    count = sf.operator("operator count(x: i32) -> i32 { state n: i32 = 0 lift x combine(a, b) a + b }")
    words, codes = ["b", "a", "b"], [0, 1, 0]
    any_of = sf.operator("operator any_of(x: bool) -> bool { state s: bool = false lift x combine(a, b) a || b }")
    for x in also_chunked(pa.array([True, False, True])):
        assert follow(any_of, x).tolist() == [True]
        assert count(x.cast("int32")).tolist() == [2]  # the other way that is said
    for x in also_chunked(pa.array([[True, False], None, [True]])):
        assert follow(any_of, x).tolist() == [True, False, True]
    for x in also_chunked(pa.array(words), pa.array(words, pa.string_view()), pa.array(words, pa.large_binary()), pa.array(words).dictionary_encode()):
        assert follow(count, x).tolist() == [sum(codes)]
    for x in also_chunked(pa.array([words, None, words[1:]])):
        assert follow(count, x).tolist() == [1, 0, 1]
    import decimal

    for x in also_chunked(pa.array([decimal.Decimal("1.5"), decimal.Decimal("2")])):
        assert follow(SUM, x).tolist() == [3.5]
    nested = pa.array([[[1, 2], [3]], None, [[4], []]])
    for x in also_chunked(nested):
        assert follow(SUM, x).tolist() == [3, 3, 4, 0]
    structs = pa.array([{"a": 1, "b": 2.0}, {"a": 3, "b": 4.0}])
    for x in also_chunked(structs):
        assert follow(SUM, x, NAME="a").tolist() == [4]
    for x in also_chunked(pa.array([[{"a": 1}, {"a": 2}], None, [{"a": 3}]])):
        assert follow(SUM, x, NAME="a").tolist() == [3, 0, 3]
    table = pa.table({"a": [1, 2]})
    for x in (table, table.to_batches()[0]):
        assert follow(SUM, x, NAME="a").tolist() == [3]
    maps = pa.array([[("a", 1.0), ("b", 2.0)], None, [("c", 3.0)]], pa.map_(pa.string(), pa.float32()))
    for x in also_chunked(maps, maps.slice(1)):
        assert follow(SUM, x).tolist() == [3, 3][3 - len(x) :]
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([5, 7]))
    assert follow(SUM, runs).tolist() == [17]
    with pytest.raises(sf.InputError, match="'x' holds elements of Arrow's type null; segfold folds 8 to 64 bit integers"):
        SUM(pa.nulls(3))


def test_polars():
    pl = pytest.importorskip("polars", reason="no polars is here")
    names = {"polars": pl}
    x = pl.Series([3, 1, 4, 1, 5, 9])
    assert SUM(x.to_numpy(), offsets=pl.Series([0, 3, 6])).tolist() == [8, 15] and SUM(pl.concat([x, x], rechunk=False)).tolist() == [46]
    assert SUM(x, keys=pl.Series(["b", "a", "a", "b", "b", "b"]).cast(pl.Categorical).to_physical()).result.tolist() == [3, 5, 15]
    lists = pl.Series(LISTS)
    assert SUM(lists).tolist() == SUMS and SUM(lists[1:4]).tolist() == SUMS[1:4] and SUM(pl.concat([lists, lists[2:]], rechunk=False)).tolist() == SUMS + SUMS[2:]
    frame = pl.DataFrame({"l": [[1.0, 2.0], [3.0], [4.0, 5.0]], "m": [True, False, True]})
    assert SUM(frame.select(pl.when("m").then("l"))["l"]).tolist() == [3, 0, 9]
    arrays = pl.Series([[1, 2], None, [3, 4]], dtype=pl.Array(pl.Int32, 2))
    assert SUM(arrays).tolist() == [3, 0, 7]
    rows = sf.operator("operator rows(x: row i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }")
    assert rows(arrays.drop_nulls()).tolist() == [[4, 6]]
    assert follow(rows, arrays, **names).tolist() == [[4, 6]]
    assert follow(SUM, pl.Series([1, None, 3]), **names).tolist() == [4]
    assert follow(SUM, pl.Series([[1, None], None, [3]]), **names).tolist() == [1, 0, 3]
    assert follow(SUM, pl.Series([[1, None], None, [3, 4]], dtype=pl.Array(pl.Int32, 2)), **names).tolist() == [1, 0, 7]
    assert SUM(pl.Series([[1, None], None, [3]]).list.drop_nulls()).tolist() == [1, 0, 3]  # the other way that is said
    for kind in ("date32", "time64", "duration", "timestamp"):
        unit = {"date32": 1, "time64": 1000, "duration": 1, "timestamp": 1}[kind]  # polars counts times of the day in nanoseconds
        assert follow(SUM, pl.Series(times(kind)), **names).tolist() == [4 * unit]
        assert follow(SUM, pl.Series([times(kind), None]), **names).tolist() == [4 * unit, 0]
    any_of = sf.operator("operator any_of(x: bool) -> bool { state s: bool = false lift x combine(a, b) a || b }")
    assert follow(any_of, pl.Series([True, False]), **names).tolist() == [True]
    assert follow(SUM, pl.Series([[True, False], None]), **names).tolist() == [1, 0]
    assert follow(SUM, pl.Series(["b", "a", "b"]), **names).shape == (1,)
    assert follow(SUM, pl.Series([["b", "a"], None]), **names).shape == (2,)
    assert follow(SUM, pl.Series([[[1, 2], [3]], [], None, [[4]]]), **names).tolist() == [3, 3, 4]
    assert follow(SUM, pl.DataFrame({"a": [1, 2]}), NAME="a", **names).tolist() == [3]
    assert follow(SUM, pl.DataFrame({"a": [1, 2]}).to_struct(), NAME="a", **names).tolist() == [3]
    np.testing.assert_array_equal(np.concatenate(list(sf.stream(SUM, pl.concat([x, x], rechunk=False), uniform=4))), [9, 18, 19])
    np.testing.assert_array_equal(np.concatenate(list(sf.stream(SUM, lists))), SUMS)


def test_pandas():
    pd = pytest.importorskip("pandas", reason="no pandas is here")
    if not hasattr(pd.Series, "__arrow_c_stream__"):
        pytest.skip(f"pandas {pd.__version__} lends no Series as Arrow's arrays")
    lists = pd.Series(LISTS, dtype=pd.ArrowDtype(pa.list_(pa.float64())))
    assert SUM(lists).tolist() == SUMS and SUM(lists[2:]).tolist() == SUMS[2:]
    assert SUM(pd.Series([1, 2], dtype="int64[pyarrow]")).tolist() == [3]
    assert follow(SUM, pd.Series([1, None, 2], dtype="int64[pyarrow]")).tolist() == [3]
    assert follow(SUM, pd.Series([[1, None], None], dtype=pd.ArrowDtype(pa.list_(pa.int64())))).tolist() == [1, 0]
    for x in (pd.Series([1.0, np.nan]), pd.Series([1, 2])):  # NaN is a value of NumPy's
        with pytest.raises(sf.InputError, match="'x' is a pandas.*: give x.to_numpy\\(\\)|'x' has missing values"):
            SUM(x)
    with pytest.raises(sf.InputError, match=r"give x\[NAME\].to_numpy\(\), a column"):
        SUM(pd.DataFrame({"a": [1]}))


def test_streams_of_chunks():
    numbers = np.arange(1000, dtype=np.int32)
    x = pa.chunked_array([numbers[:300], numbers[300:301], numbers[301:]])
    found = np.concatenate(list(sf.stream(SUM, x, uniform=10, memory="64K")))
    np.testing.assert_array_equal(found, numbers.reshape(-1, 10).sum(1))
    found = np.concatenate(list(sf.stream(SUM, x, offsets=np.array([0, 10, 1000]))))
    assert found.tolist() == [45, numbers[10:].sum()]
    found = list(sf.stream(SUM, x, keys=pa.chunked_array([numbers[:500] // 100, numbers[500:] // 100])))
    assert np.concatenate([part.keys for part in found]).tolist() == list(range(10))


def test_offsets_of_lists_apart_from_them():
    x = pa.ListArray.from_arrays(pa.array([0, 2, 4, 5], pa.int32()), pa.array([1.0, 2, 30, 40, 5]), mask=pa.array([False, True, False]))
    ends = pa.array([2, 4, 5], pa.int32())
    for call in (lambda **words: SUM(x.values, **words), lambda **words: sf.plan(SUM, x.values, **words),
                 lambda **words: sf.stream(SUM, x.values, **words)):  # fmt: skip
        with pytest.raises(sf.InputError) as caught:
            call(offsets=x.offsets)
        assert str(caught.value) == (
            "offsets= are Arrow's, and so are the elements; those of a list array count what null lists hide: give the lists "
            "themselves, as in sf.standard.sum(lists). Other offsets are given as NumPy's: offsets.to_numpy()")  # fmt: skip
    with pytest.raises(sf.InputError, match="ranges= are Arrow's"):
        SUM(x.values, ranges=(x.offsets.slice(0, 3), ends))
    assert SUM(x).tolist() == [3, 0, 5]


def test_with_plain_columns_and_other_words():
    x = pa.array(LISTS)
    with pytest.raises(sf.InputError) as caught:
        sf.standard.dot(x, np.ones(9))
    assert str(caught.value) == (
        "'x' holds lists and 'y' does not; give lists for both, or both without them: "
        "pyarrow.compute.list_flatten(x) with lengths=pyarrow.compute.list_value_length(x).fill_null(0)")  # fmt: skip
    flat, lengths = pa.compute.list_flatten(x), pa.compute.list_value_length(x).fill_null(0)
    assert sf.standard.dot(flat, np.ones(9), lengths=lengths).tolist() == SUMS
    with pytest.raises(sf.InputError) as caught:
        SUM(x, offsets=np.array([0, 9]))
    assert str(caught.value) == (
        "'x' holds lists, which are its segments, and offsets= gives segments too; leave that out, or give the elements alone, "
        "pyarrow.compute.list_flatten(x)")  # fmt: skip
    assert sf.standard.softmax(x).shape == (9,)
    assert SUM(x, check=True).tolist() == SUMS and SUM(x, backend="reference").tolist() == SUMS
