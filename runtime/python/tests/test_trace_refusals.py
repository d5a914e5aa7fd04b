"""What is said of traced values that serve another function, and of what Python asks of them and cannot have."""

import math
import re

import numpy as np
import pytest

import segfold as sf


def line_of(error):
    return int(re.search(r"test_trace_refusals\.py:(\d+): ", str(error.value)).group(1))


def traced(function):
    function.__name__ = "wrong"
    function.__annotations__ = {"a": sf.i32, "b": sf.i32}
    return sf.operator(function, identity=0)


def leaked():
    """A state, a column and what was made of a state, of operator first."""
    kept = {}

    def lift(x: sf.i32):
        kept["column"] = x
        return x

    def first(a: sf.i32, b: sf.i32):
        kept["state"], kept["made"] = a, a * 2
        return a + b

    sf.operator(first, identity=0, lift=lift)
    return kept


RIGHT = "; a traced value serves the function that was given it, and no other; take what you need as an argument, and write it anew"


@pytest.mark.parametrize(
    "which, text",
    [
        ("state", "field 'value' of combine of operator first"),
        ("column", "'x' of lift of operator first"),
        ("made", "a value of i32 of combine of operator first"),
    ],
)
def test_a_value_of_another_operator_is_refused(which, text):
    Z = leaked()[which]

    def meets(a, b):
        return a + Z

    with pytest.raises(sf.SpecError, match=re.escape(f"field 'value' of combine of operator wrong and {text} meet in one expression{RIGHT}")) as caught:
        traced(meets)
    assert line_of(caught) == meets.__code__.co_firstlineno + 1
    with pytest.raises(sf.SpecError, match=re.escape(f"combine of operator wrong returns {text}{RIGHT}")) as caught:
        traced(lambda a, b: Z)
    assert line_of(caught) in range(meets.__code__.co_firstlineno, meets.__code__.co_firstlineno + 8)
    with pytest.raises(sf.SpecError, match=f"combine of operator wrong returns a value of i32 of {text.split(' of ')[-2]} of operator first"):
        traced(lambda a, b: sf.where(Z > 1, 1, 2) + Z)
    with pytest.raises(sf.SpecError, match=re.escape(f"the identity of field 'value' of operator total is {text}{RIGHT}")):
        sf.operator(total, identity=Z)
    with pytest.raises(sf.SpecError, match=re.escape(f"finish of operator total returns {text}{RIGHT}")):
        sf.operator(total, identity=0, finish=lambda value: Z)


def total(a: sf.i32, b: sf.i32):
    return a + b


def test_a_value_of_another_part_is_refused():
    kept = []

    def lift(x: sf.i32):
        kept.append(x)
        return x

    def combine(a: sf.i32, b: sf.i32):
        return a + b + kept[0]

    with pytest.raises(sf.SpecError, match=re.escape("a value of i32 of combine of operator combine and 'x' of lift of operator combine meet")):
        sf.operator(combine, identity=0, lift=lift)


def test_tables_and_states_of_another_operator_are_refused():
    kept = []

    def of(lift, combine):
        @sf.operator
        class weighed:
            x: sf.i32
            weights: sf.table(sf.i32)

            class state:
                low: sf.i32 = 0
                high: sf.i32 = 0

            locals().update(lift=lift, combine=combine)

        return weighed

    def keep_table(x, weights):
        kept.append(weights)
        return dict(low=x, high=x)

    def keep_state(a, b):
        kept.append(a)
        return dict(low=a.low, high=b.high)

    first = of(keep_table, keep_state)
    assert of(keep_table, keep_state) == first
    weights, state = kept[:2]
    with pytest.raises(sf.SpecError, match="an element of table 'weights' of lift of operator weighed and 'x' of lift of operator weighed meet"):
        of(lambda x: dict(low=weights[x], high=x), keep_state)
    with pytest.raises(sf.SpecError, match="combine of operator weighed returns field 'high' of combine of operator weighed"):
        of(keep_table, lambda a, b: dict(state, low=a.low))


def test_places_and_numbers_serve_every_operator():
    at, two, limit = sf.i32(sf.position()), sf.i32(2), sf.highest(sf.i32)

    @sf.operator(identity=0, lift=lambda x: x * two + at)
    def first(a: sf.i32, b: sf.i32):
        return sf.minimum(a + b, limit)

    @sf.operator(identity=0, lift=lambda x: x * two + at)
    def second(a: sf.i32, b: sf.i32):
        return sf.minimum(a + b, limit)

    found = [op(np.array([1, 2, 3], np.int32), backend="reference") for op in (first, second)]
    assert [part.tolist() for part in found] == [[15], [15]]


