"""Arrays of fields in Python's form: the operators that the text form makes, and what is refused."""

import dataclasses
import re
import typing

import numpy as np
import pytest

import segfold as sf


def line_of(error):
    return int(re.search(r"test_arrays\.py:(\d+): ", str(error.value)).group(1))


def same(op, text):
    """Whether an operator is that of a text, but for its description."""
    assert op.text.partition("operator ")[2] == sf.operator(text).text.partition("operator ")[2]


def test_an_array_is_its_fields():
    @sf.operator
    class counts:
        x: sf.i32

        class state:
            seen: sf.i32[3] = 0

        def lift(x):
            return [sf.where(x == k, 1, 0) for k in range(3)]

        def combine(a, b):
            return dict(seen=[p + q for p, q in zip(a.seen, b.seen)])

        laws = "commutative"

    same(counts, "operator counts(x: i32) -> (seen: i32[3]) { state seen: i32[3] = 0 lift { for k in 0..3 { seen[k] = x == k ? 1 : 0 } } "
                 "combine(a, b) { for k in 0..3 { seen[k] = a.seen[k] + b.seen[k] } } laws commutative }")  # fmt: skip
    found = counts(np.array([0, 2, 2, 1, 5, 2], np.int32), offsets=np.array([0, 3, 6]))
    assert found._fields == ("seen_0", "seen_1", "seen_2")
    assert [part.tolist() for part in found.seen] == [[1, 0], [0, 1], [2, 1]]


def test_identities_computed_indices_and_slices():
    @sf.operator
    class follow:
        x: sf.i32

        class state:
            next: sf.i32[4] = [0, 1, 2, 3]
            runs: sf.i64 = 0

        def lift(x):
            return dict(next=[(x + k) & 3 for k in range(4)], runs=1)

        def combine(a, b):
            return dict(a, next=[b.next[k] for k in a.next], runs=a.runs + b.runs)

        def finish(s):
            first, *_ = s.next[1:]
            return dict(first=first, last=s.next[-1], number=len(s.next))

        results = dict(first=sf.i32, last=sf.i32, number=sf.i32)

    same(follow, "operator follow(x: i32) -> (first: i32, last: i32, number: i32) { state { next: i32[4] = [0, 1, 2, 3]; runs: i64 = 0 } "
                 "lift { for k in 0..4 { next[k] = x + k & 3 } runs = 1 } "
                 "combine(a, b) { for k in 0..4 { next[k] = b.next[a.next[k]] } runs = a.runs + b.runs } "
                 "finish { first = next[1]; last = next[3]; number = 4 } }".replace("x + 0", "x"))  # fmt: skip
    x = np.array([1, 2, 3, 1, 1], np.int32)
    place = lambda k: [k := (value + k) % 4 for value in x][-1]  # noqa: E731
    assert [part[0] for part in follow(x)] == [place(1), place(3), 4]


def test_results_append_and_map():
    @sf.operator
    class tops:
        """The two greatest, and what each element lacks of the second."""

        x: sf.f32

        class state:
            top: sf.f32[2] = -sf.inf

        def lift(x):
            return [x, -sf.inf]

        def combine(a, b):
            return [sf.maximum(a.top[0], b.top[0]), sf.maximum(sf.minimum(a.top[0], b.top[0]), sf.maximum(a.top[1], b.top[1]))]

        def append(a, x):
            return dict(top=(sf.maximum(a.top[0], x), sf.maximum(sf.minimum(a.top[0], x), a.top[1])))

        def finish(s):
            return dict(top=s.top)

        def map(x, top):
            return dict(lacks=top[1] - x)

        results = dict(top=sf.f32[2], lacks=sf.each(sf.f32))
        laws = "commutative"

    x = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    found = tops(x, uniform=4)
    assert found.top_0.tolist() == [4, 9] and found.top_1.tolist() == [3, 6]
    np.testing.assert_array_equal(found.lacks, np.repeat([3, 6], 4) - x)
    assert tops.results == (("top_0", "f32"), ("top_1", "f32"), ("lacks", "f32"))


def test_states_of_other_kinds_and_results_that_are_not_declared():
    @dataclasses.dataclass
    class Held:
        ends: sf.i32[2] = (sf.highest(sf.i32), sf.lowest(sf.i32))

    class Tuple(typing.NamedTuple):
        ends: sf.i32[2] = (sf.highest(sf.i32), sf.lowest(sf.i32))

    def lift(x):
        return [x, x]

    def combine(a, b):
        return [sf.minimum(a.ends[0], b.ends[0]), sf.maximum(a.ends[1], b.ends[1])]

    def finish(s):
        return dict(ends=list(s.ends), width=s.ends[1] - s.ends[0])

    for state in Held, Tuple:
        made = sf.operator(type("ends", (), dict(__annotations__=dict(x=sf.i32), state=state, lift=lift, combine=combine, finish=finish)))
        assert made.results == (("ends_0", "i32"), ("ends_1", "i32"), ("width", "i32"))
        assert [part[0] for part in made(np.array([3, -1, 4], np.int32))] == [-1, 4, 5]
        copied = sf.operator(type("ends", (), dict(__annotations__=dict(x=sf.i32), state=state, lift=lift, combine=lambda a, b: a)))
        assert "combine(a, b) {\n    ends_0 = a.ends_0;\n    ends_1 = a.ends_1;" in copied.text


