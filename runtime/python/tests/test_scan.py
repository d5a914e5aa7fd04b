"""Running results: the part `scan`, and scans of operators without it, beside plain loops."""

import itertools
import pickle
import re

import numpy as np
import pytest

import segfold as sf

BACKENDS = ["reference"]
N = 17
OFFSETS = np.array([0, 0, 3, 4, 4, 12, 17])
SEGMENTS = {
    "whole": ({}, [(0, N)]),
    "offsets": ({"offsets": OFFSETS}, list(zip(OFFSETS[:-1], OFFSETS[1:]))),
    "lengths": ({"lengths": np.diff(OFFSETS)}, list(zip(OFFSETS[:-1], OFFSETS[1:]))),
    "ranges": ({"ranges": (np.array([9, 1, 5]), np.array([16, 4, 5]))}, [(9, 16), (1, 4), (5, 5)]),
    "keys": ({"keys": np.repeat([5, 2, 5], [4, 6, 7])}, [(0, 4), (4, 10), (10, 17)]),
    "flags": ({"flags": np.array([1, 0, 0, 1] + [0] * 13, np.uint8)}, [(0, 3), (3, 17)]),
}
X, Y = (np.random.default_rng(7).integers(0, 2**32, N, dtype=np.uint32) for _ in range(2))


def composed(begin, end):
    """The composition of the affine maps of some elements, earlier ones first."""
    scale, shift = 1, 0
    for i in range(begin, end):
        scale, shift = int(X[i]) * scale % 2**32, (int(X[i]) * shift + int(Y[i])) % 2**32
    return scale, shift


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", SEGMENTS)
@pytest.mark.parametrize("exclusive, reverse", itertools.product((False, True), repeat=2))
def test_order_of_the_data(backend, layout, exclusive, reverse):
    words, pairs = SEGMENTS[layout]
    scale, shift = np.zeros(N, np.uint32), np.zeros(N, np.uint32)
    for begin, end in pairs:
        for i in range(begin, end):
            first, last = (i + exclusive, end) if reverse else (begin, i + 1 - exclusive)
            scale[i], shift[i] = composed(first, last)
    found = sf.standard.affine.scan(X, Y, exclusive=exclusive, reverse=reverse, backend=backend, **words)
    assert [len(array) for array in found[-2:]] == [N, N]
    np.testing.assert_array_equal(found[-2], scale)
    np.testing.assert_array_equal(found[-1], shift)


def test_sum_and_mean_scan_alike():
    x = np.array([1, 2, 3, 4, 5], np.float32)
    words = {"offsets": np.array([0, 3, 5]), "backend": "reference"}
    assert sf.standard.sum.scan(x, **words).tolist() == [1, 3, 6, 4, 9]
    assert sf.standard.sum.scan(x, exclusive=True, **words).tolist() == [0, 1, 3, 0, 4]
    assert sf.standard.sum.scan(x, reverse=True, **words).tolist() == [6, 5, 3, 9, 5]
    assert sf.standard.mean.scan(x, **words).tolist() == [1, 1.5, 2, 4, 4.5]
    out = np.zeros(5, np.float32)
    sf.standard.sum.scan(x, out=out, **words)
    assert out.tolist() == [1, 3, 6, 4, 9]
    assert sf.standard.sum.scan(x, check=True, **words).tolist() == [1, 3, 6, 4, 9]


def test_a_scanned_operator_is_an_operator():
    scanned = sf.standard.sum.scanned(exclusive=True)
    x = np.arange(6, dtype=np.int16)
    assert scanned(x, uniform=3, backend="reference").tolist() == [0, 0, 1, 0, 3, 7]
    assert scanned.typed("i16").outputs == ("result",)
    assert "scan(before, through) before" in scanned.typed("i16").text
    assert scanned == sf.standard.sum.scanned(exclusive=True) != sf.standard.sum.scanned()
    for op in (scanned, scanned.typed("f32")):
        assert pickle.loads(pickle.dumps(op)) == op


STREAK = """
operator streak(delay: f32) -> each i32 {
  state { flights: i32 = 0; trailing: i32 = 0 }
  lift { flights = 1; trailing = i32(delay > 15.0) }
  combine(a, b) {
    flights = a.flights + b.flights;
    trailing = b.trailing == b.flights ? a.trailing + b.flights : b.trailing
  }
  SCAN through.trailing
}"""


