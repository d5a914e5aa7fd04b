"""States in traced operators: how fields are named, taken over and returned, and what is said of the rest."""

import dataclasses
import re
import typing

import numpy as np
import pytest

import segfold as sf

X = np.array([1, 2, 6], np.float32)
REFERENCE = {"backend": "reference"}


class Named(typing.NamedTuple):
    total: sf.f32 = 0
    count: sf.i32 = 0


@dataclasses.dataclass
class Data:
    total: sf.f32 = 0
    count: sf.i32 = 0


@dataclasses.dataclass(slots=True)
class Slots:
    total: sf.f32 = dataclasses.field(default=0)
    count: sf.i32 = 0


def two_fields(new):
    """An operator of two fields whose ``combine`` is ``new``."""

    @sf.operator
    class pair:
        x: sf.f32

        class state:
            total: sf.f32
            count: sf.i32

        def lift(x):
            return dict(total=x, count=1)

        combine = new

    return pair


@pytest.mark.parametrize("made", [Named, Data, Slots])
def test_a_state_may_be_a_named_tuple_or_a_data_class(made):
    @sf.operator
    class average:
        x: sf.f32
        state = made

        def lift(x):
            return made(x, 1)

        def combine(a, b):
            return made(a.total + b.total, a.count + b.count)

        def finish(s):
            return s.total / sf.f32(s.count)

    assert average(X, **REFERENCE)[0] == 3
    assert "state { total: f32 = 0; count: i32 = 0 }" in average.text


def test_a_dictionary_of_a_state_takes_its_fields_over():
    found = two_fields(lambda a, b: dict(a, total=a.total + b.total))(X, **REFERENCE)
    assert (found.total[0], found.count[0]) == (9, 1)


@pytest.mark.parametrize("name", ["type", "number", "place", "kind", "facts", "arguments", "keys", "item", "_type", "_number", "_described"])
def test_a_field_may_have_any_name(name):
    @sf.operator
    class of_one:
        x: sf.f32
        state = type("state", (), {"__annotations__": {name: sf.f32}, name: 0})

        def lift(x):
            return x

        def combine(a, b):
            return getattr(a, name) + getattr(b, name)

    @sf.operator
    class of_two:
        x: sf.f32
        state = type("state", (), {"__annotations__": {name: sf.f32, "other": sf.f32}})

        def lift(x):
            return {name: x, "other": x}

        def combine(a, b):
            return {name: getattr(a, name) + getattr(b, name), "other": b.other}

    assert of_one(X, **REFERENCE)[0] == 9
    assert of_two(X, **REFERENCE)[0][0] == 9


def assigning(a, b):
    a.total += b.total
    return a


