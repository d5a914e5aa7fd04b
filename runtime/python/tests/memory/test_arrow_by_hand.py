"""Arrow's C data interface without a library of Arrow: what is read, what is refused, and that all is released."""

import gc
import subprocess
import sys

import numpy as np
import pytest

import segfold as sf
from arrow_by_hand import Lender, Part, StreamLender, bits

SUM, FIRST = sf.standard.sum, sf.standard.keep_first
X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
ENDS = np.array([0, 3, 5, 5, 9], np.int32)


def values(array, **more):
    return Part(len(array), None, array, **more)


def lists(ends, child, **more):
    return Part(len(ends) - 1, None, ends, child=child, **more)


def folded(lender, op=SUM, **words):
    """What is folded; all that was lent is given back."""
    found = op(lender, **words)
    gc.collect()
    assert lender.held == 0
    return found.tolist()


def said(lender, op=SUM, **words):
    with pytest.raises(sf.InputError) as caught:
        op(lender, **words)
    text = str(caught.value)
    del caught
    gc.collect()
    assert lender.held == 0
    return text


def test_values():
    assert folded(Lender([b"f"], values(X)), offsets=ENDS) == [8, 6, 0, 22]
    assert folded(Lender([b"f"], Part(6, None, X, offset=3)), uniform=3) == [15, 13]
    assert folded(Lender([b"f"], Part(9, bits([1] * 9), X, null_count=-1))) == [36]
    assert folded(StreamLender([b"f"], values(X), values(X[:0]), values(X[:2])), uniform=11) == [40]
    assert folded(StreamLender([b"f"]), uniform=3) == []
    for format, type in {b"c": "i1", b"C": "u1", b"s": "i2", b"S": "u2", b"i": "i4", b"I": "u4", b"l": "i8", b"L": "u8",
                         b"e": "f2", b"f": "f4", b"g": "f8"}.items():  # fmt: skip
        found = SUM(Lender([format], values(X.astype(type))), backend="reference")
        assert found.dtype == type and found.tolist() == [36]


@pytest.mark.parametrize("format, index", [(b"+l", np.int32), (b"+L", np.int64)])
def test_lists(format, index):
    ends = ENDS.astype(index)
    assert folded(Lender([format, b"f"], lists(ends, values(X)))) == [8, 6, 0, 22]
    part = Part(3, None, ends, child=values(X), offset=1)
    assert folded(Lender([format, b"f"], part)) == [6, 0, 22]
    part = Part(2, None, ends, child=Part(8, None, X, offset=1), offset=1)  # of values that are a slice as well
    part.child.buffers = (None, np.append(X[:1], X))
    assert folded(Lender([format, b"f"], part)) == [6, 0]
    hidden = Part(4, bits([1, 0, 0, 1]), ends, child=values(X), null_count=2)
    assert folded(Lender([format, b"f"], hidden)) == [8, 0, 0, 22]
    chunks = [lists(ends, values(X)), hidden, Part(2, None, ends, child=values(X), offset=2), lists(ends[:1], values(X[:0]))]
    assert folded(StreamLender([format, b"f"], *chunks)) == [8, 6, 0, 22, 8, 0, 0, 22, 0, 22]


@pytest.mark.parametrize("format, index", [(b"+vl", np.int32), (b"+vL", np.int64)])
def test_list_views(format, index):
    begins, sizes = np.array([5, 0, 7, 1], index), np.array([4, 2, 0, 3], index)
    assert folded(Lender([format, b"f"], Part(4, None, begins, sizes, child=values(X)))) == [22, 4, 0, 6]
    part = Part(3, bits([0, 0, 1, 1]), begins, sizes, child=values(X), offset=1, null_count=1)
    assert folded(Lender([format, b"f"], part)) == [0, 0, 6]
    chunks = [Part(1, None, begins, sizes, child=values(X)), Part(2, None, begins, sizes, child=values(X + 1), offset=0)]
    assert folded(StreamLender([format, b"f"], *chunks)) == [22, 26, 6]


