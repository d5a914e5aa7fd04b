"""Streams: columns from iterators and files, against folds in one piece."""

import _thread
import gc
import pathlib
import threading
import time
import warnings

import numpy as np
import pytest

import segfold as sf

BACKEND = {"backend": "cpu"}
N = 60000


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(3).integers(-1000, 1000, N).astype(np.int32)


def pieces(array, step=777):
    return (array[at : at + step] for at in range(0, len(array), step))


def joined(parts, field=None):
    return np.concatenate([part if field is None else getattr(part, field) for part in parts])


LENGTHS = np.random.default_rng(4).integers(1, 60, N)
LENGTHS = LENGTHS[: int(np.searchsorted(np.cumsum(LENGTHS), N))]
LENGTHS = np.append(LENGTHS, N - LENGTHS.sum())
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
FLAGS = np.zeros(N, np.uint8)
FLAGS[OFFSETS[:-1]] = 1
KEYS = np.repeat(np.arange(len(LENGTHS)) % 3, LENGTHS)
SEGMENTS = {"uniform": 20, "offsets": OFFSETS, "lengths": LENGTHS, "flags": FLAGS, "keys": KEYS}


@pytest.mark.parametrize("word", SEGMENTS)
@pytest.mark.parametrize("kind", ["iterator", "array", "file"])
def test_parts_are_those_of_one_fold(x, word, kind, tmp_path):
    segments = SEGMENTS[word]
    right = sf.standard.keep_first(x, **{word: segments}, **BACKEND)
    if word == "keys":
        right = right.result
    column, marks = x, segments
    if kind == "iterator":
        column = pieces(x)
        marks = pieces(segments, 501) if word in ("flags", "keys") else segments
    if kind == "file":
        column = tmp_path / "x.npy"
        np.save(column, x)
        if word != "uniform":
            marks = tmp_path / "marks.npy"
            np.save(marks, segments)
    parts = list(sf.stream(sf.standard.keep_first, column, **{word: marks}, num_elements=N, memory="200K", **BACKEND))
    assert len(parts) > 2
    assert (joined(parts, "result" if word == "keys" else None) == right).all()


def test_one_segment_of_a_length_that_nobody_knows(x):
    (total,) = joined(sf.stream(sf.standard.sum, pieces(x), memory="64K", **BACKEND))
    assert total == x.sum(dtype=np.int32)
    assert list(sf.stream(sf.operator("sum_f32"), iter(()), **BACKEND))[0].tolist() == [0.0]


def test_several_columns_tables_and_results(x):
    text = """operator weigh(value: i32, place: i32, weights: table i32, by: scalar i32) -> (sum: i64, last: i32) {
        state { sum: i64; last: i32 }
        lift { sum = i64(value) * i64(weights[place]) * i64(by); last = value }
        combine(a, b) { sum = a.sum + b.sum; last = b.last }
    }"""
    op = sf.operator(text)
    place = np.arange(N, dtype=np.int32) % 5
    weights = np.array([1, -2, 3, -4, 5], np.int32)
    right = op(x, place, weights, 3, uniform=100, **BACKEND)
    words = {"uniform": 100, "num_elements": N, "memory": 50000, **BACKEND}
    apart = list(sf.stream(op, pieces(x), pieces(place, 1000), weights, 3, **words))
    for field in ("sum", "last"):
        assert (joined(apart, field) == getattr(right, field)).all()
    pair = sf.operator(
        """operator pair(a: i32, b: i32) -> (first: i32, last: i32) {
            state { first: i32; last: i32 } lift { first = a; last = b } combine(a, b) { first = a.first; last = b.last }
        }"""
    )
    together = list(sf.stream(pair, ((x[i : i + 100], place[i : i + 100]) for i in range(0, N, 100)), **words))
    assert (joined(together, "first") == x[::100]).all()
    assert (joined(together, "last") == place[99::100]).all()


