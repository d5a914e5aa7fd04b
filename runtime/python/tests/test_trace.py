"""Operators traced from Python: equal trees, and what is said of wrong ones."""

import math
import re

import numpy as np
import pytest
from standard_in_python import all_of

import segfold as sf

TYPES = [sf.i8, sf.i32, sf.i64, sf.u32, sf.u64, sf.f16, sf.bf16, sf.f32, sf.f64]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_operators_in_python_have_the_trees_of_their_texts(type):
    traced = all_of(type)
    assert len(traced) > 10
    for name, op in traced.items():
        text = getattr(sf.standard, name).typed(str(type))
        assert op == text, f"{op.text}\n{text.text}"


def test_other_trees_are_different():
    assert all_of(sf.f32)["sum"] != sf.standard.sum.typed("f64")
    assert all_of(sf.f32)["sum"] != sf.standard.product.typed("f32")


def test_text_of_a_traced_operator():
    @sf.operator
    class spmv:
        """A row of a sparse matrix times a vector."""

        value: sf.f32
        column: sf.i32
        x: sf.table(sf.f32)

        class state:
            sum: sf.f32 = 0

        def lift(value, column, x):
            found = x[column]
            return value * found

        def combine(a, b):
            return a + b

        laws = "commutative"

    assert spmv.text == (
        "# A row of a sparse matrix times a vector.\n"
        "operator spmv(value: f32, column: i32, x: table f32) -> f32 {\n"
        "  state sum: f32 = 0\n"
        "  lift {\n"
        "    let found = x[column];\n"
        "    sum = value * found;\n"
        "  }\n"
        "  combine(a, b) a + b\n"
        "  laws commutative\n"
        "}\n"
    )
    ones = np.ones(4, np.float32)
    np.testing.assert_array_equal(
        spmv(ones, np.array([0, 1, 1, 0], np.int32), np.array([2, 3], np.float32), uniform=2, backend="reference"), [5, 5]
    )


def test_every_operation():
    @sf.operator
    class mixed:
        x: sf.f32
        n: sf.i32

        class state:
            real: sf.f32 = 0
            whole: sf.i32 = 0

        def lift(x, n):
            real = sf.sqrt(abs(-x)) + sf.fma(x, 2, 1) - sf.copysign(x, -1) * sf.power(x, 2) / (x**3 + 0.5)
            whole = (n << 2 >> 1) % 7 & 6 | 1 ^ ~n + sf.popcount(n) - sf.clz(n) * sf.absolute(n)
            near = sf.where(sf.logical_or(sf.logical_not(x >= 1), ~(x < 2)) & (n != 3), sf.floor(x), sf.round(sf.exp(x)))
            return dict(real=real + near, whole=whole + sf.i32(sf.position()))

        def combine(a, b):
            return dict(real=a.real + b.real, whole=a.whole + b.whole)

    assert mixed == sf.operator(
        "operator mixed(x: f32, n: i32) -> (real: f32, whole: i32) { state { real: f32 = 0; whole: i32 = 0 } lift { "
        "let real_ = sqrt(abs(-x)) + fma(x, 2, 1) - copysign(x, -1) * pow(x, 2) / (pow(x, 3) + 0.5); "
        "let whole_ = (n << 2 >> 1) % 7 & 6 | 1 ^ ~n + popcount(n) - clz(n) * abs(n); "
        "let near = (!(x >= 1) || !(x < 2)) & n != 3 ? floor(x) : round(exp(x)); "
        "real = real_ + near; whole = whole_ + i32(position) } "
        "combine(a, b) { real = a.real + b.real; whole = a.whole + b.whole } }"
    ), mixed.text