def test_lists_of_one_length():
    nine = values(X)
    assert folded(Lender([b"+w:3", b"f"], Part(3, None, child=nine))) == [8, 15, 13]
    assert folded(Lender([b"+w:3", b"f"], Part(2, None, child=nine, offset=1))) == [15, 13]
    assert folded(Lender([b"+w:3", b"f"], Part(3, bits([1, 0, 1]), child=nine, null_count=1))) == [8, 0, 13]
    assert folded(StreamLender([b"+w:3", b"f"], Part(3, None, child=nine), Part(1, None, child=nine, offset=2))) == [8, 15, 13, 13]
    assert folded(Lender([b"+w:0", b"f"], Part(2, None, child=nine))) == [0, 0]
    empty = StreamLender([b"+w:3", b"f"])
    assert folded(empty) == []


def test_rows_are_lists_of_one_length():
    op = sf.operator("operator rows(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }")
    rows = Part(3, None, child=values(X))
    assert folded(Lender([b"+w:3", b"f"], rows), op) == [[6, 12, 18]]
    assert folded(Lender([b"+w:3", b"f"], Part(2, None, child=values(X), offset=1)), op, offsets=np.array([0, 1, 2])) == [[1, 5, 9], [2, 6, 5]]
    bags = Part(2, None, np.array([0, 2, 3], np.int32), child=rows)
    assert folded(Lender([b"+l", b"+w:3", b"f"], bags), op) == [[4, 6, 13], [2, 6, 5]]
    assert said(Lender([b"f"], values(X)), op) == ("'x' has shape (9,); an array of two dimensions is needed, a row of features for each entry")
    assert said(Lender([b"+l", b"f"], lists(ENDS, values(X))), op) == (
        "'x' holds lists of any lengths; a row of features for each entry is needed, in fixed-size lists")  # fmt: skip
    assert "'x' has 1 null in its rows" in said(Lender([b"+w:3", b"f"], Part(3, bits([1, 0, 1]), child=values(X), null_count=1)), op)


def test_order_is_kept():
    begins, sizes = np.array([5, 0, 2], np.int32), np.array([4, 2, 2], np.int32)
    assert folded(Lender([b"+vl", b"f"], Part(3, None, begins, sizes, child=values(X))), FIRST) == [9, 3, 4]


def test_places_are_those_of_the_flattened_lists():
    begins, sizes = np.array([5, 0], np.int32), np.array([4, 2], np.int32)
    found = sf.standard.argmax(Lender([b"+vl", b"f"], Part(2, None, begins, sizes, child=values(X))))
    assert found.index.tolist() == [0, 4] and found.value.tolist() == [9, 3]
    centred = sf.standard.centre(Lender([b"+l", b"f"], Part(2, None, ENDS, child=values(X), offset=1)))
    assert centred.tolist() == [-2, 2]


def test_values_are_read_where_they_lie():
    big = np.ones(1 << 22, np.float32)
    lender = Lender([b"+l", b"f"], lists(np.array([0, 1 << 22], np.int32), values(big)))
    big[7] = 3
    assert folded(lender) == [(1 << 22) + 2]


@pytest.mark.drawn
def test_nulls_among_elements_are_refused():
    text = said(Lender([b"f"], Part(9, bits([1, 1, 0, 1, 0, 1, 1, 1, 1]), X, null_count=2)))
    assert text == ("'x' has 2 nulls, and a fold knows no missing values; give pyarrow.array(x).fill_null(VALUE), where VALUE changes "
                    "no result, or pyarrow.array(x).drop_null()")  # fmt: skip
    child = Part(9, bits([1] * 8 + [0]), X, null_count=-1)
    assert "'x' has 1 null in its lists" in said(Lender([b"+l", b"f"], lists(ENDS, child)))
    assert folded(Lender([b"+l", b"f"], Part(3, None, ENDS, child=child))) == [8, 6, 0]  # which lies in none of the lists
    hidden = Part(4, bits([1, 1, 1, 0]), ENDS, child=child, null_count=1)
    assert folded(Lender([b"+l", b"f"], hidden)) == [8, 6, 0, 0]
    twenty = np.arange(20, dtype=np.int32)
    for null in range(20):
        flags = np.arange(20) != null
        for begin, count in ((0, 20), (3, 4), (3, 12), (7, 13), (8, 8)):
            part = Part(count, bits(flags), twenty, offset=begin, null_count=-1)
            if begin <= null < begin + count:
                assert "'x' has 1 null" in said(Lender([b"i"], part))
            else:
                assert folded(Lender([b"i"], part), backend="reference") == [twenty[begin : begin + count].sum()]