def test_parameters_may_be_given_by_name_and_in_a_dictionary(x):
    y = np.arange(N, dtype=np.int32)
    words = {"uniform": 100, "num_elements": N, "memory": "100K", **BACKEND}
    right = sf.standard.dot(x, y, uniform=100, **BACKEND)
    assert (joined(sf.stream(sf.standard.dot, x=pieces(x), y=pieces(y, 1000), **words)) == right).all()
    assert (joined(sf.stream(sf.standard.dot, pieces(x), y=y, **words)) == right).all()
    assert (joined(sf.stream(sf.standard.dot, dict(y=pieces(y), x=x), **words)) == right).all()
    assert (joined(sf.stream(sf.standard.dot, dict(x=x), y=pieces(y), **words)) == right).all()
    above = sf.standard.count_above(x, threshold=500, uniform=100, **BACKEND)
    assert (joined(sf.stream(sf.standard.count_above, pieces(x), threshold=500, **words)) == above).all()
    op = sf.operator("""operator weigh(value: i32, place: i32, weights: table i32, factor: scalar i32) -> i64 {
        state sum: i64 = 0  lift i64(value) * i64(weights[place]) * i64(factor)  combine(a, b) a + b }""")
    place, weights = y % 5, np.array([1, -2, 3, -4, 5], np.int32)
    together = ((x[i : i + 100], place[i : i + 100]) for i in range(0, N, 100))
    found = joined(sf.stream(op, together, weights=weights, factor=3, **words))
    assert (found == op(x, place, weights, 3, uniform=100, **BACKEND)).all()


@pytest.mark.parametrize("word", ["offsets", "lengths"])
@pytest.mark.parametrize("kind", ["array", "unsigned", "file"])
def test_offsets_and_lengths_say_how_many_elements_iterables_give(x, word, kind, tmp_path):
    marks = SEGMENTS[word].astype(np.uint64) if kind == "unsigned" else SEGMENTS[word]
    right = sf.standard.sum(x, **{word: marks}, **BACKEND)
    if kind == "file":
        np.save(tmp_path / "marks.npy", marks)
        marks = tmp_path / "marks.npy"
    assert (joined(sf.stream(sf.standard.sum, pieces(x), **{word: marks}, memory="200K", **BACKEND)) == right).all()
    with pytest.raises(sf.InputError, match="were announced"):
        list(sf.stream(sf.standard.sum, pieces(x[:-1]), **{word: marks}, **BACKEND))
    none = np.zeros(1 if word == "offsets" else 0, np.int64)
    assert list(sf.stream(sf.standard.sum, [x[:0]], **{word: none}, **BACKEND)) == []


@pytest.mark.parametrize(
    "words, message",
    [
        ({"offsets": np.array([0.0, N])}, "holds f64; offsets and lengths must be integers"),
        ({"offsets": np.array([], int)}, "has no offsets; S segments need S + 1, so at least one"),
        ({"offsets": np.array([0, -N])}, "segment 0"),
        ({"lengths": np.array([N + 1, -1])}, "segment 0 ends at 60001, but there are 60000 elements"),
        ({"lengths": np.ones((2, 2), int)}, "'lengths' has shape (2, 2)"),
        ({"lengths": "no/such.npy"}, "no/such.npy: cannot be opened"),
        ({"offsets": "archive.npz"}, "archive.npz"),
        ({"offsets": "empty.npy"}, "empty.npy"),
        ({"offsets": "damaged.npy"}, "damaged.npy"),
    ],
)
def test_offsets_and_lengths_that_say_nothing_are_refused(x, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("archive.npz", offsets=np.array([0, N]))
    pathlib.Path("empty.npy").touch()
    pathlib.Path("damaged.npy").write_bytes(b"PK and nothing that an archive has")
    with pytest.raises(sf.InputError) as caught:
        list(sf.stream(sf.standard.sum, pieces(x), **words, **BACKEND))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x: sf.stream(sf.standard.count_above, [x]), sf.InputError,
         "operator count_above has no number for 'threshold'; it takes count_above(x: T, threshold: scalar T)"),
        (lambda x: sf.stream(sf.standard.dot, dict(x=x, z=x)), sf.InputError,
         "operator dot has no array for 'y', and nothing is called 'z'; it takes dot(x: T, y: T)"),
        (lambda x: sf.stream(sf.standard.dot, x, y=x, z=x), TypeError, "dot(x: T, y: T): nothing is called 'z'"),
        (lambda x: sf.stream(sf.standard.sum, x, memry="1G"), TypeError, "sum(x: T): nothing is called 'memry'; did you mean 'memory'?"),
        (lambda x: sf.stream(sf.standard.sum, x, ranges=(x, x)), TypeError,
         "stream() takes no ranges=, which is of a call of the operator; its words are offsets, lengths, flags, keys, groups, "
         "by, uniform, num_groups, sort, num_elements, memory, backend, device, stage, reproducible, assume"),
        (lambda x: sf.stream(sf.standard.sum, x, x=x), TypeError, "sum: 'x' is given twice"),
        (lambda x: sf.stream(sf.standard.sum, dict(x=x), x=x), TypeError, "sum: 'x' is given twice"),
        (lambda x: sf.stream(sf.standard.sum, x, x), sf.InputError,
         "operator sum takes sum(x: T), and 2 are given"),
        (lambda x: sf.stream(sf.standard.sum, x, lengths=(part for part in [LENGTHS])), sf.InputError,
         "'lengths' is a builtins.generator; a stream must know how many lengths there are: give one array, as numpy.concatenate makes "
         "of several, or the path of an .npy file"),
        (lambda x: sf.stream(sf.standard.sum, x, offsets=[OFFSETS]), sf.InputError,
         "'offsets' is a builtins.list; a stream must know how many offsets there are: give one array, as numpy.concatenate makes "
         "of several, or the path of an .npy file"),
        (lambda x: sf.stream(sf.standard.sum, [x], uniform=10), sf.InputError,
         "segments given by uniform need to know how many elements there are, and iterables do not say it; give num_elements="),
    ],
)  # fmt: skip
def test_what_is_given_wrongly_is_said(x, call, kind, message):
    with pytest.raises(kind) as caught:
        call(x)
    assert type(caught.value) is kind and str(caught.value) == message