def test_functions():
    @sf.operator(identity=sf.lowest(sf.i32), idempotent=True, commutative=True)
    def greatest(a: sf.i32, b: sf.i32):
        return sf.maximum(a, b)

    np.testing.assert_array_equal(greatest(np.array([3, 9, 4], np.int32), backend="reference"), [9])

    def squared(weight: sf.f32, y: sf.f32):
        return weight * y * y

    @sf.operator(identity=0, lift=squared, finish=lambda total: sf.sqrt(total), empty=sf.nan)
    def norm(a: sf.f32, b: sf.f32):
        return a + b

    assert norm.signature == "norm(weight: f32, y: f32) -> f32"
    found = norm(np.ones(3, np.float32), np.array([2, 2, 1], np.float32), offsets=np.array([0, 3, 3]), backend="reference")
    np.testing.assert_array_equal(found, [3, np.nan])


def test_rows_and_write_back_are_the_texts():
    @sf.operator
    class told:
        x: sf.row(sf.u32)
        column: sf.i32
        vectors: sf.table(sf.row(sf.u32))
        add: sf.scalar(sf.u32)

        class state:
            a: sf.u32 = 1
            b: sf.u32 = 0

        def lift(x, column, vectors, add):
            read = vectors[column]
            return dict(a=x * 2 + add, b=x + read)

        def combine(p, q):
            return dict(a=p.a * q.a, b=p.b * q.a + q.b)

        def empty():
            return dict(a=sf.u32(5), b=sf.u32(6))

        def map(x, b, column, a):
            both = sf.u64(a) * 31 + sf.u64(b)
            return dict(told=both + sf.u64(x) + sf.u64(sf.position()) + sf.u64(sf.length()), of=column + sf.i32(a))

        results = dict(a=sf.u32, b=sf.u32, told=sf.each(sf.u64), of=sf.each(sf.i32))

    text = sf.operator("""
    operator told(x: row u32, column: i32, vectors: table row u32, add: scalar u32)
        -> (a: u32, b: u32, each told: u64, each of: i32) {
      state { a: u32 = 1; b: u32 = 0 }
      lift { let read = vectors[column]; a = x * 2 + add; b = x + read }
      combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
      empty { a = u32(5); b = u32(6) }
      map { let both = u64(a) * 31 + u64(b); told = both + u64(x) + u64(position) + u64(length); of = column + i32(a) }
    }""")
    assert told == text, told.text
    assert told.rows == ("x", "vectors") and told.outputs == ("told", "of")
    assert told != sf.operator(text.text.replace("row ", ""))
    x, vectors = np.arange(12, dtype=np.uint32).reshape(6, 2), np.ones((3, 2), np.uint32)
    column = np.array([0, 2, 1, 1, 0, 0], np.int32)
    for found, wanted in zip(told(x, column, vectors, 3, uniform=3), text(x, column, vectors, 3, uniform=3, backend="reference")):
        np.testing.assert_array_equal(found, wanted)


def test_outputs_may_be_told_by_what_map_returns():
    """Without results the fields of the state are known to map alone; results that are declared are kept."""

    class parts:
        x: sf.row(sf.f32)

        class state:
            sum: sf.f32 = 0

        def lift(x):
            return x

        def combine(a, b):
            return a + b

    def of(**more):
        body = {name: value for name, value in vars(parts).items() if not name.startswith("__") or name == "__annotations__"}
        return sf.operator(type("part", (), {**body, **more}))

    alone = of(map=lambda x, sum: x / sum)
    assert alone == sf.operator(
        "operator part(x: row f32) -> each f32 { state sum: f32 = 0 lift x combine(a, b) a + b map x / sum }"
    ), alone.text
    kept = of(map=lambda x, total: dict(share=x / total), results=dict(total=sf.f32))
    assert kept == sf.operator(
        "operator part(x: row f32) -> (total: f32, each share: f32) { state sum: f32 = 0 lift x combine(a, b) a + b map x / total }"
    ), kept.text

    @sf.operator(identity=0, commutative=True, map=lambda x, value: x - value)
    def rest(a: sf.i32, b: sf.i32):
        return a + b

    assert rest == sf.operator("operator rest(x: i32) -> each i32 { state value: i32 = 0 lift x combine(a, b) a + b map x - value "
                               "laws commutative }"), rest.text
    np.testing.assert_array_equal(rest(np.array([1, 2, 4, 5], np.int32), uniform=2), [-2, -1, -5, -4])


