"""Annotations that are texts, as all are with the import below."""

from __future__ import annotations

import re

import numpy as np
import pytest

import segfold as sf


def summing(number):
    @sf.operator
    class summed:
        x: number

        class state:
            sum: number = 0

        def lift(x):
            return x

        def combine(a, b):
            return a.sum + b.sum

    @sf.operator(identity=0)
    def total(a: number, b: number):
        return a + b

    return summed, total


def written_with(f32, i32, boolean):
    """An operator with each place where a type may stand."""

    @sf.operator
    class written:
        x: f32
        w: sf.table(f32)
        r: sf.scalar(i32)

        class state:
            sum: f32 = 0
            positive: boolean = True

        results = dict(sum=f32, positive=boolean, rest=sf.each(f32))

        def lift(x, w, r):
            return dict(sum=x * w[r], positive=x > 0)

        def combine(a, b):
            return dict(sum=a.sum + b.sum, positive=a.positive & b.positive)

        def finish(s):
            return dict(sum=s.sum, positive=s.positive)

        def map(x, sum):
            return x - sum

    return written


def test_types_of_numpy_are_those_that_they_name():
    own = written_with(sf.f32, sf.i32, sf.bool_)
    assert own.results == (("sum", "f32"), ("positive", "bool"), ("rest", "f32"))
    for op in (written_with(np.float32, np.int32, np.bool_), written_with(*map(np.dtype, ("f4", "i4", "?")))):
        assert op.text == own.text
    for number in (np.int16, np.dtype("i2")):
        for op in summing(number):
            assert op.results == (("result", "i16"),)
        assert over_rows(number).text == over_rows(sf.i16).text


def over_rows(number):
    @sf.operator
    class over:
        x: sf.row(number)

        class state:
            sum: number = 0

        results = number

        def lift(x):
            return x

        def combine(a, b):
            return a.sum + b.sum

        def finish(s):
            return s.sum

    return over


@pytest.mark.parametrize("number", [sf.i32, sf.f64])
def test_names_of_the_function_that_makes_an_operator_are_known(number):
    for op in summing(number):
        assert op.results == (("result", str(number)),)
        assert op(np.arange(4, dtype="i4" if number is sf.i32 else "f8")) == 6


def line_of(error):
    return int(re.search(r"test_annotations\.py:(\d+): ", str(error.value)).group(1))


def test_what_cannot_be_read_is_refused_with_its_place():
    class wrong:
        x: nothing  # noqa: F821

        class state:
            sum: sf.f32 = 0

        def lift(x):
            return x

        def combine(a, b):
            return a + b

    told = "the annotation 'nothing' of 'x' in wrong cannot be read: name 'nothing' is not defined; an annotation is a type of segfold: sf.f32"
    with pytest.raises(sf.SpecError, match=re.escape(told)) as caught:
        sf.operator(wrong)
    assert line_of(caught) == wrong.lift.__code__.co_firstlineno

    def total(a: f32, b: f32):  # noqa: F821
        return a + b

    with pytest.raises(sf.SpecError, match="the annotation 'f32' of 'a' in total cannot be read: name 'f32' is not defined") as caught:
        sf.operator(total, identity=0)
    assert line_of(caught) == total.__code__.co_firstlineno


def state_of(kind):
    class wrong:
        x: sf.f32

        class state:
            sum: kind = 0

    return wrong


@pytest.mark.parametrize(
    "kind, told",
    [
        (int, "int is none; write sf.i32 or sf.i64"),
        (float, "float is none; write sf.f32 or sf.f64"),
        (bool, "bool is none; write sf.bool_"),
        (np.complex64, "numpy.complex64 is none; write "),
    ],
)
def test_the_type_that_is_meant_is_told(kind, told):
    def total(a: kind, b: kind):
        return a + b

    with pytest.raises(sf.SpecError, match=re.escape(f"'a' of operator total has no type of segfold, and {told}")) as caught:
        sf.operator(total)
    assert line_of(caught) == total.__code__.co_firstlineno
    with pytest.raises(sf.SpecError, match=re.escape(f"state field 'sum' has no type of segfold, and {told}")):
        sf.operator(state_of(kind))


def test_values_without_a_type_and_of_two_are_refused():
    def mixed(a: sf.i32, b: sf.i64):
        return a

    with pytest.raises(sf.SpecError, match="'a' of operator mixed is of i32, and 'b' of i64; combine takes two values of one type"):
        sf.operator(mixed)
    with pytest.raises(sf.SpecError, match="'a' of operator <lambda> has no type; write def total"):
        sf.operator(lambda a, b: a + b)
    with pytest.raises(sf.SpecError, match="takes 1 value; it takes two"):
        sf.operator(lambda a: a)
    summed = type("summed", (), {"__annotations__": {"x": sf.i32}, "lift": lambda x: x, "combine": lambda a: a})
    summed.state = type("state", (), {"__annotations__": {"s": sf.i32}, "s": 0})
    with pytest.raises(sf.SpecError, match="combine of operator summed takes 1 argument; it takes two states"):
        sf.operator(summed)