def test_bits_are_the_same_for_any_bound(x):
    values = (x / 7).astype(np.float32)
    words = {"offsets": np.array([0, 3, 50000, N]), "reproducible": True, "backend": "simt"}
    sums = [joined(sf.stream(sf.standard.sum, values, memory=memory, **words)) for memory in (400000, 4 << 20)]
    assert sums[0].tobytes() == sums[1].tobytes()


def test_what_an_iterator_raises_comes_out():
    def fails():
        yield np.zeros(10, np.float32)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(sf.stream(sf.standard.sum, fails(), **BACKEND))


def test_a_stream_may_be_left():
    made = []

    def endless():
        while True:
            made.append(1)
            yield np.ones(1000, np.float32)

    before = threading.active_count()
    parts = sf.stream(sf.standard.sum, endless(), flags=(np.arange(1000) % 10 == 0 for _ in iter(int, 1)), memory="64K", **BACKEND)
    assert (next(parts) == 10).all()
    del parts
    gc.collect()
    count = len(made)
    assert threading.active_count() <= before + 1
    assert len(made) == count


@pytest.mark.parametrize(
    "words, message",
    [
        ({"uniform": 7}, "multiple of"),
        ({"uniform": 10, "flags": FLAGS}, "give them once"),
        ({"offsets": OFFSETS[:-1]}, "segments end at"),
        ({"memory": "much"}, "a text such as '512M' or '1.5G'"),
        ({"memory": "1.G"}, "a text such as '512M' or '1.5G'"),
        ({"memory": 3}, "a bound of 3 bytes leaves no room for a slice: .* give 8 bytes or more"),
        ({"memory": 0}, "a bound of 0 bytes leaves no room for a slice: .* give 8 bytes or more"),
        ({"memory": -1}, "a bound of -1 bytes leaves no room for a slice: .* give 8 bytes or more"),
        ({"memory": -(1 << 80)}, "leaves no room for a slice: .* give 8 bytes or more"),
        ({"uniform": 10, "num_elements": N + 10}, f"the generator of column 'x' has made {N} elements, and {N + 10} were announced"),
        ({"uniform": 0}, "the uniform length is 0; it must be at least 1"),
        ({"num_elements": -1}, "num_elements is -1; it is 0 or more"),
    ],
)
def test_what_is_wrong_is_said(x, words, message):
    column = pieces(x)
    with pytest.raises(sf.InputError, match=message):
        list(sf.stream(sf.standard.sum, column, **{"num_elements": N, **words}, **BACKEND))


@pytest.mark.parametrize(
    "words, message",
    [
        ({"memory": 1e9}, "memory= takes a number of bytes, an integer, or a text such as '512M', and 1000000000.0 is given"),
        ({"uniform": 2.5}, "uniform= takes the length of each segment, an integer, and 2.5 is given"),
        ({"num_elements": 2.5}, "num_elements= takes how many elements iterables give, an integer, and 2.5 is given"),
    ],
)
def test_sizes_are_integers(x, words, message):
    with pytest.raises(TypeError) as caught:
        sf.stream(sf.standard.sum, x, **words, **BACKEND)
    assert str(caught.value) == message


