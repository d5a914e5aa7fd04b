"""Annotations for operators written in Python, except plain columns. Also names of types."""

import sys

from . import _segfold
from ._refusal import refuse

_DTYPES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}  # fmt: skip
_NEAR = {"float": "f32 or f64", "double": "f64", "half": "f16", "int": "i32 or i64", "long": "i64", "bool_": "bool"}


def is_of_numpy(given):
    """Returns whether ``given`` is a NumPy dtype or scalar type."""
    numpy = sys.modules.get("numpy")
    return bool(numpy) and (isinstance(given, numpy.dtype) or (isinstance(given, type) and issubclass(given, numpy.generic)))


def type_word(given):
    """Returns the name of a type, such as "f32". ``given`` is a type of segfold, a dtype of NumPy or torch, or a name."""
    word = given if isinstance(given, str) else "bool" if given is bool else str(given)
    if is_of_numpy(given):
        word = sys.modules["numpy"].dtype(given).name
    name = word.removeprefix("torch.")
    if name in _DTYPES:
        return _DTYPES[name]
    if name in _DTYPES.values():
        return name
    shown = getattr(given, "__name__", word)
    near = f"did you mean {_NEAR[shown]}? " if shown in _NEAR else ""
    raise _segfold.InputError(
        f"no type is called '{shown}'; {near}the types are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, and NumPy's names of "
        "them, such as float32"
    )


def refuse_kind(what, kind, example, at):
    """Refuses an annotation that is not a type of segfold. The message suggests the type that was probably meant."""
    shown = repr(kind)
    if isinstance(kind, type):
        shown = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    try:
        words = [type_word(kind)]
    except _segfold.InputError:
        words = _NEAR[shown].split(" or ") if shown in _NEAR else []
    meant = " or ".join("sf.bool_" if word == "bool" else f"sf.{word}" for word in words)
    refuse(f"{what} has no type of segfold, and {shown} is none", f"write {meant}" if meant else example, at)


class array:
    """The annotation of an array of state fields or of results: ``sf.i32[24]`` is an array of 24 numbers."""

    __slots__ = ("type", "length")

    _MOST = 256

    def __init__(self, type, length):
        self.type = type
        self.length = length.__index__() if hasattr(length, "__index__") and not isinstance(length, bool) else 0
        if not 0 < self.length <= self._MOST:
            refuse(f"{type!r} is asked for {length!r} entries", f"an array has 1 to {self._MOST}, as in {type!r}[8]")

    def __repr__(self):
        return f"{self.type!r}[{self.length}]"

    def __str__(self):
        return f"{self.type}[{self.length}]"

    def __call__(self, *values):
        """Always refuses. NamedTuple of Python 3.10 requires annotations that can be called."""
        refuse(f"{self!r} converts no values", f"convert each entry, as in {self.type!r}(x)")

    def entries(self, name):
        """Returns the names of the fields of an array called ``name``."""
        return [f"{name}_{k}" for k in range(self.length)]


class table:
    """The annotation of a side table: ``weights: sf.table(sf.f32)`` may be read at any index, as in ``weights[i]``.

    ``sf.table(sf.row(sf.f32))`` is a table of rows of features.
    """

    def __init__(self, type):
        self.type = type.type if isinstance(type, row) else type
        self.is_row = isinstance(type, row)


class row:
    """The annotation of a column of rows.

    ``x: sf.row(sf.f32)`` is an array ``[n, K]``, and the operator folds each of the K features separately.
    """

    def __init__(self, type):
        self.type = type


class each:
    """The annotation, in ``results``, of an output with a value for every element: ``sf.each(sf.f32)``.

    ``map`` or ``scan`` computes it.
    """

    def __init__(self, type):
        self.type = type


class scalar:
    """The annotation of a scalar. ``threshold: sf.scalar(sf.f32)`` is one number for all elements, given in each call."""

    def __init__(self, type):
        self.type = type