def streak_class(reverse):
    class streak:
        delay: sf.f32

        class state:
            flights: sf.i32 = 0
            trailing: sf.i32 = 0

        results = sf.each(sf.i32)

        def lift(delay):
            return dict(flights=1, trailing=sf.i32(delay > 15.0))

        def combine(a, b):
            return dict(flights=a.flights + b.flights,
                        trailing=sf.where(b.trailing == b.flights, a.trailing + b.flights, b.trailing))

    def of_both(before, through):
        return through.trailing

    setattr(streak, "reverse_scan" if reverse else "scan", of_both)
    return sf.operator(streak)


@pytest.mark.parametrize("reverse", [False, True])
def test_classes_say_what_texts_say(reverse):
    text = STREAK.replace("SCAN", "scan reverse(before, through)" if reverse else "scan(before, through)")
    assert streak_class(reverse) == sf.operator(text)


def test_late_flights_in_a_row():
    delay = np.array([20, 30, 1, 16, 40, 50, 2, 99], np.float32)
    op = streak_class(False)
    assert op(delay, lengths=np.array([5, 0, 3]), backend="reference").tolist() == [1, 2, 0, 1, 2, 1, 0, 1]
    assert op.scan(delay, lengths=np.array([5, 0, 3]), backend="reference").tolist() == [1, 2, 0, 1, 2, 1, 0, 1]
    assert op.scan(delay, reverse=True, lengths=np.array([5, 0, 3]), backend="reference").tolist() == [2, 2, 2, 2, 1, 1, 1, 1]
    plan = sf.plan(op, delay, lengths=np.array([5, 0, 3]), backend="reference")
    assert plan(delay, lengths=np.array([5, 0, 3])).tolist() == [1, 2, 0, 1, 2, 1, 0, 1]


def test_scan_beside_map_and_results():
    @sf.operator
    class told:
        x: sf.i64
        t: sf.table(sf.i64)

        class state:
            total: sf.i64 = 0

        results = dict(total=sf.i64, rest=sf.each(sf.i64), running=sf.each(sf.i64))

        def lift(x):
            return x

        def combine(a, b):
            return a + b

        def map(x, total):
            return dict(rest=total - x)

        def scan(earlier, so_far, t):
            return dict(running=earlier * 100 + so_far + t[sf.segment()] * sf.position())

    found = told(np.array([1, 2, 3, 4, 5]), np.array([10, 0, 20]), lengths=np.array([2, 0, 3]), backend="reference")
    assert found.total.tolist() == [3, 0, 12]
    assert found.rest.tolist() == [2, 1, 9, 8, 7]
    assert found.running.tolist() == [1, 113, 3, 327, 752]
    assert "scan(earlier, so_far)" in told.text


def test_functions_scan():
    def total(a: sf.i32, b: sf.i32):
        return a + b

    op = sf.operator(total, identity=0, scan=lambda before, through: through * 2 + before)
    assert op(np.array([1, 2, 3], np.int32), backend="reference").tolist() == [2, 7, 15]


def test_rows_are_scanned_feature_by_feature():
    op = sf.operator("operator sum(x: row i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }")
    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    found = op.scan(x, offsets=np.array([0, 3, 4]), backend="reference")
    np.testing.assert_array_equal(found, np.concatenate([np.cumsum(x[:3], 0), x[3:]]))


@pytest.mark.parametrize("words", [{}, dict(exclusive=True), dict(reverse=True)])
def test_kernels_scan_rows(words):
    op = sf.operator("operator sum(x: row i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }")
    x = np.arange(240, dtype=np.int32).reshape(60, 4)
    offsets = np.array([0, 0, 37, 60])
    found = op.scan(x, offsets=offsets, backend="simt", **words)
    np.testing.assert_array_equal(found, op.scan(x, offsets=offsets, backend="reference", **words))
    plan = sf.plan(op.scanned(**words), x, offsets=offsets, backend="simt")
    assert plan.stage == "running_rows"
    np.testing.assert_array_equal(plan(x, offsets=offsets), found)


@pytest.mark.parametrize("memory", [300, "64K"])
def test_streams_go_on(memory):
    x = np.arange(1, 1001, dtype=np.int64)
    words = dict(memory=memory, backend="reference")
    wanted = np.concatenate([np.cumsum(x[:333]), np.cumsum(x[333:])])
    parts = list(sf.stream(sf.standard.sum.scanned(), iter(np.array_split(x, 7)), offsets=np.array([0, 333, 333, 1000]), **words))
    np.testing.assert_array_equal(np.concatenate(parts), wanted)
    assert (len(parts) > 10) == (memory == 300)
    keys = (x > 333).astype(np.int32)
    parts = list(sf.stream(sf.standard.sum.scanned(exclusive=True), x, keys=keys, **words))
    np.testing.assert_array_equal(np.concatenate(parts), wanted - x)