def test_memory_may_be_a_fraction(x):
    sizes = {memory: [len(part) for part in sf.stream(sf.standard.sum, x, uniform=1, memory=memory, **BACKEND)]
             for memory in ("1.5K", "1.5 KiB", 1536, "0.5M", 1 << 19)}  # fmt: skip
    assert sizes["1.5K"] == sizes["1.5 KiB"] == sizes[1536] != sizes["0.5M"] == sizes[1 << 19]


def test_a_bound_may_be_more_than_there_is(x):
    assert list(sf.stream(sf.standard.sum, x, memory=1 << 80, **BACKEND))[0] == x.sum(dtype=np.int32)


def test_arrays_of_an_iterator_are_of_one_type():
    with pytest.raises(sf.InputError, match="all are of one type"):
        list(sf.stream(sf.standard.sum, [np.zeros(3, np.float32), np.zeros(3)], **BACKEND))
    with pytest.raises(sf.InputError, match="its type is not known"):
        sf.stream(sf.standard.sum, [], **BACKEND)


def ones(count):
    return np.ones(count, np.float32)


def always(array):
    while True:
        yield array


@pytest.mark.parametrize(
    "name, columns, words, message",
    [
        ("dot", lambda: ([ones(9)] * 2, [ones(9)]), {}, "column 'y' has 9 elements, but column 'x' has 18; they must agree"),
        ("dot", lambda: ([ones(9)], [ones(9)] * 2), {}, "column 'y' has more than 9 elements, but column 'x' has 9; they must agree"),
        ("dot", lambda: ([(ones(9), ones(9)), (ones(9), ones(3))],), {},
         "column 'y' has 12 elements, but column 'x' has 18; they must agree"),
        ("dot", lambda: (ones(9), [ones(9)] * 2), {}, "column 'y' has more than 9 elements, but column 'x' has 9; they must agree"),
        ("dot", lambda: ([ones(3)], ones(9)), {}, "column 'x' has 3 elements, but column 'y' has 9; they must agree"),
        ("dot", lambda: ([ones(9)], always(ones(9))), {},
         "column 'y' has more than 9 elements, but column 'x' has 9; they must agree"),
        ("dot", lambda: (always(ones(9)), [ones(9)]), {"memory": 400},
         "column 'y' has 9 elements, but column 'x' has at least 25; they must agree"),
        ("sum", lambda: ([ones(9)] * 2,), {"keys": [np.arange(9) // 4]},
         "column 'x' has more than 9 elements, but there are 9 keys; give one for each element"),
        ("sum", lambda: ([ones(9)],), {"keys": [np.arange(18)]},
         "column 'x' has 9 elements, but there are 18 keys; give one for each element"),
        ("sum", lambda: ([ones(9)] * 2,), {"flags": [np.zeros(9, bool)]},
         "column 'x' has more than 9 elements, but there are 9 flags; give one for each element"),
        ("sum", lambda: ([ones(4)],), {"flags": np.zeros(9, bool)},
         "column 'x' has 4 elements, but there are 9 flags; give one for each element"),
        ("sum", lambda: (ones(9),), {"keys": [np.arange(5)]}, "there are 5 keys but 9 elements; give one for each"),
        ("sum", lambda: (ones(9),), {"keys": [np.arange(12)]}, "there are more than 9 keys but 9 elements; give one for each"),
        ("sum", lambda: (ones(9),), {"flags": lambda: always(np.zeros(9, bool))},
         "there are more than 9 flags but 9 elements; give one for each"),
        ("sum", lambda: ([ones(9)] * 2,), {"uniform": 3, "num_elements": 15},
         "column 'x' has more than 15 elements, and 15 were announced"),
        ("sum", lambda: ([ones(9)] * 2,), {"uniform": 3, "num_elements": 0},
         "column 'x' has more than 0 elements, and 0 were announced"),
    ],
)  # fmt: skip
def test_columns_and_marks_end_together(name, columns, words, message):
    words = {word: value() if callable(value) else value for word, value in words.items()}
    with pytest.raises(sf.InputError) as caught:
        list(sf.stream(getattr(sf.standard, name), *columns(), **words, **BACKEND))
    assert str(caught.value) == message


@pytest.mark.parametrize("memory", [400, 1000, "1G"])
def test_pieces_may_be_cut_anywhere(memory):
    words = {"memory": memory, **BACKEND}
    assert list(sf.stream(sf.standard.dot, [ones(9)] * 3, [ones(20), ones(7)], **words))[0] == 27
    assert joined(sf.stream(sf.standard.sum, [ones(9)] * 2, keys=[np.arange(18) // 4], **words), "result").sum() == 18


def test_an_interrupt_waits_for_one_item_and_no_more():
    asked = []

    def days():
        for day in range(2000):
            asked.append(day)
            time.sleep(0.005)
            yield np.ones(1000, np.float32)

    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        list(sf.stream(sf.standard.sum, days(), **BACKEND))
    assert 0 < len(asked) < 1000


def test_an_interrupt_does_not_wait_for_an_iterable_that_takes_long():
    from segfold import _stream

    asked, may_go_on = [], threading.Event()
    _stream._sweep()

    def slow():
        yield np.ones(1000, np.float32)
        asked.append(1)
        may_go_on.wait(60)
        yield np.ones(1000, np.float32)
        asked.append(2)

    def interrupt():
        while not asked:
            time.sleep(0.01)
        _thread.interrupt_main()

    threading.Thread(target=interrupt, daemon=True).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(sf.stream(sf.standard.sum, slow(), memory="64K", **BACKEND))
    assert time.monotonic() - begin < 30 and len(_stream._left) == 1
    may_go_on.set()
    deadline = time.monotonic() + 30
    while _stream._left and time.monotonic() < deadline:
        time.sleep(0.01)
        list(sf.stream(sf.standard.sum, ones(3), **BACKEND))
    assert not _stream._left and asked == [1], "what was left is asked for nothing more"


def test_an_interrupted_stream_of_a_quick_iterable_leaves_nothing():
    from segfold import _stream

    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        list(sf.stream(sf.standard.sum, (time.sleep(0.002) or ones(1000) for _ in range(5000)), **BACKEND))
    ends = time.monotonic() + 10  # a slow machine may still fold what it was given
    while _stream._left and time.monotonic() < ends:
        time.sleep(0.01)
        _stream._sweep()
    assert not _stream._left


def test_a_stream_may_be_closed_by_its_iterable_and_by_several_threads():
    def endless():
        while True:
            time.sleep(0.001)
            yield np.ones(1000, np.float32)

    parts = sf.stream(sf.standard.sum, endless(), num_elements=10**9, uniform=100, memory="64K", **BACKEND)
    next(parts)
    from segfold._stream import _open

    works = list(_open)
    closing = [threading.Thread(target=work.close) for work in works for _ in range(3)]
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join(10)
    assert not any(thread.is_alive() for thread in closing)

    def closing_itself():
        for day in range(100):
            if day == 50:
                for work in list(_open):
                    work.close()
            yield np.ones(1000, np.float32)

    assert sum(map(len, sf.stream(sf.standard.sum, closing_itself(), num_elements=100000, uniform=100, memory="64K", **BACKEND))) < 1000


@pytest.mark.parametrize("words", [{}, {"assume": "identity"}])
@pytest.mark.parametrize("name", ["norm", "affine", "softmax_mean"])
def test_operators_whose_identity_is_neutral_on_finite_values_alone_are_streamed_without_a_warning(name, words):
    op = getattr(sf.standard, name).typed("f32")
    column = np.arange(8, dtype=np.float32)
    columns = [column] * len(op.parameters)
    expected = op(*columns, uniform=2, **BACKEND)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = list(sf.stream(op, *columns, uniform=2, **words, **BACKEND))
    for field in range(len(op.results)):
        of = (lambda result: result[field]) if len(op.results) > 1 else (lambda result: result)
        np.testing.assert_array_equal(np.concatenate([of(part) for part in parts]), of(expected))


def test_a_stream_relies_on_laws_that_are_assumed(x):
    subtract = sf.expression("a - b", "i32")
    with pytest.raises(sf.InputError, match="not associative, so that segments which slices cut would have other results"):
        sf.stream(subtract, x, **BACKEND)
    with pytest.warns(sf.FoldWarning, match="relied on because of assume='associative'"):
        assert len(list(sf.stream(subtract, x, uniform=1, assume="associative", **BACKEND))) > 0
    with pytest.raises(sf.InputError, match="assume= names laws, and 'associativ' is none"):
        sf.stream(subtract, x, assume=["associativ"], **BACKEND)
    with pytest.raises(TypeError, match="assume= takes the name of a law, or names of laws, and 3 is given"):
        sf.stream(subtract, x, assume=3, **BACKEND)