def test_columns_of_the_same_lists():
    dot = sf.standard.dot
    y = Lender([b"+vl", b"f"], Part(4, None, np.array([1, 4, 0, 6], np.int32), np.array([3, 2, 0, 4], np.int32), child=values(np.append(X, X))))
    found = dot(Lender([b"+l", b"f"], lists(ENDS, values(X))), y)
    wanted = [X[:3] @ X[1:4], X[3:5] @ X[4:6], 0, X[5:9] @ np.append(X, X)[6:10]]
    assert found.tolist() == wanted and y.held == 0
    other = Lender([b"+l", b"f"], lists(np.array([0, 3, 4, 5, 9], np.int32), values(X)))
    with pytest.raises(sf.InputError) as caught:
        dot(Lender([b"+l", b"f"], lists(ENDS, values(X))), other)
    assert str(caught.value) == "list 1 of 'y' has 1 element and that of 'x' 2; the columns of a call have the same lists"
    with pytest.raises(sf.InputError) as caught:
        dot(Lender([b"+w:3", b"f"], Part(3, None, child=values(X))), Lender([b"+w:3", b"f"], Part(2, None, child=values(X))))
    assert str(caught.value) == "'y' has 2 lists and 'x' 3; the columns of a call have the same lists"
    with pytest.raises(sf.InputError) as caught:
        dot(X, Lender([b"+l", b"f"], lists(ENDS, values(X))))
    assert str(caught.value) == (
        "'y' holds lists and 'x' does not; give lists for both, or both without them: "
        "pyarrow.compute.list_flatten(pyarrow.array(y)) with lengths=pyarrow.compute.list_value_length(pyarrow.array(y)).fill_null(0)")  # fmt: skip
    with pytest.raises(sf.InputError, match="'x' holds lists, which are its segments, and uniform= gives segments too"):
        SUM(Lender([b"+w:3", b"f"], Part(3, None, child=values(X))), uniform=3)
    with pytest.raises(sf.InputError, match="'offsets' holds lists, and numbers are needed"):
        SUM(X, offsets=Lender([b"+l", b"i"], lists(ENDS, values(ENDS))))
    gather = sf.operator("operator gather(i: i32, t: table f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b }")
    with pytest.raises(sf.InputError, match="'t' holds lists, and a table has none"):
        gather(ENDS, Lender([b"+l", b"f"], lists(ENDS, values(X))))


@pytest.mark.drawn
def test_plans_and_words_of_a_call():
    lender = Lender([b"+l", b"f"], lists(ENDS, values(X)))
    plan = sf.plan(SUM, lender)
    assert folded(lender, plan) == [8, 6, 0, 22]
    out = np.empty(6, np.float32)
    found = SUM(lender, out=out)
    assert found.tolist() == [8, 6, 0, 22] and np.shares_memory(found, out)
    assert said(Lender([b"f"], values(X)), lambda x: SUM(X, out=x)) == "'out' is read-only, and results are to be written there"
    assert sf.bench(SUM, lender, repeats=1, backend="cpu").num_segments == 4
    above = sf.operator("operator above(x: f32, t: scalar f32) -> i32 { state n: i32 = 0 lift x > t ? 1 : 0 combine(a, b) a + b }")
    assert above(lender, t=Lender([b"f"], values(X[2:3]))).tolist() == [0, 1, 0, 3]