@pytest.mark.parametrize("combine, message", [
    (assigning, "the field 'total' of a state is assigned, and a traced state does not change; return dict(total=..., count=...)"),
    (lambda a, b: dict(total=sf.where(a == b, a.total, b.total), count=1),
     "'==' takes values, and a state of 2 fields is given; write it of fields, as in a.total == b.total"),
    (lambda a, b: a + b, "'+' takes values, and a state of 2 fields is given"),
    (lambda a, b: a if a else b, "a traced state is neither true nor false yet, so that 'if' cannot ask it"),
    (lambda a, b: dict(total=sf.where(a.count > b.count, a, b), count=1), "a state stands where a value or a number belongs"),
    (lambda a, b: (a.total, a.count), "combine of operator pair returns a tuple of 2 for total, count; return dict(total=..., count=...)"),
    (lambda a, b: dict(a, total="1"), "combine of operator pair sets 'total': a str stands where a value or a number belongs"),
    (lambda a, b: dict(a, totl=1), "unknown state field 'totl'; combine sets total, count; did you mean 'total'?"),
    (lambda a, b: dict(a, x=1), "unknown state field 'x'; combine sets total, count"),
    (lambda a, b: dict(total={1: a.total}.get(b.count, a.total), count=1),
     "a traced value is no number yet, so that no dict or set can look it up; write sf.where(x == 1, yes, no)"),
    (lambda a, b: dict(total=(a.count > 0) * b.total, count=1),
     "'*' takes two values of one type, and a value of bool and a value of f32 are given; convert the bool, as in sf.f32(x)"),
    (lambda a, b: dict(total=a.total // b.total, count=1), "'//' is no operator of the language; write sf.floor(a / b)"),
    (lambda a, b: dict(total=a.total, count=~a.total),
     "'~' takes an integer or a bool, and a value of f32 is given; convert it, as in sf.i32(x)"),
])  # fmt: skip
def test_what_a_state_is_not_is_said_with_the_line(combine, message):
    with pytest.raises(sf.SpecError, match=re.escape(message)) as caught:
        two_fields(combine)
    assert re.match(r".*test_states\.py:\d+: ", str(caught.value))


def test_one_field_is_no_object_either():
    def assigned(a: sf.f32, b: sf.f32):
        a.value = b
        return a

    with pytest.raises(sf.SpecError, match="the field 'value' of a state is assigned, .* return a value, as in a.value"):
        sf.operator(assigned)
    with pytest.raises(sf.SpecError, match=r"test_states\.py:\d+: unknown state field 'vlaue'; the field is value"):
        sf.operator(type("wrong", (), {"__annotations__": {"x": sf.f32}, "lift": lambda x: x, "combine": lambda a, b: a.vlaue,
                                       "state": type("state", (), {"__annotations__": {"value": sf.f32}})}))  # fmt: skip


def test_a_message_of_a_part_that_is_a_value_has_a_place():
    class wrong:
        x: sf.f32

        class state:
            total: sf.f32
            count: sf.i32

        def lift(x):
            return dict(total=x, count=1)

        def combine(a, b):
            return dict(a, count=a.count + b.count)

        empty = dict(total=0)

    with pytest.raises(sf.SpecError, match=r"test_states\.py:\d+: empty does not set 'count'"):
        sf.operator(wrong)


@pytest.mark.drawn
def test_a_long_loop_gets_names():
    def halved(times):
        def lift(x):
            t = x
            for _ in range(times):
                t = t * sf.f32(0.5) + x
            return t

        return _sum_of(lift)

    for times in (100, 1000, 3000):
        assert halved(times)(X[:1], **REFERENCE)[0] == 2
    with pytest.raises(sf.SpecError, match="the operator has more than 20000 numbers, names and operations"):
        halved(9000)


def _sum_of(lifted):
    @sf.operator
    class summed:
        x: sf.f32

        class state:
            total: sf.f32 = 0

        lift = lifted

        def combine(a, b):
            return a.total + b.total

    return summed


def test_names_of_a_loop_read_nothing_that_a_condition_leaves_out():
    def halved(s):
        for _ in range(120):
            s = s * sf.f32(0.5) + sf.f32(1)
        return s

    @sf.operator
    class guarded:
        i: sf.i32
        t: sf.table(sf.f32)

        class state:
            total: sf.f32 = 0

        def lift(i, t):
            return sf.where(i < 3, halved(t[i]), sf.f32(0))

        def combine(a, b):
            return a + b

    assert guarded(np.array([0, 1, 50], np.int32), t=X, **REFERENCE)[0] == 4


def test_states_are_inherited():
    class Other(Data):
        third: sf.f32 = 5

    with pytest.raises(sf.SpecError, match="lift does not set 'third'"):
        sf.operator(type("wrong", (), {"__annotations__": {"x": sf.f32}, "state": Other, "lift": lambda x: dict(total=x, count=1),
                                       "combine": lambda a, b: a}))  # fmt: skip
    base = _sum_of(lambda x: x)

    @sf.operator
    class counted(base):
        class state(base.state):
            count: sf.i32 = 0

        def lift(x):
            return dict(total=x, count=1)

        def combine(a, b):
            return dict(total=a.total + b.total, count=a.count + b.count)

    assert counted(X, **REFERENCE).count[0] == 3


def test_an_operator_is_the_base_of_another():
    base = _sum_of(lambda x: x)

    @sf.operator
    class mean_of(base):
        def finish(s):
            return s.total / sf.f32(sf.length())

    assert mean_of(X, **REFERENCE)[0] == 3
    assert base(X, **REFERENCE)[0] == 9


def test_an_argument_with_a_default_that_is_no_column_keeps_it():
    """As loops that make operators give each what it closes over."""
    def scaled(factor):
        @sf.operator
        class scaled:
            x: sf.i32
            class state:
                sum: sf.i32 = 0
            def lift(x, factor=factor):
                return x * factor
            def combine(a, b, shown=[]):
                shown.append(repr(a))
                assert shown[0] == "<a value of i32, traced>"
                return a + b
        return scaled

    x = np.arange(4, dtype=np.int32)
    assert [scaled(factor)(x, backend="reference").tolist() for factor in (1, 2)] == [[6], [12]]

    @sf.operator(identity=0, lift=lambda x, factor=3: x * factor)
    def tripled(a: sf.i32, b: sf.i32):
        return a + b

    assert tripled.parameters == (("x", "i32", False),) and tripled(x, backend="reference").tolist() == [18]

    @sf.operator
    class weighted:
        x: sf.i32
        w: sf.i32
        class state:
            sum: sf.i32 = 0
        def lift(x, w=1):
            return x * w
        def combine(a, b):
            return a + b

    assert weighted(x, w=x, backend="reference").tolist() == [14]


def inserting(n):
    """The greatest n values, inserted one after the other, as a person writes it."""

    @sf.operator
    class greatest:
        x: sf.f32

        class state:
            v: sf.f32[n] = -sf.inf

        def lift(x):
            return [x] + [sf.f32(-sf.inf)] * (n - 1)

        def combine(a, b):
            kept = list(a.v)
            for new in b.v:
                for k in range(n):
                    is_greater = new > kept[k]
                    kept[k], new = sf.where(is_greater, new, kept[k]), sf.where(is_greater, kept[k], new)
            return kept

    return greatest


def test_values_that_are_used_twice_are_said_once():
    lengths = {n: len(inserting(n).text) for n in (2, 4, 8, 16)}
    for n in (4, 8, 16):
        assert lengths[n] < 6 * lengths[n // 2]  # as many steps as n * n; a tree would be of 2 to the n
    x = np.random.default_rng(1).permutation(60).astype(np.float32)
    found = np.stack(inserting(5)(x, uniform=20).v, axis=1)
    np.testing.assert_array_equal(found, -np.sort(-x.reshape(3, 20), axis=1)[:, :5])
    assert "step" not in inserting(2).text.partition("combine")[0]  # constants are no steps


def test_what_a_condition_guards_stays_behind_it():
    """Reads of tables, divisions of integers and shifts are computed where the condition holds, and nowhere else."""

    @sf.operator
    class guarded:
        x: sf.i32
        t: sf.table(sf.i32)

        class state:
            s: sf.i32 = 0

        def lift(x, t):
            def read(n):
                return t[x - 1] / (x - 1) + n

            return sf.where(x > 1, read(0) * (lambda twice: twice + twice)(read(1)), 0)

        def combine(a, b):
            return a + b

    assert "let" not in guarded.text
    assert guarded(np.array([1, 0, -5, 3], np.int32), t=np.array([7, 8, 9], np.int32), backend="reference").tolist() == [4 * (5 + 5)]


def test_more_than_two_at_once_and_bool():
    @sf.operator
    class middle:
        x: sf.i32
        is_counted: sf.bool

        class state:
            low: sf.i32 = sf.highest(sf.i32)
            high: sf.i32 = sf.lowest(sf.i32)

        def lift(x, is_counted):
            return dict(low=sf.where(is_counted, sf.minimum(x, 5, x * 2, 90), sf.highest(sf.i32)),
                        high=sf.where(is_counted, sf.maximum(x, 5, x * 2), sf.lowest(sf.i32)))

        def combine(a, b):
            return dict(low=sf.minimum(a.low, b.low), high=sf.maximum(a.high, b.high))

    assert sf.bool is sf.bool_ and "bool" not in sf.__all__
    found = middle(np.array([4, 7, 50], np.int32), np.array([True, True, False]))
    assert (found.low.tolist(), found.high.tolist()) == ([4], [14])