def test_a_number_to_the_power_of_a_value():
    @sf.operator(identity=0, lift=lambda x: 2**x)
    def powers(a: sf.f32, b: sf.f32):
        return a + b

    assert "lift pow(2, x)" in powers.text


ASKED = {
    "a traced value is no number yet, so 'range', indices of lists and all else that needs an integer now cannot take it; give them a "
    "number of Python; in a loop of so many turns, sf.where(i < n, yes, no) leaves out those above n":
        [lambda a, b: sum(range(a)), lambda a, b: [1, 2][a], lambda a, b: "%x" % a + "x"],
    "a traced value is one number, and has no elements that an index could choose; x[i] reads a table, declared as x: "
    "sf.table(sf.f32); a field of a state is read by its name, as in a.sum": [lambda a, b: a[0], lambda a, b: b["value"]],
    "a traced value is no number yet, so the format '.2f' cannot write it; the function runs once, before there are numbers; print "
    "the results of a call": [lambda a, b: f"{a:.2f}", lambda a, b: format(b, ".2f")],
    "a traced value is one number, and has no length; sf.length() is the number of elements of the segment": [lambda a, b: len(a)],
    "a traced value is no number yet, so 'divmod' cannot take it; write a / b and a % b": [lambda a, b: divmod(a, 2), lambda a, b: divmod(2, b)],
    "'@' is no operator of the language; write a * b in lift, and a + b in combine": [lambda a, b: a @ b],
    "a traced value is no number yet, so 'complex' cannot take it": [lambda a, b: complex(a)],
    "a traced value is no number yet, so math.trunc cannot take it; sf.i32(x) rounds toward zero": [lambda a, b: math.trunc(a)],
    "a traced value does not change, and has no elements that an index could choose; return a new value": [lambda a, b: a.__setitem__(0, 1)],
    "pow of three numbers is no function of the language; write sf.power(x, y), and a % b of integers": [lambda a, b: pow(a, b, 2)],
    "'**' takes a floating-point value, and a value of i32 is given; convert it, as in sf.f32(x)": [lambda a, b: 2**a],
    "a traced value is no number yet, so numpy.where cannot take it; write sf.where(condition, yes, no)":
        [lambda a, b: np.where(a > b, a, b), lambda a, b: np.where(a > 0, 1, 0)],
    "a traced value is no number yet, so numpy.clip cannot take it; write sf.minimum(sf.maximum(x, low), high)":
        [lambda a, b: np.clip(a, 0, 1)],
    "a traced value is no number yet, so numpy.sum cannot take it; combine joins the elements of a segment, two neighbours at a "
    "time: write a + b": [lambda a, b: np.sum(a)],
    "numpy.add.reduce cannot take it; combine joins": [lambda a, b: np.add.reduce(a)],
    "numpy.any cannot take it; combine joins the elements of a segment, two neighbours at a time: write sf.logical_or(a, b)":
        [lambda a, b: np.any(a)],
    "numpy.cumsum cannot take it": [lambda a, b: np.cumsum(a)],
    "numpy.percentile cannot take it; write it with the operators of Python": [lambda a, b: np.percentile(a, 2)],
    "a traced value is no number yet, so that NumPy can make no array and no number of it; sf.f32(x) converts, as numpy.float32(x) "
    "does with numbers": [lambda a, b: np.float32(a), lambda a, b: np.int64(a), lambda a, b: np.asarray(a), lambda a, b: np.array(b)],
    "unknown state field 'dtype'; the field is value; x.type is its type, as sf.f32": [lambda a, b: a.dtype],
    "unknown state field 'sqrt'; the field is value; write sf.sqrt(x)": [lambda a, b: a.sqrt()],
    "a traced value is one number, and has no 'dtype'; x.type is its type, as sf.f32": [lambda a, b: (a + b).dtype],
    "a traced value is one number, and has no 'shape'": [lambda a, b: (a + b).shape],
    "state field 'value' is i32, but its value is bool; convert it, as in sf.i32(x)": [lambda a, b: a > b],
    "'+' takes two values of one type, and a value of bool and a value of i32 are given; convert the bool": [lambda a, b: (a > b) + a],
}  # fmt: skip


@pytest.mark.parametrize("message", ASKED)
def test_what_python_asks_of_a_value_is_refused_with_its_line(message):
    for function in ASKED[message]:
        with pytest.raises(sf.SpecError, match=re.escape(message)) as caught:
            traced(function)
        assert line_of(caught) in range(function.__code__.co_firstlineno, function.__code__.co_firstlineno + 2)