@pytest.mark.parametrize("length", [1, 2, 256])
def test_lengths(length):
    kind = sf.i32[length]
    assert str(kind) == f"i32[{length}]" and repr(kind) == f"segfold.i32[{length}]"
    state = type("state", (), dict(__annotations__=dict(n=sf.i32[length]), n=0))
    made = sf.operator(type("many", (), dict(
        __annotations__=dict(x=sf.i32), state=state, lift=lambda x: [x] * length,
        combine=lambda a, b: [p + q for p, q in zip(a.n, b.n)], finish=lambda s: s.n[length - 1])))  # fmt: skip
    assert made(np.array([1, 2], np.int32), backend="reference").tolist() == [3]


REFUSED = {
    "'n' has no entry 3; they run from 0 to 2": lambda a, b: [a.n[3], 0, 0],
    "'n' has no entry -4; they run from 0 to 2": lambda a, b: [a.n[-4], 0, 0],
    "the index of 'n' is 'one'; an index is an integer": lambda a, b: [a.n["one"], 0, 0],
    "the index of 'n' is a value of f32; an index is an integer: sf.i32(i)": lambda a, b: [a.n[sf.f32(b.n[0])], 0, 0],
    "combine of operator wrong sets 'n' to 2 values; it is an array of 3": lambda a, b: dict(n=[1, 2]),
    "combine of operator wrong sets 'n' to 4 values; it is an array of 3": lambda a, b: [1, 2, 3, 4],
    "combine of operator wrong sets 'n' to one value; it is an array: give a list of 3": lambda a, b: a.n[0],
    "combine of operator wrong sets 'n_1': a str stands where a value or a number belongs": lambda a, b: [1, "2", 3],
    "state field 'n_2' is i32, but its value is bool; convert it, as in sf.i32(x)": lambda a, b: [1, 2, a.n[0] > 1],
    "unknown state field 'm'; the fields are n": lambda a, b: a.m,
    "an array stands where a value or a number belongs": lambda a, b: [a.n, 2, 3],
    "'+' takes values, and array 'n' of 3 is given; write it of entries, as in [p + q for p, q in zip(a.n, b.n)]": lambda a, b: a.n + b.n,
    "'*' takes values, and array 'n' of 3 is given; write it of entries": lambda a, b: 2 * a.n,
    "'numpy.sum' takes values, and array 'n' of 3 is given; read an entry of it, as in a.n[0]": lambda a, b: np.sum(a.n),
    "an array is neither true nor false, so that 'if' cannot ask it": lambda a, b: 1 if a.n else 2,
    "segfold.i32[2] converts no values; convert each entry, as in segfold.i32(x)": lambda a, b: sf.i32[2](a.n),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_wrong_is_refused_with_its_line(message):
    class wrong:
        x: sf.i32

        class state:
            n: sf.i32[3] = 0

        def lift(x):
            return [x, x, x]

        combine = REFUSED[message]

    with pytest.raises(sf.SpecError, match=re.escape(message)) as caught:
        sf.operator(wrong)
    assert line_of(caught) == wrong.combine.__code__.co_firstlineno


def test_wrong_declarations():
    for length in 0, -1, 257, 1.5, "3", True:
        with pytest.raises(sf.SpecError, match=re.escape(f"segfold.i32 is asked for {length!r} entries; an array has 1 to 256, as in segfold.i32[8]")):
            sf.i32[length]
    with pytest.raises(TypeError, match="not iterable"):
        list(sf.i32)

    class column:
        x: sf.i32[3]

    with pytest.raises(sf.SpecError, match=re.escape("column 'x' is segfold.i32[3], and arrays are fields of a state; write x: sf.row(sf.i32) for rows")):
        sf.operator(column)

    class state:
        n: sf.i32[3] = (0, 1)

    class identities:
        x: sf.i32

        def lift(x):
            return [x, x, x]

        def combine(a, b):
            return a

    identities.state = state
    with pytest.raises(sf.SpecError, match="the array 'n' of operator identities has 3 entries, and 2 identities; give one for each, or one number for all"):
        sf.operator(identities)
    state.n, identities.results, identities.map = 0, dict(y=sf.each(sf.i32[2])), lambda x: x
    with pytest.raises(sf.SpecError, match="result 'y' has no type of segfold"):
        sf.operator(identities)