def test_streams():
    lender = Lender([b"+l", b"f"], Part(3, None, ENDS, child=values(X), offset=1))
    assert np.concatenate(list(sf.stream(SUM, lender))).tolist() == [6, 0, 22]
    assert np.concatenate(list(sf.stream(SUM, Lender([b"+w:3", b"f"], Part(3, None, child=values(X)))))).tolist() == [8, 15, 13]
    assert np.concatenate(list(sf.stream(SUM, StreamLender([b"f"], values(X), values(X)), uniform=6))).tolist() == [23, 21, 28]
    with pytest.raises(sf.InputError, match="'x' holds lists, which are its segments, and uniform= gives segments too"):
        list(sf.stream(SUM, lender, uniform=3))
    with pytest.raises(sf.InputError, match="'x' gives an array of lists, none of which goes on in the next array; fold each array"):
        list(sf.stream(SUM, iter([lender])))
    gc.collect()
    assert lender.held == 0


def test_work_that_is_interrupted_or_fails_gives_all_back():
    broken = StreamLender([b"f"], values(X))
    broken.failure = b"the disk is gone"
    assert said(broken) == "'x' does not lend its memory: the disk is gone"
    lender = Lender([b"+l", b"f"], lists(np.array([0, 5, 3, 5, 9], np.int32), values(X)))
    assert said(lender) == "offsets decrease at segment 1: 3 after 5; offsets must be non-decreasing"


WRONG = {
    "2 lists of 3 have 5 elements": (b"+w:3", Part(2, None, child=values(X[:5]))),
    "a list lies from 0 to 12 of 9 elements": (b"+l", lists(np.array([0, 12], np.int32), values(X))),
    "a list lies from -1 to 2 of 9 elements": (b"+l", lists(np.array([-1, 2], np.int32), values(X))),
    "a list lies from 5 to 3 of 9 elements": (b"+l", Part(2, bits([1, 0]), np.array([5, 3, 9], np.int32), child=values(X), null_count=1)),
    "a list lies from 7 to 10 of 9 elements": (b"+vl", Part(1, None, np.array([7], np.int32), np.array([3], np.int32), child=values(X))),
    "a list lies from 3 to -1 of 9 elements": (b"+vL", Part(1, None, np.array([3]), np.array([2**63 - 1]), child=values(X))),
    "buffer 1 of 3 entries is missing": (b"+l", Part(3, None, None, child=values(X))),
    "buffer 2 of 1 entries is missing": (b"+vl", Part(1, None, ENDS, child=values(X))),
    "buffer 1 of 9 entries is missing": (b"+w:3", Part(3, None, child=Part(9, None, None))),
    "-3 entries lie behind 0 others": (b"+l", Part(-3, None, ENDS, child=values(X))),
    "3 entries lie behind -1 others": (b"+l", Part(3, None, ENDS, child=values(X), offset=-1)),
    "lists have 0 children": (b"+l", Part(3, None, ENDS)),
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_wrong_memory(words):
    format, part = WRONG[words]
    assert said(Lender([format, b"f"], part)) == f"'x' lends arrays of Arrow that are wrong: {words}"


class Odd:
    """What ``__arrow_c_array__`` may give that is nothing of Arrow's."""

    def __init__(self, given):
        self.given = given

    def __arrow_c_array__(self, requested_schema=None):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def test_what_is_nothing_of_arrows():
    for given, words in (
        (3, "gives 3 where two capsules of Arrow's C data interface belong"),
        ((1, 2, 3), r"gives \(1, 2, 3\) where two capsules"),
        ((None, 7), "gives None where a capsule 'arrow_schema' of Arrow's C data interface belongs"),
        (Lender([b"f"], values(X)).__arrow_c_array__()[::-1], "gives <capsule object .* where a capsule 'arrow_schema'"),
        (MemoryError("no room"), "does not lend its memory: MemoryError: no room"),
    ):
        with pytest.raises(sf.InputError, match=f"^'x' {words}"):
            SUM(Odd(given))
    twice = Odd(Lender([b"f"], values(X)).__arrow_c_array__())
    assert SUM(twice).tolist() == [36]
    with pytest.raises(sf.InputError, match="gives one that was taken before where a capsule 'arrow_schema'"):
        SUM(twice)


def test_nothing_of_arrow_is_imported():
    program = "import sys, numpy, segfold as sf; sf.standard.sum(numpy.ones(3)); print([m for m in ('pyarrow', 'polars', 'pandas', 'jax', 'torch') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"