def test_streams_from_the_end():
    x = np.arange(1, 1001, dtype=np.int64)
    op = sf.standard.sum.scanned(reverse=True)
    parts = list(sf.stream(op, x, offsets=np.array([0, 333, 333, 1000]), memory=300, backend="reference"))
    assert len(parts) > 10
    wanted = np.concatenate([np.cumsum(x[:333][::-1])[::-1], np.cumsum(x[333:][::-1])[::-1]])
    np.testing.assert_array_equal(np.concatenate(parts[::-1]), wanted)


def test_streams_of_both_kinds_of_results():
    op = sf.operator("operator both(x: i64) -> (total: i64, each running: i64) { state s: i64 = 0 lift x combine(a, b) a + b "
                     "scan(before, through) through }")  # fmt: skip
    x = np.arange(20, dtype=np.int64)
    parts = list(sf.stream(op, x, keys=x // 8, memory=500, backend="reference"))
    assert [name for name in parts[0]._fields] == ["keys", "total", "running"]
    whole = op(x, keys=x // 8, backend="reference")
    for name in ("keys", "total", "running"):
        np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name))


@pytest.mark.parametrize("call, message", [
    (lambda x: sf.standard.softmax.scan(x), "operator softmax has a map, which needs the results of whole segments"),
    (lambda x: sf.standard.keep_first.scan(x, exclusive=True), "operator keep_first has no identity, so that an exclusive scan"),
    (lambda x: streak_class(False).scan(x, exclusive=True), "operator streak has a scan of its own"),
    (lambda x: sf.standard.sum.scan(x, ranges=(np.array([0, 1]), np.array([2, 3])), backend="reference"), "overlap"),
    (lambda x: list(sf.stream(sf.standard.sum.scanned(reverse=True), iter([x]), num_elements=4, uniform=2, memory="64K", backend="reference")),
     "operator sum scans segments from their end, and column 'x' is read from its begin alone"),
])  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(sf.InputError, match=re.escape(message)):
        call(np.arange(4, dtype=np.float32))


def test_wrong_parts_are_told():
    def of(**parts):
        made = {"__annotations__": {"x": sf.i32}, "state": type("state", (), {"__annotations__": {"t": sf.i32}, "t": 0}),
                "results": sf.each(sf.i32), "lift": lambda x: x, "combine": lambda a, b: a + b, **parts}  # fmt: skip
        return sf.operator(type("wrong", (), made))

    with pytest.raises(sf.SpecError, match=r"scan of operator wrong takes 1 argument; it takes the states before and with an element"):
        of(scan=lambda through: through)
    with pytest.raises(sf.SpecError, match=r"operator wrong has both scan and reverse_scan"):
        of(scan=lambda a, b: b, reverse_scan=lambda a, b: b)
    with pytest.raises(sf.SpecError, match=r"scan of operator wrong takes 'y', which is no column"):
        of(scan=lambda a, b, y: b)


def test_help_names_its_words():
    assert "exclusive=True" in sf.standard.sum.scan.__doc__ and "running sum" in sf.standard.sum.scan.__doc__


@pytest.mark.parametrize("word", ["exclusive", "reverse"])
@pytest.mark.parametrize("value", [1, 0, "yes", np.True_], ids=str)
def test_forms_are_true_or_false(word, value):
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(TypeError, match=re.escape(f"{word}= takes True or False, and {value!r} is given")):
        sf.standard.sum.scan(x, backend="reference", **{word: value})
    found = sf.standard.sum.scan(x, backend="reference", **{word: None})
    assert found.tolist() == [0, 1, 3, 6]


def test_columns_called_as_words():
    op = sf.operator("operator sum(exclusive: f32) -> f32 { state s: f32 = 0 lift exclusive combine(a, b) a + b }")
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(TypeError, match="exclusive= is a word of scan, and operator sum has a parameter 'exclusive', which stands by"):
        op.scan(exclusive=x, backend="reference")
    assert op.scan(x, exclusive=True, backend="reference").tolist() == [0, 0, 1, 3]
    assert op.scan({"exclusive": x}, backend="reference").tolist() == [0, 1, 3, 6]
