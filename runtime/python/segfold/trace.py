"""Types and functions for traced Python functions. Traced values record how they were computed.

A traced function runs once, with a :class:`Value` for each argument. Python operators (``+``, ``<``, ...) and the functions of
this module make further values. The returned value is the expression tree of the operator's text. Local variables of the
function become names (``let``) in the operator, so that the emitted text resembles the function.
"""

import functools

from ._expressions import (
    Type,
    Value,
    as_value,
    call,
    constant,
    literal_type,
    make,
    types,
)
from ._kinds import each, row, scalar, table
from ._refusal import refuse

bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 = types

inf = constant("inf")
nan = constant("nan")

_REAL = "sqrt rsqrt exp exp2 expm1 log log2 log1p sin cos tanh floor ceil round"
_BITS = "popcount clz"

_DOCS = {
    "sqrt": "The square root.",
    "rsqrt": "One over the square root.",
    "exp": "e to the power x.",
    "exp2": "2 to the power x.",
    "expm1": "exp(x) - 1, exact for small x.",
    "log": "The natural logarithm.",
    "log2": "The logarithm to base 2.",
    "log1p": "log(1 + x), exact for small x.",
    "sin": "The sine of x radians.",
    "cos": "The cosine of x radians.",
    "tanh": "The hyperbolic tangent.",
    "floor": "The greatest whole number that is not above x.",
    "ceil": "The least whole number that is not below x.",
    "round": "The nearest whole number; halves go away from zero.",
    "popcount": "How many bits are set, an i32.",
    "clz": "How many bits above the highest set one are clear, an i32; all of them for 0.",
}


def _function_of_one(name, integers):
    def function(x):
        x = as_value(x)
        if x._sf_type is None or (not x._sf_type.is_integer if integers else not x._sf_type.is_float):
            wanted = "an integer" if integers else "a floating-point value"
            refuse(f"{name} takes {wanted}, and {x._sf_described()} is given", "convert it, as in sf.f32(x)")
        return call(name, (x,), i32 if integers else x._sf_type)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCS[name]
    return function


for _name in _REAL.split():
    globals()[_name] = _function_of_one(_name, False)
for _name in _BITS.split():
    globals()[_name] = _function_of_one(_name, True)


def minimum(a, b, *more):
    """Returns the smallest of two or more values. A number wins against NaN, and -0 is less than 0."""
    return functools.reduce(functools.partial(_function_of_numbers, "min"), (a, b, *more))


def maximum(a, b, *more):
    """Returns the largest of two or more values. A number wins against NaN, and -0 is less than 0."""
    return functools.reduce(functools.partial(_function_of_numbers, "max"), (a, b, *more))


def absolute(x):
    """Returns the magnitude of ``x``; for the lowest integer, that integer. ``abs(x)`` is the same."""
    return abs(as_value(x))


def power(x, y):
    """Returns x to the power y. ``x ** y`` is the same."""
    return _function_of_numbers("pow", x, y, real=True)


def copysign(x, y):
    """Returns the magnitude of x with the sign of y."""
    return _function_of_numbers("copysign", x, y, real=True)


def fma(x, y, z):
    """Returns x * y + z, rounded once."""
    return _function_of_numbers("fma", x, y, z, real=True)


def isnan(x):
    """Returns true if x is NaN."""
    return _truth_of_real("isnan", x)


def isfinite(x):
    """Returns true if x is neither infinite nor NaN."""
    return _truth_of_real("isfinite", x)


def where(condition, yes, no):
    """Returns ``condition ? yes : no``. Only the chosen side is evaluated."""
    condition, yes, no = as_value(condition), as_value(yes), as_value(no)
    if condition._sf_type is not bool_:
        refuse(f"where() takes a bool first, and {condition._sf_described()} is given", "compare with something to get one")
    type = _common("where()", (yes, no))
    return make("conditional", (), (condition, yes, no), type)


def logical_and(a, b):
    """Returns ``a && b``. ``b`` is evaluated only if ``a`` is true."""
    return _logical("&&", a, b)


def logical_or(a, b):
    """Returns ``a || b``. ``b`` is evaluated only if ``a`` is false."""
    return _logical("||", a, b)


def logical_not(a):
    """Returns ``!a``. ``~a`` of a bool is the same."""
    return ~_bool("logical_not", a)


def lowest(type):
    """Returns the lowest finite value of a number type."""
    return _limit("lowest", type)


def highest(type):
    """Returns the highest finite value of a number type."""
    return _limit("highest", type)


def epsilon(type):
    """Returns the distance from 1 to the next number of a floating-point type."""
    return _limit("epsilon", type)


def index():
    """Returns the element's index in the input, an i64. For ``lift``, ``map`` and ``scan``."""
    return make("name", ("index",), (), i64)


def position():
    """Returns the element's index in its segment, an i64. For ``lift``, ``map`` and ``scan``."""
    return make("name", ("position",), (), i64)


def segment():
    """Returns the segment's number, an i64. For ``lift``, ``finish``, ``empty``, ``map`` and ``scan``."""
    return make("name", ("segment",), (), i64)


def length():
    """Returns the number of elements in the segment, an i64. For ``finish``, ``empty`` and ``map``."""
    return make("name", ("length",), (), i64)


def _limit(name, type):
    if not isinstance(type, Type):
        refuse(f"{name} takes a type of segfold, and {type!r} is given", f"write sf.{name}(sf.f32)")
    return make("limit", (name, type.name), (), type)


def _common(what, values):
    known = {value._sf_type for value in values if value._sf_type is not None}
    if len(known) > 1:
        listed = ", ".join(value._sf_described() for value in values)
        refuse(f"{what} takes values of one type, and {listed} are given", "convert one of them, as in sf.f32(x)")
    return known.pop() if known else None


def _function_of_numbers(name, *arguments, real=False):
    values = tuple(as_value(argument) for argument in arguments)
    type = _common(name, values)
    if type is None:
        type = literal_type(values)
    if type is not None and (type is bool_ or (real and not type.is_float)):
        refuse(f"{name} takes {'floating-point values' if real else 'numbers'}, and {values[0]._sf_described()} is given",
               "convert it, as in sf.f32(x)")
    return call(name, values, _common(name, values))


def _truth_of_real(name, x):
    x = as_value(x)
    if x._sf_type is None or not x._sf_type.is_float:
        refuse(f"{name} takes a floating-point value, and {x._sf_described()} is given", "integers are always finite numbers")
    return call(name, (x,), bool_)


def _bool(what, value):
    value = as_value(value)
    if value._sf_type is not bool_:
        refuse(f"{what} takes bools, and {value._sf_described()} is given", "compare with something to get one")
    return value


def _logical(symbol, a, b):
    return make("binary", (symbol,), (_bool(f"'{symbol}'", a), _bool(f"'{symbol}'", b)), bool_)


__all__ = (
    ["Type", "Value", "inf", "nan", "minimum", "maximum", "absolute", "power", "copysign", "fma", "isnan", "isfinite",
     "where", "logical_and", "logical_or", "logical_not", "lowest", "highest", "epsilon", "index", "position",
     "segment", "length", "table", "scalar", "row", "each", "bool_", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16",
     "f32", "f64"]
    + _REAL.split()
    + _BITS.split()
)  # fmt: skip
