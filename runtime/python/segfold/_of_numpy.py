"""Refuses traced values in NumPy functions, with advice. A traced value is not a number, so NumPy cannot compute with it."""

import operator

from ._refusal import refuse

#: Python's operator for each NumPy function that a NumPy number calls, as in numpy.float32(2) * x.
OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "true_divide": operator.truediv, "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip

_OF_ONE = "sqrt exp exp2 expm1 log log2 log1p sin cos tanh floor ceil absolute isnan isfinite logical_not"
_OF_TWO = "minimum maximum power copysign logical_and logical_or"

#: The expression to write instead of a NumPy function.
_INSTEAD = {
    **{name: f"sf.{name}(x)" for name in _OF_ONE.split()},
    **{name: f"sf.{name}(x, y)" for name in _OF_TWO.split()},
    "abs": "sf.absolute(x)", "fabs": "sf.absolute(x)", "pow": "sf.power(x, y)", "float_power": "sf.power(x, y)",
    "fmax": "sf.maximum(x, y)", "fmin": "sf.minimum(x, y)", "clip": "sf.minimum(sf.maximum(x, low), high)",
    "where": "sf.where(condition, yes, no)", "select": "sf.where(condition, yes, no), one in another",
    "piecewise": "sf.where(condition, yes, no), one in another", "choose": "sf.where(condition, yes, no), one in another",
    "nan_to_num": "sf.where(sf.isnan(x), 0, x)", "isinf": "~sf.isfinite(x) & ~sf.isnan(x)",
    "round": "sf.round(x)", "around": "sf.round(x)", "rint": "sf.round(x)",
    "trunc": "sf.where(x < 0, sf.ceil(x), sf.floor(x))", "fix": "sf.where(x < 0, sf.ceil(x), sf.floor(x))",
    "negative": "-x", "positive": "x", "invert": "~x", "square": "x * x", "reciprocal": "1 / x",
    "hypot": "sf.sqrt(x * x + y * y)", "log10": "sf.log(x) / math.log(10)", "tan": "sf.sin(x) / sf.cos(x)",
    "astype": "sf.f32(x), which converts",
}  # fmt: skip

#: The expression to write instead of a NumPy function over all elements of an array.
_OF_ELEMENTS = {
    "sum": "a + b", "nansum": "a + b", "cumsum": "a + b", "add.reduce": "a + b", "count_nonzero": "a + b", "prod": "a * b",
    "cumprod": "a * b", "max": "sf.maximum(a, b)", "amax": "sf.maximum(a, b)", "nanmax": "sf.maximum(a, b)", "min": "sf.minimum(a, b)",
    "amin": "sf.minimum(a, b)", "nanmin": "sf.minimum(a, b)", "any": "sf.logical_or(a, b)", "all": "sf.logical_and(a, b)",
    "dot": "a + b, of x * y in lift", "vdot": "a + b, of x * y in lift", "inner": "a + b, of x * y in lift",
    "mean": "a.sum + b.sum, and divide in finish", "average": "a.sum + b.sum, and divide in finish",
}  # fmt: skip


def _advice(name):
    if name in _INSTEAD:
        return f"write {_INSTEAD[name]}"
    if name in _OF_ELEMENTS:
        return f"combine joins the elements of a segment, two neighbours at a time: write {_OF_ELEMENTS[name]}"
    return ""


def refuse_function(name):
    """Refuses a traced value as an argument of a NumPy function."""
    refuse(f"a traced value is no number yet, so numpy.{name} cannot take it",
           _advice(name) or "write it with the operators of Python and functions such as sf.exp and sf.maximum")


def refuse_array():
    """Refuses to convert a traced value to a NumPy array or number."""
    refuse("a traced value is no number yet, so that NumPy can make no array and no number of it",
           "sf.f32(x) converts, as numpy.float32(x) does with numbers")


def refuse_attribute(name, message, hint=""):
    """Refuses an attribute that traced values lack. In ``message``, ``{}`` stands for the attribute's name."""
    if name == "dtype":
        hint = "x.type is its type, as sf.f32"
    refuse(message.format(name), _advice(name) or hint)