def test_a_value_may_be_printed():
    def shown(a: sf.i32, b: sf.i32):
        assert f"{a}" and str(b) and repr(b)
        return a + b

    sf.operator(shown, identity=0)


def test_results_of_another_type_are_refused_in_python_s_words():
    class share:
        x: sf.i32

        class state:
            low: sf.i32 = 0

        def lift(x):
            return x

        def combine(a, b):
            return a + b

        def finish(a):
            return dict(rest=sf.f32(a.low) / 2)

        results = dict(rest=sf.f64)

    with pytest.raises(sf.SpecError, match=re.escape("result 'rest' is f64, but its value is f32; convert it, as in sf.f64(x)")) as caught:
        sf.operator(share)
    assert line_of(caught) == share.finish.__code__.co_firstlineno + 1
    share.results, share.finish = dict(rest=sf.bool_), lambda a: a.low
    with pytest.raises(sf.SpecError, match=re.escape("'rest' is bool, but its value is i32; convert it, as in sf.bool_(x)")):
        sf.operator(share)


OF_STATES = {
    "a traced state has no element 0; its fields are low, high": lambda a, w: a[0],
    "a traced state has no element 'lwo'; its fields are low, high": lambda a, w: a["lwo"],
    "'%' takes values, and a state of 2 fields is given; write it of fields, as in a.low % b.low": lambda a, w: a % 2,
    "'==' takes values, and a state of 2 fields is given; write it of fields, as in a.low == b.low": lambda a, w: a == 2,
    "'range' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: range(a),
    "'float' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: float(a),
    "'abs' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: abs(a),
    "'len' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: len(a),
    "a traced state is no number, so the format '3' cannot write it; its fields are low, high": lambda a, w: f"{a:3}",
    "'numpy.sum' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: np.sum(a),
    "'numpy.multiply' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: np.float32(2) * a,
    "'numpy' takes values, and a state of 2 fields is given; its fields are low, high": lambda a, w: np.asarray(a),
    "'*' takes values, and a table is given; read an element of it, as in w[i]": lambda a, w: w * 2,
    "'numpy.max' takes values, and a table is given; read an element of it, as in w[i]": lambda a, w: np.max(w),
    "'numpy' takes values, and a table is given; read an element of it, as in w[i]": lambda a, w: np.float32(w),
    "'==' takes values, and a table is given; read an element of it, as in w[i]": lambda a, w: w == 2,
    "'len' takes values, and a table is given; read an element of it, as in w[i]": lambda a, w: len(w),
    "a traced table has no elements to go through, because its length is not known yet; read an element of it, as in w[i]":
        lambda a, w: sum(w),
    "a traced table is neither true nor false yet, so that 'if' cannot ask it; read an element of it, as in w[i]": lambda a, w: 1 if w else 2,
}  # fmt: skip


@pytest.mark.parametrize("message", OF_STATES)
def test_what_python_asks_of_states_and_tables_is_refused_with_its_line(message):
    wrong = OF_STATES[message]

    class asked:
        x: sf.i32
        w: sf.table(sf.i32)

        class state:
            low: sf.i32 = 0
            high: sf.i32 = 0

        def lift(x):
            return dict(low=x, high=x)

        def combine(a, b):
            return a

        def append(a, x, w):
            return wrong(a, w)

    with pytest.raises(sf.SpecError, match=re.escape(message)) as caught:
        sf.operator(asked)
    assert line_of(caught) == wrong.__code__.co_firstlineno


def test_errors_of_several_parts_are_told_at_once():
    class wrong:
        x: sf.f32

        class state:
            sum: sf.f32 = 0
            n: sf.i32 = 0

        def lift(x):
            return dict(sum=x, n=1 + 0.5 * x)

        def combine(a, b):
            return dict(sum=a.sum + b.n, n=a.n + b.n)

        def finish(s):
            return dict(mean=s.total / s.n)

        def empty():
            return dict(mean=sf.f32(0))

    with pytest.raises(sf.SpecError) as caught:
        sf.operator(wrong)
    lines = str(caught.value).splitlines()
    print(caught.value)
    assert [line.partition(": ")[2].partition(";")[0] for line in lines] == [
        "state field 'n' is i32, but its value is f32",
        "'+' takes two values of one type, and a value of f32 and a value of i32 are given",
        "unknown state field 'total'",
    ]
    first = wrong.lift.__code__.co_firstlineno
    assert [int(line.split(":")[1]) for line in lines] == [first + 1, first + 4, first + 7]