def test_wrong_maps():
    def wrong(map, **more):
        @sf.operator
        class wrong:
            x: sf.row(sf.f32)
            t: sf.table(sf.row(sf.f32))

            class state:
                sum: sf.f32 = 0

            def lift(x, t):
                return x + t[0]

            def combine(a, b):
                return a + b

            locals().update(map=map, **more)

    for map, more, message in (
        (lambda x, y: x, {}, "map of operator wrong takes 'y', which is no column and no result; the columns and results are x, t, sum"),
        (lambda x, t: x + t, {}, "a table stands where a value or a number belongs"),
        (lambda x, t, sum: x + t[sf.i32(sum)], {}, "the index of table 't' depends on a row"),
        (lambda x: None, {}, "map of operator wrong returns nothing; end it with return, and a value or dict(field=value, ...) behind it"),
        (lambda: 1, {}, "map of operator wrong gives result 'result' no type; convert it, as in sf.f32(0)"),
        (lambda x: x, {"results": dict(a=sf.each(sf.f32), b=sf.each(sf.f32))},
         "map of operator wrong returns one value for a, b; return dict(a=..., b=...)"),
        (lambda x: x, {"results": dict(x=sf.f32)}, "map cannot tell the result 'x' from the parameter of that name; give the result another name"),
        (lambda x: x, {"results": dict(a=float)}, "result 'a' has no type of segfold, and float is none; write sf.f32 or sf.f64"),
        (None, {"results": sf.each(sf.f32)}, "operator wrong has no map and no scan; map gives each element its output, e.g. map x - mean; scan gives it a running one"),
    ):  # fmt: skip
        with pytest.raises(sf.SpecError, match=re.escape(message)):
            wrong(map, **more)
    with pytest.raises(sf.SpecError, match="the result 'count' does not depend on a row"):
        @sf.operator
        class counted:
            x: sf.row(sf.f32)

            class state:
                sum: sf.f32 = 0
                n: sf.i32 = 0

            def lift(x):
                return dict(sum=x, n=1)

            def combine(a, b):
                return dict(sum=a.sum + b.sum, n=a.n + b.n)

            def finish(s):
                return dict(sum=s.sum, count=s.n)


def test_numbers_of_numpy_are_numbers():
    def lift(x: sf.f32):
        return np.float32(2) * x + x / np.float64(4) - np.int64(3)

    def numbered(a: sf.f32, b: sf.f32):
        return a + b

    assert "lift 2.0 * x + x / 4.0 - 3" in sf.operator(numbered, identity=0, lift=lift).text


def line_of(error):
    return int(re.search(r"test_trace\.py:(\d+): ", str(error.value)).group(1))


WRONG = {
    "a traced value is neither true nor false yet": lambda a, b: a if a > b else b,
    "'max' and 'min' cannot ask it; write": lambda a, b: max(a, b),
    "a traced value is no number yet, so 'float' and the functions of math cannot take it; write sf.exp(x), sf.sqrt(x) and so on; "
    "sf.f32(x) converts": lambda a, b: math.exp(a) + b,
    "a traced value is no number yet, so 'int' cannot take it; sf.i32(x) converts, and sf.floor(x) rounds": lambda a, b: int(a),
    "a traced value is no number yet, so 'round' cannot take it; write sf.round(x)": lambda a, b: round(a),
    "a traced value is no number yet, so math.floor cannot take it; write sf.floor(x)": lambda a, b: math.floor(a),
    "a traced value is no number yet, so math.ceil cannot take it; write sf.ceil(x)": lambda a, b: math.ceil(a),
    "a traced value is no number yet, so numpy.exp cannot take it; write sf.exp(x)": lambda a, b: np.exp(a) + b,
    "a traced value is no number yet, so numpy.maximum cannot take it; write sf.maximum(x, y)": lambda a, b: np.maximum(a, 0),
    "a traced value is no number yet, so numpy.fmin cannot take it; write sf.minimum(x, y)": lambda a, b: np.fmin(b, a),
    "a traced value is no number yet, so numpy.add cannot take it": lambda a, b: np.add(a, b, where=True),
    "a traced value is no number yet, so numpy.arctan cannot take it; write it with the operators of Python and functions such as "
    "sf.exp and sf.maximum": lambda a, b: np.arctan(a),
    "a ndarray stands where a value or a number belongs": lambda a, b: np.ones(2) * a,
    "'+' takes two values of one type, and a value of i32 and a value of f32 are given; convert one of them, as in "
    "sf.i32(x)": lambda a, b: a + sf.f32(b),
    "sqrt takes a floating-point value, and a value of i32 is given; convert it, as in sf.f32(x)": lambda a, b: sf.sqrt(a),
    "a str stands where a value or a number belongs": lambda a, b: a + "b",
    "'//' rounds down, and the language divides integers toward zero; write a / b": lambda a, b: a // b,
    "combine of operator wrong returns nothing; end it with return, and a value or dict(field=value, ...) behind it": lambda a, b: None,
    "where() takes a bool first, and a value of i32 is given": lambda a, b: sf.where(a, a, b),
    "'&&' takes bools, and a value of i32 is given": lambda a, b: sf.logical_and(a, b),
    "a traced value has no elements to go through": lambda a, b: sum(a),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_functions_are_told_by_their_line(message):
    function = WRONG[message]
    function.__name__ = "wrong"
    function.__annotations__ = {"a": sf.i32, "b": sf.i32}
    with pytest.raises(sf.SpecError, match=re.escape(message)) as caught:
        sf.operator(function, identity=0)
    assert line_of(caught) in (function.__code__.co_firstlineno, function.__code__.co_firstlineno + 1)


def test_wrong_classes():
    with pytest.raises(sf.SpecError, match="operator wrong has no combine"):
        @sf.operator
        class wrong:  # noqa: F811
            x: sf.f32

            class state:
                sum: sf.f32 = 0

            def lift(x):
                return x

    with pytest.raises(sf.SpecError, match="unknown state field 'men'; the fields are mean, n"):
        @sf.operator
        class wrong:  # noqa: F811
            x: sf.f32

            class state:
                mean: sf.f32 = 0
                n: sf.i32 = 0

            def lift(x):
                return dict(mean=x, n=1)

            def combine(a, b):
                return dict(mean=a.men + b.mean, n=a.n + b.n)

    with pytest.raises(sf.SpecError, match="lift of operator wrong takes 'y', which is no column; the columns are x"):
        @sf.operator
        class wrong:  # noqa: F811
            x: sf.f32

            class state:
                sum: sf.f32 = 0

            def lift(y):
                return y

            def combine(a, b):
                return a + b

    with pytest.raises(sf.SpecError, match=r"test_trace\.py:\d+: .*'sum'"):
        @sf.operator
        class wrong:  # noqa: F811
            x: sf.f32

            class state:
                sum: sf.f32 = 0
                n: sf.i32 = 0

            def lift(x):
                return dict(n=1)

            def combine(a, b):
                return dict(sum=a.sum + b.sum, n=a.n + b.n)


def test_profilers_go_on_after_tracing():
    import sys

    def profiler(frame, event, argument):
        pass

    sys.setprofile(profiler)
    try:
        @sf.operator(identity=0)
        def total(a: sf.f32, b: sf.f32):
            return a + b

        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


def class_with(**more):
    class state:
        n: sf.f32 = 0

    body = {"__annotations__": {"x": sf.f32}, "state": state, "lift": lambda x: x, "combine": lambda a, b: a + b, **more}
    return type("total", (), body)


@pytest.mark.parametrize(
    "more, message",
    [
        ({"finnish": lambda s: s.n}, "nothing in operator total is called 'finnish'; did you mean 'finish'? Names of your own"),
        ({"law": "commutative"}, "nothing in operator total is called 'law'; did you mean 'laws'? Names of your own"),
        ({"half": 0.5}, "nothing in operator total is called 'half'; the parts are state, lift, combine, append, finish, empty, map,"),
    ],
)
def test_a_misspelt_part_is_refused(more, message):
    with pytest.raises(sf.SpecError, match=re.escape(message)):
        sf.operator(class_with(**more))
    assert sf.operator(class_with(_half=0.5, __doc__="Halves.")).name == "total"


class Sum:
    """A sum of which others are made."""

    x: sf.f32

    class state:
        total: sf.f64 = 0

    @staticmethod
    def lift(x):
        return sf.f64(x)

    def combine(a, b):
        return a + b


class Mean(Sum):
    class state(Sum.state):
        count: sf.i64 = 0

    def lift(x, w):
        return dict(total=sf.f64(x * w), count=1)

    def combine(a, b):
        return dict(total=a.total + b.total, count=a.count + b.count)

    def finish(s):
        return s.total / sf.f64(s.count)

    w: sf.f32


def test_parts_are_inherited():
    class Half(Sum):
        def finish(s):
            return s / sf.f64(2)

    half = sf.operator(Half)
    assert half(np.float32([1, 2, 3]), backend="reference")[0] == 3
    mean = sf.operator(Mean)
    assert str(mean).startswith("operator Mean(x: f32, w: f32)"), str(mean)
    assert mean(dict(x=np.float32([1, 2, 3]), w=np.float32([2, 2, 2])), backend="reference")[0] == 4

    class Both(Mean):
        class results:
            mean: sf.f64

        def finish(s):
            return dict(mean=s.total / sf.f64(s.count))

    class Three(Both):
        class results(Both.results):
            total: sf.f64

        def finish(s):
            return dict(mean=s.total / sf.f64(s.count), total=s.total)

    three = sf.operator(Three)(dict(x=np.float32([1, 2, 3]), w=np.float32([2, 2, 2])), backend="reference")
    assert (three.mean[0], three.total[0]) == (4, 12)
    Sum.hlaf = 1
    try:
        with pytest.raises(sf.SpecError, match="nothing in operator Half is called 'hlaf'"):
            sf.operator(Half)
    finally:
        del Sum.hlaf


def total(a: sf.f32, b: sf.f32):
    return a + b


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: sf.operator(max, identity=0), "<built-in function max> is no function of Python code, and cannot be traced; write"),
        (lambda: sf.operator(np.add), "<ufunc 'add'> is no function of Python code, and cannot be traced; write"),
        (lambda: sf.operator(total, lift=max), "lift of operator total is <built-in function max>, which cannot be traced; write"),
        (lambda: sf.operator(class_with(combine=3)), "combine of operator total is 3, which cannot be traced; write"),
        (lambda: sf.operator(class_with(combine=np.hypot)), "test_trace.py:"),
        (lambda: sf.lowest("f32"), "lowest takes a type of segfold, and 'f32' is given; write sf.lowest(sf.f32)"),
        (lambda: sf.epsilon(np.float32), "epsilon takes a type of segfold, and <class 'numpy.float32'> is given; write"),
        (lambda: sf.operator(class_with(laws=3)), "laws of operator total are 3; laws are names, as in laws = "),
        (lambda: sf.operator(class_with(results=3)), "results are 3; write results = dict("),
        (lambda: sf.operator(total, identity="zero"), "the identity of field 'value' of operator total is 'zero'; it is a number"),
    ],
)
def test_what_is_no_part_is_said_in_words(make, message):
    with pytest.raises(sf.SpecError, match=re.escape(message)):
        make()


def test_a_type_is_no_operator():
    with pytest.raises(TypeError, match="a text, a path, a class or a function, and segfold.i32 is given"):
        sf.operator(sf.i32, identity=0)
